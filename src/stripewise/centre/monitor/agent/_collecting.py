# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a collector in a thread of its own, in rounds on a time grid that does not drift."""

from __future__ import annotations

import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Metric, Reading, Round, TargetJobs
from stripewise.centre.monitor.collectors._base import Collector, Problem
from stripewise.present import duration_text, plural, printable

LOOK_AGAIN_SECONDS = 60.0
"""Time after which a collector that found nothing checks again: Lustre may be mounted later."""
_STUCK_SECONDS = 30.0
_STUCK_INTERVALS = 3
_log = logging.getLogger("stripewise.centre.monitor.agent")


class Worker(ABC):
    """A thread that repeats an action and notices when the action hangs.

    Attributes:
        stuck_seconds: Time after which an action counts as failed, whatever its outcome.
    """

    def __init__(self, name: str, clock: Clock, stuck_seconds: float) -> None:
        self._clock = clock
        self.stuck_seconds = stuck_seconds
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._began: float | None = None  # monotonic; None if nothing is under way
        self._is_stuck = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end."""
        self._ending.set()

    def join(self, seconds: float) -> bool:
        """Wait for the thread to end, and return whether it has."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def look(self) -> None:
        """Detect an action that does not end."""
        with self._lock:
            began = self._began
            if began is None or self._is_stuck:
                return
            seconds = self._clock.monotonic() - began
            if seconds < self.stuck_seconds:
                return
            self._is_stuck = True
            self._count_stuck()
        self._tell_stuck(seconds)

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """Let `look` see that an action is under way."""
        with self._lock:
            self._began = self._clock.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._began, self._is_stuck = None, False

    @abstractmethod
    def _run(self) -> None:
        """Work until `stop`, in the thread."""

    @abstractmethod
    def _count_stuck(self) -> None:
        """Count a failure on behalf of the thread that hangs."""

    @abstractmethod
    def _tell_stuck(self, seconds: float) -> None:
        """Report that the action has not ended for so long."""


