# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clocks: a grid of rounds that does not drift, steps of the wall clock, pauses that grow."""

from __future__ import annotations

import math
import time

STEP_SECONDS = 1.0
"""From here on the wall clock was set; slewing by NTP stays far below (500 ppm; documented)."""


class Clock:
    """The clocks of this host; tests give others."""

    def wall(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds of the clock that never steps."""
        return time.monotonic()


class Grid:
    """When rounds begin: at the start, and at each multiple of the interval after it."""

    def __init__(self, start: float, interval_seconds: float) -> None:
        self._start = start
        self._interval_seconds = interval_seconds
        self._index = 0

    def next(self, now: float) -> tuple[float, int]:
        """Go on to the next round that has not been missed.

        Returns:
            When it begins, and how many rounds were skipped before it.
        """
        first = self._index + 1
        self._index = max(first, math.ceil((now - self._start) / self._interval_seconds))
        return self._start + self._index * self._interval_seconds, self._index - first

    def overdue(self, now: float) -> int:
        """Return how many rounds should have begun since the one that runs."""
        passed = math.floor((now - self._start) / self._interval_seconds)
        return max(0, passed - self._index)


class StepWatch:
    """Notices that the wall clock was set: it then differs otherwise from the monotonic one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.wall() - clock.monotonic()
        self.count = 0

    def look(self) -> float:
        """Return by how many seconds the clock was set since the last look; 0: it was not."""
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
        """Return how long to wait before the next attempt."""
        seconds = self._next_seconds
        self._next_seconds = min(2 * seconds, self._longest_seconds)
        return seconds

    def reset(self) -> None:
        """Begin anew: an attempt succeeded."""
        self._next_seconds = self._first_seconds
