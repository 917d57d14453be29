# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time for the statistics database: it runs on, whatever the clock of the host does.  Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

JUMP_SECONDS = 30.0
"""A clock that is set forward by more is followed at once (chosen: less than an interval)."""
FAR_SECONDS = 3600.0
"""A clock that is set by more, either way, is not believed at once (chosen)."""
DOUBT_SECONDS = 600.0
"""So long it has to say the same (chosen: NTP corrects a clock within minutes of a start)."""
FORGET_SECONDS = 30 * 86400.0
"""What was counted longer ago is not counted from (chosen)."""
SLEW_SHARE = 0.05
"""Otherwise it is followed by at most so many seconds a second."""
_MOST_SPANS = 16


class SetBack(NamedTuple):
    """That time was set back: what was told before lies in the future.

    Attributes:
        at / seconds: When, by the time after it; by how much.
        begin / end: Between which times, in the future now, something was told.
    """

    at: float
    seconds: float
    begin: float
    end: float


class SinkClock:
    """The monotonic clock, and what it is in seconds since 1970.

    It begins with the time of the host, or with the end of what was told last if that is later,
    and runs with the monotonic clock; a difference to the time of the host is made up slowly.
    Only a clock that was set forward by far is followed at once: what is open then moves along.
    So time never goes back, and no two intervals overlap.

    A clock that is set by over an hour may be wrong for a moment: it is followed when it has said
    the same for ten minutes, and until then nothing is to be told.  If it was set back, the time
    here runs on, and what is told of it is `lead_seconds` earlier.  Nothing is told of a time
    twice: it is followed only to where nothing was told already.

    Attributes:
        lead_seconds: By how much this time is ahead of the one that is told.
        floor: What comes is told from here on.
        is_held: Nothing is to be told now.
    """

    def __init__(self, at: float, monotonic: float, least_at: float = 0.0) -> None:
        """Begin.

        Args:
            at: Time of the host, in seconds since 1970.
            monotonic: The same by the clock that never steps.
            least_at: The end of what was told last.
        """
        self._offset = max(at, least_at) - monotonic
        self._last = self._cut_at = monotonic
        self._doubt: tuple[float, float] | None = None
        self._begin = monotonic + self._offset
        self._spans: list[tuple[float, float]] = []
        self._set_back: list[SetBack] = []
        self._earlier = (-math.inf, 0)
        self.lead_seconds = 0
        self.floor = -math.inf
        self.is_held = False

    def note(self, at: float, monotonic: float) -> float:
        """Note what the clocks of the host say, and return by how much time was set forward."""
        before = self._offset
        passed = max(monotonic - self._last, 0.0)
        self._last = max(monotonic, self._last)
        behind = at + self.lead_seconds - monotonic - self._offset
        is_doubtful = self._is_doubtful(behind)
        if not is_doubtful:
            if abs(behind) > FAR_SECONDS:
                behind = self._step(at, behind)
            if JUMP_SECONDS < behind <= FAR_SECONDS:
                self._offset += behind
            else:
                most = SLEW_SHARE * passed
                slewed = max(-most, min(behind, most))
                self._offset += slewed
                before += slewed
        now = self._told_now()
        ends = [end for _, end in self._spans if end <= now]
        self.floor = max([*ends, self._begin]) + self.lead_seconds
        self.is_held = is_doubtful or any(begin <= now < end for begin, end in self._spans)
        return self._offset - before

    def _is_doubtful(self, behind: float) -> bool:
        """Whether the clock was set by far, and does not yet say so for long."""
        if abs(behind) <= FAR_SECONDS:
            self._doubt = None
            return False
        if self._doubt is None or abs(behind - self._doubt[1]) > FAR_SECONDS:
            self._doubt = self._last, behind
        return self._last - self._doubt[0] < DOUBT_SECONDS

    def _step(self, at: float, behind: float) -> float:
        """Go where the clock was set, or to what is free behind it; return what is left of it."""
        now = self._told_now()
        seconds = self._free_from(at, now) - now
        if abs(seconds) <= FAR_SECONDS:
            return behind
        self._spans = [*self._spans, (self._begin, now)][-_MOST_SPANS:]
        if seconds < 0:
            self._set_back.append(SetBack(now + seconds, -seconds, self._begin, now))
        moved = math.floor(seconds)
        less = min(moved, self.lead_seconds)
        self._earlier = (self._begin + self.lead_seconds, self.lead_seconds)
        self.lead_seconds -= less
        self._offset += moved - less
        self._begin = now + moved - (self._last - self._cut_at)  # what is open moves along
        self._doubt = None
        return 0.0

    def follow(self, at: float) -> None:
        """Go where the clock of the host was set, at once."""
        self._step(at, 0.0)

    def note_cut(self) -> None:
        """Note that all until now is told."""
        self._cut_at = self._last

    def _free_from(self, at: float, now: float) -> float:
        """Return the first time from a moment on of which nothing was told."""
        for begin, end in sorted([*self._spans, (self._begin, now)]):
            if begin <= at < end:
                at = end
        return at

    def _told_now(self) -> float:
        return self._last + self._offset - self.lead_seconds

    def set_back(self) -> list[SetBack]:
        """Return how time was set back since this was asked last."""
        found, self._set_back = self._set_back, []
        return found

    def lead_of(self, end: float) -> int:
        """Return how much earlier an interval is told that ended at a time of this clock."""
        begin, lead_seconds = self._earlier
        return self.lead_seconds if end >= begin else lead_seconds

    def wall(self, monotonic: float) -> float:
        """Return a moment in seconds since 1970."""
        return monotonic + self._offset

    def monotonic(self, wall: float) -> float:
        """Return a moment by the clock that never steps; it may be before the host began."""
        return wall - self._offset

    def memory(self) -> dict[str, Any]:
        """Return what the next agent has to know, as plain data."""
        begin, lead_seconds = self._earlier
        earlier = None if begin == -math.inf else [begin, lead_seconds]
        return {
            "lead": self.lead_seconds, "earlier": earlier,
            "begin": self._begin, "spans": self._spans,
        }  # fmt: skip

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from `memory`.

        Raises:
            ValueError: It is none.
            TypeError: The same.
        """
        self.lead_seconds = lead_of(memory)
        self._begin = float(memory.get("begin", self._begin))
        self._spans = [(float(begin), float(end)) for begin, end in memory.get("spans", ())]
        if memory.get("earlier") is not None:
            begin, lead_seconds = memory["earlier"]
            self._earlier = (float(begin), int(lead_seconds))


def lead_of(memory: Mapping[str, Any]) -> int:
    """Return by how much the clock of an agent that has ended was ahead of what it told."""
    return int(memory.get("lead", 0))


def was_set_right(at: float, told_at: float, memory: Mapping[str, Any]) -> bool:
    """Whether a clock that had been set back by far was set right while no agent ran.

    It may also be that nothing was monitored for over a month, by a clock that was wrong by as
    much: that is less likely, and then nothing could be counted from what was told last.

    Args:
        at: Time of the host, in seconds since 1970.
        told_at: When the agent before told last, by its clock.
        memory: Of that clock.
    """
    lead_seconds = lead_of(memory)
    return FORGET_SECONDS - lead_seconds < at - told_at <= FORGET_SECONDS