class Collecting(Worker):
    """Runs the rounds of one collector.

    Args:
        collector: The collector.
        host: Host that it reads.
        clock: Clock of this host.
        interval_seconds: Time from one round to the next.
        hand_on: Function that takes each round, at once.
        is_automatic: Whether it only checks now and then, without reporting a failure, as long as
            there is nothing to read.
    """

    def __init__(
        self,
        collector: Collector,
        host: Host,
        clock: Clock,
        interval_seconds: float,
        hand_on: Callable[[Round], None],
        is_automatic: bool = False,
    ) -> None:
        self.collector = collector
        collector.is_repeated = True
        self._host, self._hand_on = host, hand_on
        self.interval_seconds = collector.settings.interval_seconds or interval_seconds
        stuck_seconds = max(_STUCK_SECONDS, _STUCK_INTERVALS * self.interval_seconds)
        super().__init__(f"collect {collector.name}", clock, stuck_seconds)
        self.look_again_seconds = LOOK_AGAIN_SECONDS
        self._is_automatic = is_automatic
        self._grid: Grid | None = None
        self._last: RoundOutcome | None = None
        self._last_success: float | None = None
        self._failures: Counter[str] = Counter()
        self._skipped = 0
        self._problems = 0
        self._state: str | None = None

    def _run(self) -> None:
        while not self._is_here():
            if self._ending.wait(self.look_again_seconds):
                return
        with self._lock:
            grid = self._grid = Grid(self._clock.monotonic(), self.interval_seconds)
        while not self._ending.is_set():
            try:
                self._one_round()
            except BaseException as error:  # memory may run out anywhere; the next round may work
                self._break(error)
            with self._lock:
                now = self._clock.monotonic()
                at, skipped = grid.next(now)
                self._skipped += skipped
            self._ending.wait(max(0.0, at - now))

    def _is_here(self) -> bool:
        """Return whether there is something to read; an error of it shows in the first round."""
        if not self._is_automatic:
            return True
        try:
            with self._under_way():
                why = self.collector.missing(self._host)
        except BaseException:
            return True
        if why:
            self._change("idle", f"finds nothing to read here: {why}", logging.DEBUG)
        return not why

    def _one_round(self) -> None:
        with self._lock:
            self._began = self._clock.monotonic()
        outcome = read_round(self.collector, self._host, self._clock)
        found = outcome.round
        with self._lock:
            self._began, self._is_stuck = None, False
            if found.reason and self._ending.is_set():
                return
            self._note(outcome)
        self._tell(outcome)
        self._hand_on(found)

    def _break(self, error: BaseException) -> None:
        """Replace a round by a failed one, after an error that followed the reading."""
        found = Round(
            self.collector.name, self._clock.wall(), self._clock.monotonic(), reason="error"
        )
        with self._lock:
            self._began, self._is_stuck = None, False
            self._note(RoundOutcome(found, 0))
        self._change("broken", f"broke off: {type(error).__name__}", logging.WARNING)

    def _note(self, outcome: RoundOutcome) -> None:
        found = outcome.round
        bare = replace(found, readings=(), jobs=())  # they would take memory until the next round
        self._last = RoundOutcome(bare, outcome.problems)
        self._problems += outcome.problems
        if found.reason:
            self._failures[found.reason] += 1
        else:
            self._last_success = found.at + found.seconds

    def _tell(self, outcome: RoundOutcome) -> None:
        """Log a round whose outcome differs from the one before."""
        found = outcome.round
        first = found.problems[0] if found.problems else ""
        more = f" (and {outcome.problems - 1} more)" if outcome.problems > 1 else ""
        if found.reason:
            self._change(found.reason, f"failed ({found.reason}): {first}{more}", logging.WARNING)
        elif first:
            self._change("part", f"leaves out: {first}{more}", logging.WARNING)
        else:
            count = plural(len(found.readings), "reading")
            self._change("", f"works: {count} in {duration_text(found.seconds)}")

    def _change(self, state: str, text: str, grade: int = logging.INFO) -> None:
        with self._lock:
            is_new, self._state = self._state != state, state
        if is_new:
            _log.log(grade, "collector %s %s", self.collector.name, printable(text))

    def _count_stuck(self) -> None:
        self._failures["slow"] += 1

    def _tell_stuck(self, seconds: float) -> None:
        self._change(
            "stuck", f"has been reading for {seconds:.0f} s and does not end", logging.WARNING
        )

    def health(self) -> Iterator[Reading]:
        """Yield readings about the collector; none before it has found something."""
        name = self.collector.name
        with self._lock:
            if self._grid is None and not self._is_stuck:
                return
            last, success, failures = self._last, self._last_success, Counter(self._failures)
            is_ok = last is not None and not last.round.reason and not self._is_stuck
            skipped, problems = self._skipped, self._problems
            if self._began is not None and self._grid is not None:
                skipped += self._grid.overdue(self._clock.monotonic())
        if last is not None or failures:
            yield Reading(metrics.COLLECTOR_OK, (name,), float(is_ok))
        if last is not None:
            yield Reading(metrics.COLLECTOR_SECONDS, (name,), last.round.seconds)
        if success is not None:
            yield Reading(metrics.COLLECTOR_LAST, (name,), success)
        for reason in REASONS:
            yield Reading(metrics.COLLECTOR_FAILURES, (name, reason), float(failures[reason]))
        yield Reading(metrics.COLLECTOR_SKIPPED, (name,), float(skipped))
        yield Reading(metrics.PROBLEMS, (name,), float(problems))


# One round of one collector; everything that was read before a failure is kept.

REASONS = ("missing", "denied", "slow", "malformed", "error")
"""All values that the label can have, whatever a plug-in reports."""
MOST_ITEMS = 1_000_000
"""Maximum number of readings and targets of a round; a collector with more is broken (assumed)."""
_MOST_TEXTS = 100


class RoundOutcome(NamedTuple):
    """A round, and how many problems it had.

    Attributes:
        round: The round, with at most 100 problems in words.
        problems: Total number of problems.
    """

    round: Round
    problems: int


