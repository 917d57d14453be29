# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A thread for each collector: its rounds, and what is told of them."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from stripewise.monitor._clock import Clock, Grid
from stripewise.monitor._host import Host
from stripewise.monitor._records import Round
from stripewise.monitor._rounds import REASONS, Outcome, read_round
from stripewise.monitor.collectors import Collector
from stripewise.monitor.metrics import Reading, health
from stripewise.text import duration_text, plural, printable

LOOK_AGAIN_SECONDS = 60.0
"""How often a collector that found nothing here looks again: Lustre may be mounted later."""
_STUCK_SECONDS = 30.0
_STUCK_INTERVALS = 3
_log = logging.getLogger("stripewise.monitor")


class Collecting:
    """The rounds of one collector.

    Args:
        collector: Which.
        host: What it reads.
        clock: Of this host.
        interval_seconds: From one round to the next.
        hand_on: Takes each round, at once.
        is_automatic: As long as there is nothing to read here, it only looks now and then, and
            that is no failure.
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
        self._host, self._clock, self._hand_on = host, clock, hand_on
        self.interval_seconds = collector.settings.interval_seconds or interval_seconds
        self.stuck_seconds = max(_STUCK_SECONDS, _STUCK_INTERVALS * self.interval_seconds)
        self.look_again_seconds = LOOK_AGAIN_SECONDS
        self._is_automatic = is_automatic
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._grid: Grid | None = None
        self._began: float | None = None  # monotonic; None: no round is under way
        self._is_stuck = False
        self._last: Outcome | None = None
        self._last_success: float | None = None
        self._failures: Counter[str] = Counter()
        self._skipped = 0
        self._problems = 0
        self._state: str | None = None
        self._thread = threading.Thread(
            target=self._run, name=f"collect {collector.name}", daemon=True
        )

    def start(self) -> None:
        """Begin with the first round."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; what is read now is dropped if it then fails."""
        self._ending.set()

    def join(self, seconds: float) -> bool:
        """Wait until it has ended, and return whether it has."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_here():
            if self._ending.wait(self.look_again_seconds):
                return
        with self._lock:
            grid = self._grid = Grid(self._clock.monotonic(), self.interval_seconds)
        while not self._ending.is_set():
            try:
                self._one_round()
            except BaseException as error:  # memory may end anywhere; the next round may do
                self._break(error)
            with self._lock:
                now = self._clock.monotonic()
                at, skipped = grid.next(now)
                self._skipped += skipped
            self._ending.wait(max(0.0, at - now))

    def _is_here(self) -> bool:
        """Look whether there is something to read; what this raises shows in the first round."""
        if not self._is_automatic:
            return True
        with self._lock:
            self._began = self._clock.monotonic()
        try:
            why = self.collector.missing(self._host)
        except BaseException:
            return True
        finally:
            with self._lock:
                self._began, self._is_stuck = None, False
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
        """Take a round that failed after it was read for one that failed."""
        found = Round(
            self.collector.name, self._clock.wall(), self._clock.monotonic(), reason="error"
        )
        with self._lock:
            self._began, self._is_stuck = None, False
            self._note(Outcome(found, 0))
        self._change("broken", f"broke off: {type(error).__name__}", logging.WARNING)

    def _note(self, outcome: Outcome) -> None:
        found = outcome.round
        bare = replace(found, readings=(), jobs=())  # which would take memory until the next
        self._last = Outcome(bare, outcome.problems)
        self._problems += outcome.problems
        if found.reason:
            self._failures[found.reason] += 1
        else:
            self._last_success = found.at + found.seconds

    def _tell(self, outcome: Outcome) -> None:
        """Say it if something is otherwise than before."""
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

    def look(self) -> None:
        """Notice a round that does not end."""
        with self._lock:
            began = self._began
            if began is None or self._is_stuck:
                return
            seconds = self._clock.monotonic() - began
            if seconds < self.stuck_seconds:
                return
            self._is_stuck = True
            self._failures["slow"] += 1
        self._change(
            "stuck", f"has been reading for {seconds:.0f} s and does not end", logging.WARNING
        )

    def health(self) -> Iterator[Reading]:
        """Yield readings of it; none before it found something."""
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
            yield Reading(health.COLLECTOR_OK, (name,), float(is_ok))
        if last is not None:
            yield Reading(health.COLLECTOR_SECONDS, (name,), last.round.seconds)
        if success is not None:
            yield Reading(health.COLLECTOR_LAST, (name,), success)
        for reason in REASONS:
            yield Reading(health.COLLECTOR_FAILURES, (name, reason), float(failures[reason]))
        yield Reading(health.COLLECTOR_SKIPPED, (name,), float(skipped))
        yield Reading(health.PROBLEMS, (name,), float(problems))
