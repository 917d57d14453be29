# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads inputs in worker processes that may die or hang, and checks who owns them.

Each worker is a process of its own, so that a reader that crashes or hangs ends only itself.
"""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from stripewise.centre.database._records import PairRecord, Record, SourceRecord, user_name
from stripewise.centre.database.ingest._base import (
    HEAD_BYTES,
    Feed,
    RefusedError,
    content_digest,
    identity,
)
from stripewise.centre.database.ingest._inputs import (
    FEEDS,
    UNREADABLE,
    ChangedError,
    Input,
    Stamp,
    feed_of,
    held,
    stamp_of,
)
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.core.errors import RuntimeMissingError, StripewiseError
from stripewise.core.inputs import open_input


@dataclass(frozen=True)
class Look:
    """Task: determine the kind of an input and the digest of its content."""

    input: Input


@dataclass(frozen=True)
class Read:
    """Task: read an input whose kind and digest are known."""

    input: Input
    feed: str
    digest: str
    cluster: str = ""
    mounts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Looked:
    """Answer: name of the feed ("" if there is none) and digest."""

    feed: str
    digest: str


@dataclass(frozen=True)
class Stored:
    """Answer: records to store."""

    kind: str
    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Answer: the reason why an input is refused.

    Attributes:
        kind: Kind of the input.
        reason: One sentence.
        of_owner: Whether the same content is accepted from another owner.
    """

    kind: str
    reason: str
    of_owner: bool = False


@dataclass(frozen=True)
class Later:
    """Answer: the reason why an input is left for the next pass."""

    reason: str


Task = Look | Read
Answer = Looked | Stored | Refused | Later


def work(task: Task) -> Answer:
    """Carry out a task; any failure of a reader becomes an answer."""
    answer = _answer(task)
    if isinstance(answer, Later):
        return answer
    try:
        stamp = stamp_of([path for _, path in task.input.files])
    except OSError as error:
        return Later(_unreadable(error))
    return answer if stamp == task.input.stamp else Later("it changed while it was read")


def _answer(task: Task) -> Answer:
    place = task.input.path
    try:
        with ExitStack() as stack:
            if task.input.stamp.owner not in trusted_users():
                place = stack.enter_context(held(task.input))
            return _look(task.input, place) if isinstance(task, Look) else _read(task, place)
    except (RuntimeMissingError, ChangedError) as error:
        return Later(str(error))
    except OSError as error:
        if isinstance(error, StripewiseError):
            return _refused(task, error, place)
        return Later(_unreadable(error))
    except RefusedError as error:
        return Refused(_kind(task), str(error), of_owner=True)
    except Exception as error:
        return _refused(task, error, place)


def _look(one: Input, place: Path) -> Looked:
    head = b""
    if not one.names:
        with open_input(place) as file:
            head = file.read(HEAD_BYTES)
    feed = feed_of(place, head)
    if feed is None:
        return Looked("", "")
    files = ((name, place / name) for name, _ in one.files)
    return Looked(feed.name, content_digest(files, feed.content_bytes))


def _read(task: Read, place: Path) -> Stored:
    feed = next(one for one in FEEDS if one.name == task.feed)
    trusted = trusted_users()
    check_trust(feed, task.input.stamp, trusted)
    origin = Origin(feed.name, task.digest, task.input.path.name, task.cluster, task.mounts)
    reading = feed.read(place, origin)
    owner = task.input.stamp.owner
    records = tuple(owned(record, owner, trusted) for record in reading.records)
    kinds = {one.kind for one in records if hasattr(one, "kind")}
    kind = kinds.pop() if len(kinds) == 1 else feed.name
    return Stored(kind, records, reading.problems)


def _kind(task: Task) -> str:
    return task.feed if isinstance(task, Read) else ""


def _refused(task: Task, error: Exception, place: Path) -> Refused:
    what = _sentence(error, task.input.path, place)
    if not isinstance(error, StripewiseError):
        what = f"{type(error).__name__}: {what}"
    return Refused(_kind(task), what)


def _unreadable(error: OSError) -> str:
    """Return the reason in words that are equal for many inputs, which are counted by them."""
    return f"{UNREADABLE}: {error.strerror or error}"


def _sentence(error: BaseException, path: Path, place: Path) -> str:
    """Return an error in one line, without the path that is printed beside it.

    Args:
        error: Any exception.
        path: Path of the input.
        place: Path from which it was read.
    """
    text = " ".join(str(error).replace(os.fspath(place), os.fspath(path)).split())[:1000]
    return text.removeprefix(f"{os.fspath(path)}: ") or type(error).__name__


def digest_of_owner(digest: str, owner: int) -> str:
    """Return the digest of a content in combination with its owner."""
    return identity("owner", digest, owner)


# Ownership of an input, so that nobody can put jobs into another user's list.
#
# A record that names a user counts only if the file belongs to that user or to a trusted user:
# root, or whoever runs the ingest. A record that names no user belongs to the owner of its file.
# Unless the owner is trusted, the job is then determined from that owner (`_match`).

ROOT = 0


def trusted_users() -> frozenset[int]:
    """Return the users whose files are accepted, whatever they report."""
    return frozenset((ROOT, os.geteuid()))