class _Found:
    """Collects the results of a round."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.jobs: list[TargetJobs] = []
        self.texts: list[str] = []
        self.problems = 0
        self.reason = ""

    def take(self, item: Reading | TargetJobs | Problem) -> None:
        """Add one item, so that sinks can rely on it whatever a plug-in yields."""
        if isinstance(item, Reading):
            if not isinstance(item.metric, Metric):
                raise HostError("malformed", "a reading is of no metric")
            _check_texts(item.labels)
            self.readings.append(item)
        elif isinstance(item, TargetJobs):
            _check_texts((item.fs, item.target))
            self.jobs.append(item)
        else:
            self.problems += 1
            self.reason = self.reason or (_known(item.reason) if item.reason else "")
            if len(self.texts) < _MOST_TEXTS:
                self.texts.append(str(item.text))
        if len(self.readings) + len(self.jobs) + self.problems > MOST_ITEMS:
            raise HostError("malformed", f"more than {MOST_ITEMS:,} readings in one round")

    def fail(self, reason: str, text: str) -> None:
        """Add the error that ended the round as the first problem, because it matters most."""
        self.reason = _known(reason)
        self.texts.insert(0, text)


def _check_texts(labels: object) -> None:
    try:
        if isinstance(labels, tuple):
            "".join(labels)  # the fastest way to check that they are strings
            return
    except TypeError:
        pass
    raise HostError("malformed", "a reading has labels that are not texts")


def _known(reason: str) -> str:
    return reason if reason in REASONS else "error"


def read_round(collector: Collector, host: Host, clock: Clock) -> RoundOutcome:
    """Read everything once; an exception of a collector ends only this round."""
    found = _Found()
    at, monotonic = clock.wall(), clock.monotonic()
    try:
        for item in collector.collect(host):
            found.take(item)
    except HostError as error:
        found.fail(error.reason, str(error))
    except BaseException as error:  # a plug-in may raise anything, even SystemExit
        _log.debug("the collector %s failed", collector.name, exc_info=True)
        found.fail("error", f"{type(error).__name__}: {error}")
    whole = Round(
        collector.name, at, monotonic, clock.monotonic() - monotonic,
        tuple(found.readings), tuple(found.jobs), tuple(found.texts), found.reason,
    )  # fmt: skip
    return RoundOutcome(whole, found.problems)


# Clocks: a grid of rounds that does not drift, clock steps, and growing pauses.

STEP_SECONDS = 1.0
"""Step from which the wall clock was set; slewing by NTP stays far below (500 ppm; documented)."""


class Clock:
    """The clocks of this host; tests use others."""

    def wall(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Return the time of the monotonic clock in seconds."""
        return time.monotonic()


class Grid:
    """Start times of rounds: the first one, and each multiple of the interval after it."""

    def __init__(self, start: float, interval_seconds: float) -> None:
        self._start = start
        self._interval_seconds = interval_seconds
        self._index = 0

    def next(self, now: float) -> tuple[float, int]:
        """Advance to the next round that has not been missed.

        Returns:
            Its start, and how many rounds were skipped before it.
        """
        first = self._index + 1
        self._index = max(first, math.ceil((now - self._start) / self._interval_seconds))
        return self._start + self._index * self._interval_seconds, self._index - first

    def overdue(self, now: float) -> int:
        """Return how many rounds should have started since the current one."""
        passed = math.floor((now - self._start) / self._interval_seconds)
        return max(0, passed - self._index)


class StepWatch:
    """Detects that the wall clock was set, from its difference to the monotonic clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.wall() - clock.monotonic()
        self.count = 0

    def look(self) -> float:
        """Return by how many seconds the clock was set since the last call; 0 if it was not."""
        offset = self._clock.wall() - self._clock.monotonic()
        step, self._offset = offset - self._offset, offset
        if abs(step) <= STEP_SECONDS:
            return 0.0
        self.count += 1
        return step


class Backoff:
    """Pauses between attempts that fail: twice as long each time."""

    def __init__(self, first_seconds: float = 1.0, longest_seconds: float = 60.0) -> None:
        self._first_seconds = first_seconds
        self._longest_seconds = longest_seconds
        self._next_seconds = first_seconds

    def next(self) -> float:
        """Return the time to wait before the next attempt."""
        seconds = self._next_seconds
        self._next_seconds = min(2 * seconds, self._longest_seconds)
        return seconds

    def reset(self) -> None:
        """Start again with the shortest pause, because an attempt succeeded."""
        self._next_seconds = self._first_seconds
