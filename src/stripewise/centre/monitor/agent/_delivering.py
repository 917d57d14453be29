# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a thread for each sink, which delivers what the sink has taken and retries failures."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.agent._collecting import Backoff, Clock, Worker
from stripewise.centre.monitor.sinks._base import Sink, SinkError
from stripewise.present import printable

STUCK_SECONDS = 60.0
"""A delivery that takes longer has failed, whatever its outcome; sinks have shorter limits."""
_PAUSE_SECONDS = 0.5
"""Pause between two deliveries, so that rounds that end together are delivered together."""
_log = logging.getLogger("stripewise.centre.monitor.agent")


class Delivering(Worker):
    """Runs the deliveries of one sink.

    Args:
        sink: The sink.
        clock: Clock of this host.
        backoff: Pauses after failures; None for 1 to 60 s.
        pause_seconds: Pause between successful deliveries.
    """

    def __init__(
        self,
        sink: Sink,
        clock: Clock,
        backoff: Backoff | None = None,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        super().__init__(f"deliver {sink.name}", clock, STUCK_SECONDS)
        self.sink = sink
        self._backoff = backoff or Backoff()
        self._pause_seconds = pause_seconds
        self._waits_to_be_asked = type(sink).deliver is Sink.deliver
        self._work = threading.Event()
        self._tried = threading.Event()
        self._is_begun = False
        self._errors: dict[str, str] = {}  # of the last attempt; "" if it succeeded
        self._last_success: float | None = None
        self._failures = 0
        self._lost = 0

    def start(self) -> None:
        """Start the thread, which first starts the sink."""
        self._work.set()
        super().start()

    def has_tried(self, seconds: float) -> bool:
        """Wait until the sink has tried to start, and return whether it has."""
        return self._tried.wait(max(0.0, seconds))

    @property
    def why_not_started(self) -> str:
        """Why the sink has not started so far; "" if it has, or still tries."""
        return "" if self._is_begun else self._errors.get("deliver", "")

    def stop(self) -> None:
        """Ask the thread to deliver what is left, and to end."""
        super().stop()
        self._work.set()

    def take(self, found: Round) -> None:
        """Give the sink a round; until the sink has started, rounds are lost and counted."""
        if not self._is_begun:
            with self._lock:
                self._lost += 1
            return
        try:
            self.sink.take(found)
        except BaseException as error:
            with self._lock:
                self._lost += 1
            self._note("take", _words(error))
        else:
            self._note("take", "")
        self._work.set()

    def _begin(self) -> None:
        self.sink.start()
        self._is_begun = True

    def _run(self) -> None:
        while not self._ending.is_set():
            self._work.wait()
            if self._ending.is_set():
                break
            self._work.clear()
            if self._attempt(self.sink.deliver if self._is_begun else self._begin):
                self._ending.wait(self._pause_seconds)
            else:
                self._work.set()
                self._ending.wait(self._backoff.next())
        if self._is_begun:
            self._attempt(self.sink.stop, is_delivery=False)

    def _attempt(self, action: Callable[[], None], is_delivery: bool = True) -> bool:
        """Do something and record the outcome; a successful end may have delivered nothing."""
        try:
            with self._under_way():
                action()
        except BaseException as error:  # a faulty sink must not stop the others
            if not isinstance(error, SinkError):
                _log.debug("the sink %s failed", self.sink.name, exc_info=True)
            self._note("deliver", _words(error))
            return False
        finally:
            self._tried.set()
        self._backoff.reset()
        if is_delivery:
            self._note("deliver", "")
        return True

    def _count_stuck(self) -> None:
        self._failures += 1

    def _tell_stuck(self, seconds: float) -> None:
        _log.warning(
            "sink %s has been delivering for %.0f s and does not end", self.sink.name, seconds
        )

    def _note(self, step: str, error: str) -> None:
        with self._lock:
            before, self._errors[step] = self._errors.get(step), error
            if error:
                self._failures += 1
            elif step == "deliver":
                self._last_success = self._clock.wall()
        if error and not before:
            _log.warning("sink %s cannot %s: %s", self.sink.name, step, printable(error))
        elif before and not error:
            _log.info("sink %s can %s again", self.sink.name, step)

    def health(self) -> Iterator[Reading]:
        """Yield readings about the sink, after those that the sink reports itself."""
        try:
            own = {(one.metric, one.labels): one for one in self.sink.health()}
        except BaseException:
            own = {}
        with self._lock:
            lost = self._lost
            name = (self.sink.name,)
            is_ok = self._is_begun and not self._is_stuck and not any(self._errors.values())
            made = [
                Reading(metrics.SINK_OK, name, float(is_ok)),
                Reading(metrics.SINK_FAILURES, name, float(self._failures)),
            ]
            if self._last_success is not None and not self._waits_to_be_asked:
                made.append(Reading(metrics.SINK_LAST, name, self._last_success))
        lost_reading = own.pop((metrics.SINK_LOST, name), None)
        if lost_reading is not None and isinstance(lost_reading.value, int | float):
            lost += int(lost_reading.value)
        made.append(Reading(metrics.SINK_LOST, name, float(lost)))
        yield from own.values()
        yield from (one for one in made if (one.metric, one.labels) not in own)


def _words(error: BaseException) -> str:
    text = str(error)
    return text if isinstance(error, SinkError) else f"{type(error).__name__}: {text}"