def check_trust(feed: Feed, stamp: Stamp, trusted: frozenset[int]) -> None:
    """Refuse an input that its owner may not provide.

    Raises:
        RefusedError: The owner may not provide it; the message has the reason.
    """
    if stamp.is_mixed:
        raise RefusedError("its files belong to different users: they are not of one run")
    if feed.needs_trust and stamp.owner not in trusted:
        raise RefusedError(
            f"it belongs to {_user(stamp.owner)}, and describes runs of others: only files of "
            "root and of the user who ingests them are trusted"
        )


def owned(record: Record, owner: int, trusted: frozenset[int]) -> Record:
    """Return a record with the user that its owner is entitled to report.

    Raises:
        RefusedError: The record names another user.
    """
    if isinstance(record, PairRecord):
        # nobody may replace another user's study
        digest = identity(record.digest, owner)
        return replace(record, digest=digest, user="" if owner == ROOT else user_name(owner))
    if not isinstance(record, SourceRecord):
        return record
    record = replace(record, is_vouched=owner in trusted)
    if record.uid is None and not record.user:
        if owner == ROOT:
            return record
        return replace(record, uid=owner, user=user_name(owner))
    if record.uid == owner:
        return replace(record, user=user_name(owner) or (record.user if owner in trusted else ""))
    if owner not in trusted:
        whose = f"uid {record.uid}" if record.uid is not None else record.user
        raise RefusedError(
            f"it describes a run of {whose}, but its file belongs to {_user(owner)}: only files "
            "of that user, of root and of the user who ingests them are trusted"
        )
    return record


def _user(uid: int) -> str:
    name = user_name(uid)
    return f"{name} (uid {uid})" if name else f"uid {uid}"


# Worker processes, with one task each at a time; one that dies or hangs is replaced.

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["stripewise.centre.database.ingest._work"])
_END_SECONDS = 5.0
AGAIN = "touch it to have it read again"
_TRIES = 2
"""A worker that is gone may have been killed from outside: its task is tried once more."""


class Done(NamedTuple):
    """A task and its answer."""

    task: Task
    answer: Answer


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: Task | None = None
    tries: int = 0
    until: float = 0.0


class WorkerPool:
    """Workers up to a maximum number, which start when there is work."""

    def __init__(self, jobs: int, timeout_seconds: float) -> None:
        self._jobs = jobs
        self._timeout_seconds = timeout_seconds
        self._workers: list[_Worker] = []

    @property
    def busy(self) -> int:
        """Number of tasks under way."""
        return sum(one.task is not None for one in self._workers)

    @property
    def is_full(self) -> bool:
        """Return whether every worker has a task."""
        return self.busy >= self._jobs

    def give(self, task: Task) -> None:
        """Begin a task; there must be an idle worker."""
        worker = next((one for one in self._workers if one.task is None), None)
        if worker is None:
            worker = _start()
            self._workers.append(worker)
        self._send(worker, task, 1)

    def wait(self, seconds: float) -> list[Done]:
        """Return the tasks that have ended, waiting at most so many seconds."""
        busy = [one for one in self._workers if one.task is not None]
        if not busy:
            return []
        ready = wait([one.pipe for one in busy], max(0.0, seconds))
        done = [self._take(one) for one in busy if one.pipe in ready]
        now = time.monotonic()
        done += [self._stop(one) for one in busy if one.pipe not in ready and now > one.until]
        return [one for one in done if one is not None]

    def close(self) -> None:
        """End all workers without waiting for those that are still at work."""
        for one in self._workers:
            if one.task is not None:
                one.process.kill()
            one.pipe.close()
        for one in self._workers:
            one.process.join(_END_SECONDS)
            one.process.kill()
            one.process.join()
        self._workers.clear()

    def _send(self, worker: _Worker, task: Task, tries: int) -> None:
        worker.task, worker.tries = task, tries
        worker.until = time.monotonic() + self._timeout_seconds
        with suppress(BrokenPipeError, ConnectionResetError):  # noticed at the next wait
            worker.pipe.send(task)

    def _take(self, worker: _Worker) -> Done | None:
        task, worker_task = worker.task, worker.tries
        assert task is not None
        try:
            answer: Answer = worker.pipe.recv()
        except (EOFError, OSError):  # it may have ended in the middle of its answer
            self._drop(worker)
            if worker_task < _TRIES:
                fresh = _start()
                self._workers.append(fresh)
                self._send(fresh, task, worker_task + 1)
                return None
            return Done(task, Refused("", f"{_how_it_ended(worker.process)}; {AGAIN}"))
        worker.task = None
        return Done(task, answer)

    def _stop(self, worker: _Worker) -> Done:
        task = worker.task
        assert task is not None
        self._drop(worker)
        seconds = f"{self._timeout_seconds:g}"
        return Done(task, Refused("", f"it was not read within {seconds} s; {AGAIN}"))

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _how_it_ended(process: BaseProcess) -> str:
    code = process.exitcode or 0
    if code < 0:
        return f"the process that read it was ended by {signal.Signals(-code).name}"
    return f"the process that read it ended with exit code {code}"


def _start() -> _Worker:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _serve(pipe: Connection) -> None:
    """Answer tasks until the other end closes; signals of a terminal are for the other end."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            pipe.send(work(pipe.recv()))
    atexit._run_exitfuncs()  # multiprocessing does not do so, and readers have child processes
