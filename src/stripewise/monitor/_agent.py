# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The agent: collectors read, each in its thread; sinks deliver, each in its own; this one joins.

docs/design/monitoring.md has the plan.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Sequence
from enum import Enum

from stripewise import __version__
from stripewise.errors import StorageError
from stripewise.monitor._clock import Clock, Grid, StepWatch
from stripewise.monitor._collecting import Collecting
from stripewise.monitor._delivering import Delivering
from stripewise.monitor._notify import Notifier
from stripewise.monitor._records import Round
from stripewise.monitor.metrics import Reading, health

SINKS_BEGIN_SECONDS = 10.0
"""To begin; one that takes longer goes on trying, and rounds meanwhile are lost to it."""
COLLECTORS_END_SECONDS = 1.0
SINKS_END_SECONDS = 3.5
"""Together below 5 s, after which whoever ended the agent may lose patience."""
HEALTH = "monitor"
"""The name under which the agent reports on itself."""
Part = Collecting | Delivering
_log = logging.getLogger("stripewise.monitor")


class Request(Enum):
    """What is asked of a running agent."""

    STOP = "stop"
    RELOAD = "reload"


class Agent:
    """Collectors and sinks at work.

    Args:
        collecting: Makes the collectors' threads; given what takes their rounds.
        delivering: The sinks' threads.
        interval_seconds: Between two reports on itself.
        clock: Of this host.
        notifier: Tells systemd.
        close: Ends what collectors wait for.
    """

    def __init__(
        self,
        collecting: Callable[[Callable[[Round], None]], Sequence[Collecting]],
        delivering: Sequence[Delivering],
        interval_seconds: float,
        clock: Clock | None = None,
        notifier: Notifier | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock or Clock()
        self._came: queue.SimpleQueue[Round | Request] = queue.SimpleQueue()
        self._collecting = collecting(self._came.put)
        self._delivering = delivering
        self._interval_seconds = interval_seconds
        self._notifier = notifier or Notifier()
        self._close = close
        self._steps = StepWatch(self._clock)

    def ask(self, request: Request) -> None:
        """Ask something of it; a handler of signals may call this."""
        self._came.put(request)

    def run(self) -> None:
        """Work until a stop is asked for.

        Raises:
            StorageError: None of the sinks can begin.
        """
        self._begin_sinks()
        for one in self._collecting:
            one.start()
        self._notifier.tell("READY=1")
        if not self._collecting:
            _log.warning("nothing is read: each collector has enabled = false; take that out")
        names = ", ".join(one.sink.name for one in self._delivering)
        _log.info("the agent runs, every %g s, to %s", self._interval_seconds, names)
        try:
            self._work()
        finally:
            self._notifier.tell("STOPPING=1")
            self._end()

    def _begin_sinks(self) -> None:
        """Begin all at once; those that cannot are tried again as long as one can."""
        for one in self._delivering:
            one.start()
        until = time.monotonic() + SINKS_BEGIN_SECONDS
        for one in self._delivering:
            while not one.has_tried(0.1) and time.monotonic() < until and self._came.empty():
                pass
        errors = [why for one in self._delivering if (why := one.why_not_begun)]
        if len(errors) == len(self._delivering):
            for one in self._delivering:
                one.stop()
            raise StorageError(errors[0] if errors else "there are no sinks: configure one")

    def _work(self) -> None:
        grid = Grid(self._clock.monotonic(), self._interval_seconds)
        due = self._clock.monotonic() + min(1.0, self._interval_seconds)  # first rounds are in
        while True:
            self._notifier.tell("WATCHDOG=1")
            if self._clock.monotonic() >= due:
                self._hand_on(self.report())
                due, _ = grid.next(self._clock.monotonic())
            match self._next(due):
                case Round() as found:
                    self._hand_on(found)
                case Request.STOP:
                    return
                case Request.RELOAD:
                    _log.warning("SIGHUP: the configuration is read at the start: restart to "
                                 "change it; the agent goes on")  # fmt: skip

    def _next(self, due: float) -> Round | Request | None:
        seconds = max(0.0, due - self._clock.monotonic())
        if self._notifier.watchdog_seconds:
            seconds = min(seconds, self._notifier.watchdog_seconds / 3)
        try:
            return self._came.get(timeout=seconds)
        except queue.Empty:
            return None

    def _hand_on(self, found: Round) -> None:
        for one in self._delivering:
            one.take(found)

    def report(self) -> Round:
        """Return the agent's own readings."""
        if step := self._steps.look():
            _log.warning("this host's clock was set by %+.1f s", step)
        parts: tuple[Part, ...] = (*self._collecting, *self._delivering)
        for one in parts:
            one.look()
        readings = [
            Reading(health.INFO, (__version__,), 1.0),
            Reading(health.CLOCK_STEPS, (), float(self._steps.count)),
        ]
        for part in parts:
            readings += part.health()
        return Round(HEALTH, self._clock.wall(), self._clock.monotonic(), 0.0, tuple(readings))

    def _end(self) -> None:
        """End collectors, hand on what they still read, let the sinks deliver it."""
        for one in self._collecting:
            one.stop()
        self._close()
        until = time.monotonic() + COLLECTORS_END_SECONDS
        slow = [one.collector.name for one in self._collecting
                if not one.join(until - time.monotonic())]  # fmt: skip
        while not self._came.empty():
            found = self._came.get()
            if isinstance(found, Round):
                self._hand_on(found)
        for each in self._delivering:
            each.stop()
        until = time.monotonic() + SINKS_END_SECONDS
        slow += [each.sink.name for each in self._delivering
                 if not each.join(until - time.monotonic())]  # fmt: skip
        if slow:
            _log.warning("the agent ends without waiting for %s", ", ".join(slow))
        else:
            _log.info("the agent has ended")
