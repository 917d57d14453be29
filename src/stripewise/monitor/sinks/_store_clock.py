# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time for the statistics database: it runs on, whatever the clock of the host does.  Pure."""

from __future__ import annotations

JUMP_SECONDS = 30.0
"""A clock that is set forward by more is followed at once (chosen: less than an interval)."""
SLEW_SHARE = 0.05
"""Otherwise it is followed by at most so many seconds a second."""


class SinkClock:
    """The monotonic clock, and what it is in seconds since 1970.

    It begins with the time of the host, or with the end of what was told last if that is later,
    and runs with the monotonic clock; a difference to the time of the host is made up slowly.
    Only a clock that was set forward by far is followed at once: what is open then moves along.
    So time never goes back, and no two intervals overlap.
    """

    def __init__(self, at: float, monotonic: float, least_at: float = 0.0) -> None:
        """Begin.

        Args:
            at: Time of the host, in seconds since 1970.
            monotonic: The same by the clock that never steps.
            least_at: The end of what was told last.
        """
        self._offset = max(at, least_at) - monotonic
        self._last = monotonic

    def note(self, at: float, monotonic: float) -> None:
        """Note what the clocks of the host say."""
        passed = max(monotonic - self._last, 0.0)
        self._last = max(monotonic, self._last)
        behind = at - monotonic - self._offset
        if behind <= JUMP_SECONDS:
            most = SLEW_SHARE * passed
            behind = max(-most, min(behind, most))
        self._offset += behind

    def wall(self, monotonic: float) -> float:
        """Return a moment in seconds since 1970."""
        return monotonic + self._offset

    def monotonic(self, wall: float) -> float:
        """Return a moment by the clock that never steps; it may be before the host began."""
        return wall - self._offset
