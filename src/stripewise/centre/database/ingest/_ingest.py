# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores new inputs below some directories, once or repeatedly, and counts the results.

However it ends, each input is in the database completely or not at all: its records, its row in
the ledger and the state of its file are written in one transaction.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stripewise.centre.database._engine import database_errors, refresh_statistics
from stripewise.centre.database._schema import check
from stripewise.centre.database.ingest._inputs import Input, PassedOver, summaries, walk
from stripewise.centre.database.ingest._ledger import (
    OF_NO_KIND,
    REFUSED,
    STORED,
    LedgerEntry,
    mounts,
    outcomes,
    unseen,
    write,
)
from stripewise.centre.database.ingest._work import (
    Done,
    Later,
    Look,
    Looked,
    Read,
    Refused,
    Stored,
    Task,
    WorkerPool,
    digest_of_owner,
)
from stripewise.core.errors import StorageError, UsageError
from stripewise.run.slurm import SlurmError

UNRECOGNISED = "of an unknown kind"
_ASKED_AT_ONCE = 256
_BATCH = 64
_BATCH_SECONDS = 0.5
_READY_FOR_EACH = 4
_WAIT_SECONDS = 0.2
_MANY = 500


def ingest(
    engine: Engine,
    options: IngestOptions,
    *,
    observe: Callable[[Tally], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Tally:
    """Store what is new below the roots.

    Args:
        engine: Engine of the database.
        options: What is read, and how.
        observe: Function that is called now and then with the counts so far.
        stop: Function that is called often; once it returns True, what has been read is written
            and nothing else is begun.

    Raises:
        UsageError: A root does not exist.
        StorageError: The database refuses; what was written before is complete.
    """
    for root in options.roots:
        if not root.exists():
            raise UsageError(f"{root}: there is no such file or directory: check the path")
    check(engine)
    with closing(_Pass(engine, options, observe, stop)) as one:
        return one.run()


class _Pass:
    """One pass over the roots."""

    def __init__(
        self,
        engine: Engine,
        options: IngestOptions,
        observe: Callable[[Tally], None],
        stop: Callable[[], bool],
    ) -> None:
        self.engine, self.options, self.stop = engine, options, stop
        self.observe = observe
        self.tally = Tally()
        self.pool = WorkerPool(options.jobs, options.timeout_seconds)
        self.mounts = mounts(engine)
        self.new = self._new()
        self.is_walked = False
        self.ready: deque[Read] = deque()
        self.under_way: dict[tuple[str, int], list[Input]] = {}
        self.batch: list[LedgerEntry] = []
        self.since = time.monotonic()
        self.next_read = 0.0
        self.named = {str(root.resolve()) for root in options.roots}

    def close(self) -> None:
        """End the worker processes."""
        self.pool.close()

    def run(self) -> Tally:
        """Process all inputs."""
        began = time.monotonic()
        while not self.stop():
            self._give()
            if not self.pool.busy and not self.ready and self.is_walked:
                break
            if not self.pool.busy:
                time.sleep(min(_WAIT_SECONDS, max(0.0, self.next_read - time.monotonic())))
            self._take(self.pool.wait(_WAIT_SECONDS))
            if len(self.batch) >= _BATCH or time.monotonic() - self.since > _BATCH_SECONDS:
                self._write()
        self._write()
        self.tally.stopped = self.stop()
        if self.tally.stored.total() >= _MANY:
            with database_errors(self.engine):
                refresh_statistics(self.engine)
        self.tally.seconds = time.monotonic() - began
        return self.tally

    # ---- finding inputs -------------------------------------------------------------------

    def _new(self) -> Iterator[Input]:
        """Yield the inputs that have to be looked at."""
        found = filter(self._is_settled, filter(self._is_in_part, self._counted()))
        while some := list(itertools.islice(found, _ASKED_AT_ONCE)):
            fresh = unseen(self.engine, some)
            self.tally.unchanged += len(some) - len(fresh)
            yield from fresh

    def _counted(self) -> Iterator[Input]:
        for one in walk(self.options.roots, self.tally.passed):
            self.tally.found += 1
            yield one

    def _is_in_part(self, one: Input) -> bool:
        number, total = self.options.part
        return int(one.place[:12], 16) % total == number - 1

    def _is_settled(self, one: Input) -> bool:
        seconds = self.options.settle_seconds
        if abs(time.time() - one.stamp.modified_seconds) >= seconds:
            return True
        self.tally.passed.add(f"changed in the last {seconds:g} s", one.path)
        return False

    # ---- work ----------------------------------------------------------------------------

    def _give(self) -> None:
        while not self.pool.is_full and (task := self._next()) is not None:
            self.pool.give(task)

    def _next(self) -> Task | None:
        now = time.monotonic()
        if self.ready and now >= self.next_read:
            if self.options.rate:
                self.next_read = max(self.next_read, now - 1.0) + 1.0 / self.options.rate
            return self.ready.popleft()
        if self.is_walked or len(self.ready) >= _READY_FOR_EACH * self.options.jobs:
            return None
        one = next(self.new, None)
        self.is_walked = one is None
        return None if one is None else Look(one)

    def _take(self, done: list[Done]) -> None:
        looked: list[tuple[Input, Looked]] = []
        for task, answer in done:
            if isinstance(answer, Looked):
                looked.append((task.input, answer))
            elif isinstance(answer, Later):
                self._leave(task, answer)
            else:
                self._read(task, answer)
        if looked:
            self._looked(looked)

    def _looked(self, looked: list[tuple[Input, Looked]]) -> None:
        """Have new contents read; for contents that are stored, only record their places.

        A content that was refused is read again, because its file was changed or touched.
        """
        for one, it in looked:
            if not it.feed:
                self._unrecognised(one)
        recognised = [(one, it) for one, it in looked if it.feed]
        digests = [
            (it.digest, digest_of_owner(it.digest, one.stamp.owner)) for one, it in recognised
        ]
        known = outcomes(self.engine, itertools.chain.from_iterable(digests))
        for (one, it), either in zip(recognised, digests, strict=True):
            stored = next((digest for digest in either if known.get(digest) == STORED), "")
            if stored:
                self.tally.known += 1
                self._add(LedgerEntry([one], stored))
            else:
                self._plan(one, it)

    def _plan(self, one: Input, it: Looked) -> None:
        """Have an input read, only once if equal contents are in several places."""
        if self.options.dry_run:
            self.tally.stored[it.feed] += 1
            return
        same = self.under_way.setdefault((it.digest, one.stamp.owner), [])
        same.append(one)
        if len(same) == 1:
            self.ready.append(Read(one, it.feed, it.digest, self.options.cluster, self.mounts))

    def _unrecognised(self, one: Input) -> None:
        if str(one.path) in self.named:
            what = "; ".join(summaries())
            self.tally.refuse(str(one.path), f"{UNRECOGNISED}; what can be read is {what}")
        else:
            self.tally.passed.add(UNRECOGNISED, one.path)
            self._add(LedgerEntry([one], OF_NO_KIND))

    def _leave(self, task: Task, answer: Later) -> None:
        for one in self._inputs(task):
            self.tally.passed.add(answer.reason, one.path)

    def _inputs(self, task: Task) -> list[Input]:
        if isinstance(task, Look):
            return [task.input]
        return self.under_way.pop((task.digest, task.input.stamp.owner), [task.input])

    def _read(self, task: Task, answer: Stored | Refused) -> None:
        if isinstance(task, Look):  # its worker died while looking at it: its content is unknown
            self.tally.refuse(str(task.input.path), answer.reason if isinstance(answer, Refused)
                              else "")  # fmt: skip
            return
        digest = task.digest
        if isinstance(answer, Refused):
            answer = replace(answer, kind=answer.kind or task.feed)
            if answer.of_owner:
                digest = digest_of_owner(digest, task.input.stamp.owner)
        self._add(LedgerEntry(self._inputs(task), digest, answer))

    # ---- writing -------------------------------------------------------------------------

    def _add(self, entry: LedgerEntry) -> None:
        if not self.options.dry_run:
            self.batch.append(entry)

    def _write(self) -> None:
        self.since = time.monotonic()
        if self.stop():  # what ends this process may have ended its workers before
            self.batch = [one for one in self.batch if not isinstance(one.answer, Refused)]
        batch, self.batch = self.batch, []
        if batch:
            with database_errors(self.engine):
                write(self.engine, batch)
        for one in batch:
            self._count(one)
        self.observe(self.tally)

    def _count(self, entry: LedgerEntry) -> None:
        name, answer = str(entry.inputs[0].path), entry.answer
        if entry.outcome == STORED and isinstance(answer, Stored):
            self.tally.stored[answer.kind] += 1
            self.tally.in_part(name, answer.problems)
            self.tally.known += len(entry.inputs) - 1
        elif entry.outcome == REFUSED and isinstance(answer, Refused):
            self.tally.refuse(name, answer.reason)
            self.tally.known += len(entry.inputs) - 1
        elif answer is not None:
            self.tally.known += len(entry.inputs)


# Options of an ingest.

SETTLE_SECONDS = 60.0
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class IngestOptions:
    """Options of an ingest.

    Attributes:
        roots: Files and directories to read.
        cluster: Cluster on which the inputs were made; "" if not reported.
        jobs: Number of worker processes.
        settle_seconds: A file that changed more recently than this is left for the next pass.
        rate: Maximum number of inputs read in a second; 0 for no limit.
        part: (number, total): inputs are divided among processes by their paths.
        dry_run: Whether to report only what would be read.
        timeout_seconds: Maximum time for reading one input.
    """

    roots: tuple[Path, ...]
    cluster: str = ""
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    settle_seconds: float = SETTLE_SECONDS
    rate: float = 0.0
    part: tuple[int, int] = (1, 1)
    dry_run: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS


# Counts of a pass.

_MOST_NAMED = 100


@dataclass
class Tally:
    """Counts of one pass over the inputs.

    Attributes:
        found: Inputs that were found.
        unchanged: Inputs that are as they were when they were last read.
        known: Inputs whose content is in the database already.
        stored: Inputs that were stored, by kind.
        refused: Inputs that are refused now.
        reasons: Names of the first refused inputs, with the reasons.
        problems: Names of the first inputs that could only be read in part, with the problems.
        passed: What was skipped: not an input, or left for the next pass.
        seconds: Duration of the pass.
        stopped: Whether the pass was interrupted; what was done is stored.
    """

    found: int = 0
    unchanged: int = 0
    known: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    reasons: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    passed: PassedOver = field(default_factory=PassedOver)
    seconds: float = 0.0
    stopped: bool = False

    def refuse(self, name: str, reason: str) -> None:
        """Count an input that is refused."""
        self.refused += 1
        if len(self.reasons) < _MOST_NAMED:
            self.reasons.append((name, reason))

    def in_part(self, name: str, problems: Sequence[str]) -> None:
        """Record what could not be read of an input."""
        room = _MOST_NAMED - len(self.problems)
        self.problems += [(name, text) for text in problems[: max(room, 0)]]

    def as_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "found": self.found,
            "unchanged": self.unchanged,
            "known": self.known,
            "stored": dict(sorted(self.stored.items())),
            "refused": self.refused,
            "reasons": [{"name": name, "reason": reason} for name, reason in self.reasons],
            "problems": [{"name": name, "problem": text} for name, text in self.problems],
            "passed_over": {
                reason: {"count": count, "names": self.passed.names[reason]}
                for reason, count in sorted(self.passed.counts.items())
            },
            "seconds": self.seconds,
            "stopped": self.stopped,
        }


# Repeated ingest, for a daemon.

_FIRST_SECONDS = 1.0
_MOST_SECONDS = 300.0
_STEP_SECONDS = 0.2


def watch(
    engine: Engine,
    options: IngestOptions,
    seconds: float,
    *,
    ahead: Callable[[], None] = lambda: None,
    observe: Callable[[Tally], None] = lambda _: None,
    passed: Callable[[Tally], None] = lambda _: None,
    troubled: Callable[[str], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Store what is new every so many seconds until `stop` returns True.

    If the database refuses, or a directory does not exist, it is tried again after 1 s, 2 s, 4 s
    and so on up to 300 s. Nothing is lost, since what was not written is read again. A Slurm that
    does not answer does not delay inputs from files.

    Args:
        engine: Engine of the database.
        options: Options of each pass.
        seconds: Time from the end of a pass to the next one.
        ahead: Function that is called before each pass; errors it raises are reported, and it is
            tried again.
        observe: Function that is called now and then within a pass.
        passed: Function that is called with the counts of each pass.
        troubled: Function that is called with what went wrong, and when it is tried again.
        stop: Function that is called often.
    """

    def files() -> None:
        passed(ingest(engine, options, observe=observe, stop=stop))

    pause = _FIRST_SECONDS
    while not stop():
        if troubles := _troubles(engine, (ahead, files)):
            troubled(f"{'; '.join(troubles)}; tried again in {pause:g} s")
            _sleep(pause, stop)
            pause = min(2 * pause, _MOST_SECONDS)
        else:
            pause = _FIRST_SECONDS
            _sleep(seconds, stop)


def _troubles(engine: Engine, parts: Iterable[Callable[[], None]]) -> dict[str, None]:
    """Carry out the parts of a pass and return what went wrong, without repetitions."""
    found: dict[str, None] = {}
    for part in parts:
        try:
            part()
        except (StorageError, UsageError, SlurmError) as error:
            engine.dispose()
            found[str(error)] = None
    return found


def _sleep(seconds: float, stop: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not stop() and time.monotonic() < until:
        time.sleep(min(_STEP_SECONDS, seconds))
