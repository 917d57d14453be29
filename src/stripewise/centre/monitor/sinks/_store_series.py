# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes samples of targets from readings, on a time scale that ignores jumps of the clock.

The growth of a counter over a pause becomes one sample as long as the pause; a level is unknown
during a pause. A target that was restarted counts from zero, even if it has exceeded its previous
counts, and its counts belong to the time since. If a target comes from another server and was
started here while this server was monitored, nothing of it has been reported yet: all of it is
growth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Kind, Metric, Reading
from stripewise.centre.monitor.sinks._store_state import pack_rows, unpack_rows

DAY_SECONDS = 86400.0
"""Growth over a longer pause cannot be dated."""
_SERVED_SECONDS = 600.0
LARGEST = 1e100
"""Largest value; NaN also fails a comparison with it, as does an integer too large for a float."""
_SAME_START_SECONDS = 1.0
"""No target is stopped and restarted in less (assumed)."""
SeriesKey = tuple[str, str, str]
"""File system, target, name of the series."""


class SeriesSample(NamedTuple):
    """A sample of one series, or (if `value` is None) a pause whose growth cannot be dated."""

    key: SeriesKey
    unit: str
    is_counter: bool
    at: int
    seconds: float
    value: float | None


class _Series:
    """One series: its last reading, what has not been reported yet, and what was reported last."""

    __slots__ = (
        "area", "growth", "is_counter", "is_restored", "last", "since", "start", "told_start",
        "told_until", "told_value", "unit", "value", "weight",
    )  # fmt: skip

    def __init__(
        self, unit: str, is_counter: bool, value: float, last: float, start: float | None
    ) -> None:
        self.unit, self.is_counter = unit, is_counter
        self.value, self.last, self.since = value, last, last
        self.growth: float = 0
        self.area, self.weight = 0.0, 0.0
        self.start = self.told_start = start
        self.told_value, self.told_until = value, 0.0
        self.is_restored = False

    def was_reset(self, value: float, start: float | None) -> bool:
        """Return whether a counter cannot result from growth of the previous value."""
        if value < self.value:
            return True
        if start is None or self.start is None:
            return False
        return abs(start - self.start) > _SAME_START_SECONDS


class SeriesBook:
    """All series of a server."""

    def __init__(self, interval_seconds: float, renamed: Mapping[str, str]) -> None:
        """Start without any series.

        Args:
            interval_seconds: Length of a sample.
            renamed: Name in the database for each name of a file system on the servers.
        """
        self._interval = interval_seconds
        self._renamed = renamed
        self._every: dict[SeriesKey, _Series] = {}
        self._served: dict[str, float] = {}
        self._began: float | None = None
        self._early: list[SeriesSample] = []

    def __len__(self) -> int:
        return len(self._every)

    def take(self, readings: Iterable[Reading], now: float, clock: SinkClock) -> None:
        """Process the readings of a round.

        Args:
            readings: Readings in any order; of several for one series, the first counts.
            now: Time by the monotonic clock.
            clock: Converts it to seconds since 1970.
        """
        seen: set[SeriesKey] = set()
        self._began = now if self._began is None else self._began
        readings = list(readings)
        starts = {
            one.labels: value
            for one in readings
            if one.metric.name == metrics.TARGET_STARTED.name
            and (value := _number(one)) is not None
        }
        kept = [one for one in readings if one.metric.series]
        for reading in sorted(kept, key=_is_about_host):  # what is served is known by then
            value = _number(reading)
            if value is None:
                continue
            for key in self._keys(reading, now):
                if key not in seen:
                    seen.add(key)
                    start = starts.get(reading.labels)
                    self._note(key, reading.metric, value, now, clock, start)

    def _keys(self, reading: Reading, now: float) -> list[SeriesKey]:
        """Return the series of a reading; one of the host belongs to all targets it serves."""
        words = dict(zip(reading.metric.labels, reading.labels, strict=False))
        name = reading.metric.series
        if "fs" not in words:
            recent = now - _SERVED_SECONDS
            return [(fs, "", name) for fs, last in self._served.items() if last >= recent]
        file_system = self._renamed.get(words["fs"], words["fs"])
        if words.get("target"):
            self._served[file_system] = now
        return [(file_system, words.get("target", ""), name)]

    def _note(
        self, key: SeriesKey, metric: Metric, value: float, now: float, clock: SinkClock,
        start: float | None,
    ) -> None:  # fmt: skip
        one, is_counter = self._every.get(key), metric.kind is Kind.COUNTER
        if one is not None and now < one.last:
            return
        if one is None or one.is_counter != is_counter:
            self._every[key] = made = _Series(metric.unit, is_counter, value, now, start)
            if one is None and is_counter:
                self._count_from_start(made, now, clock, start)
            made.told_until = max(clock.wall(made.since), 0.0 if one is None else one.told_until)
            return
        passed = now - one.last
        if is_counter:
            self._grow(key, one, value, now, clock, start)
        elif passed <= 2 * self._interval:
            one.area += value * passed
            one.weight += passed
        else:  # its level in the meantime is unknown
            one.since, one.area, one.weight = now, 0.0, 0.0
        one.value, one.last, one.unit, one.is_restored = value, now, metric.unit, False
        one.start = one.start if start is None else start

    def _count_from_start(
        self, made: _Series, now: float, clock: SinkClock, start: float | None
    ) -> None:
        """Count the whole value of a counter as growth, if it began during the monitoring."""
        if start is None or self._began is None:
            return
        began = clock.monotonic(start + clock.lead_seconds)
        if self._began < began <= now + JUMP_SECONDS:  # a clock may be followed with such a delay
            made.since, made.growth, made.told_value = min(began, now), made.value, 0

    def _grow(
        self, key: SeriesKey, one: _Series, value: float, now: float, clock: SinkClock,
        start: float | None,
    ) -> None:  # fmt: skip
        """Add growth; that of a target that was away starts a sample of its own."""
        if not one.was_reset(value, start):
            one.growth += value - one.value
            return
        began = one.last
        if start is not None:
            began = min(clock.monotonic(start + clock.lead_seconds), now)
        if began - one.last > self._interval:
            early = self._sample(key, one, clock) if one.growth else None
            if one.is_restored and now - one.last > DAY_SECONDS:
                at, seconds = int(clock.wall(one.last)), now - one.last
                early = SeriesSample(key, one.unit, True, at, seconds, None)
            self._early += [early] if early is not None else []
            one.since = began
        one.growth += value

    def cut(self, clock: SinkClock) -> list[SeriesSample]:
        """Return the samples of all completed intervals."""
        found, self._early = self._early, []
        for key, one in self._every.items():
            if one.last - one.since >= self._interval - 0.5:
                sample = self._sample(key, one, clock)
                if sample is not None:
                    found.append(sample)
        return found

    def _sample(self, key: SeriesKey, one: _Series, clock: SinkClock) -> SeriesSample | None:
        begin = int(max(one.told_until, clock.wall(one.since), clock.floor))
        end = int(clock.wall(one.last))
        if end <= begin:
            return None
        value: float | None = one.growth if one.is_counter else one.area / (one.weight or 1.0)
        if one.is_counter and one.last - one.since > DAY_SECONDS:
            value = None
        one.since, one.growth, one.area, one.weight = one.last, 0, 0.0, 0.0
        one.told_value, one.told_start, one.told_until = one.value, one.start, float(end)
        return SeriesSample(key, one.unit, one.is_counter, begin, float(end - begin), value)

    def state(self) -> bytes:
        """Return what was reported last, for the database."""
        rows = [
            [*key, one.unit, one.is_counter, one.told_value, one.told_until, one.told_start]
            for key, one in self._every.items()
        ]
        return pack_rows(rows)

    def restore(self, data: bytes, clock: SinkClock, now: float) -> None:
        """Continue from a state.

        Raises:
            ValueError: It is damaged, or of a later version.
        """
        for *words, unit, is_counter, value, until, start in unpack_rows(data, "series"):
            age = clock.wall(now) - until
            if age > FORGET_SECONDS or age < -1.0:  # the clock was wrong by far
                continue
            last = min(clock.monotonic(until), now)
            one = _Series(str(unit), bool(is_counter), value, last, start)
            one.told_until, one.is_restored = float(until), True
            file_system, target, name = words
            self._every[str(file_system), str(target), str(name)] = one


def _number(reading: Reading) -> float | None:
    value = reading.value
    if not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return value


def _is_about_host(reading: Reading) -> bool:
    return "fs" not in reading.metric.labels


# Time for the statistics database, which runs on whatever the clock of the host does.

JUMP_SECONDS = 30.0
"""A clock that is set forward by more is followed at once (chosen: less than an interval)."""
FAR_SECONDS = 3600.0
"""A clock that is set by more, either way, is not trusted at once (chosen)."""
DOUBT_SECONDS = 600.0
"""Time for which it must be consistent (chosen: NTP corrects a clock soon after a start)."""
FORGET_SECONDS = 30 * 86400.0
"""Older counts are not a base for growth any more (chosen)."""
SLEW_SHARE = 0.05
"""Otherwise, the clock is followed by at most so many seconds a second."""
_MOST_SPANS = 16


class SetBack(NamedTuple):
    """A step back of time, after which earlier reports are in the future.

    Attributes:
        at / seconds: Time of the step, by the clock after it, and its size.
        begin / end: Future times between which something has been reported.
    """

    at: float
    seconds: float
    begin: float
    end: float


class SinkClock:
    """The monotonic clock, converted to seconds since 1970.

    It starts with the time of the host, or with the end of what was reported last if that is
    later, and runs with the monotonic clock; a difference to the time of the host is made up
    slowly. Only a clock that was set forward by far is followed at once: open intervals then move
    along. So time never goes back, and no two intervals overlap.

    A clock that is set by over an hour may be wrong for a moment: it is followed once it has been
    consistent for ten minutes, and until then nothing should be reported. If it was set back, the
    time here runs on, and is reported `lead_seconds` earlier. No time is reported twice: the clock
    is followed only to where nothing was reported already.

    Attributes:
        lead_seconds: How far this time is ahead of the reported one.
        floor: Time from which on new intervals are reported.
        is_held: Whether nothing should be reported now.
    """

    def __init__(self, at: float, monotonic: float, least_at: float = 0.0) -> None:
        """Start the clock.

        Args:
            at: Time of the host, in seconds since 1970.
            monotonic: The same moment by the monotonic clock.
            least_at: End of what was reported last.
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
        """Process the times of the host's clocks, and return by how much time was set forward."""
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
        now = self._now()
        ends = [end for _, end in self._spans if end <= now]
        self.floor = max([*ends, self._begin]) + self.lead_seconds
        self.is_held = is_doubtful or any(begin <= now < end for begin, end in self._spans)
        return self._offset - before

    def _is_doubtful(self, behind: float) -> bool:
        """Return whether the clock was set by far, and has not been consistent for long."""
        if abs(behind) <= FAR_SECONDS:
            self._doubt = None
            return False
        if self._doubt is None or abs(behind - self._doubt[1]) > FAR_SECONDS:
            self._doubt = self._last, behind
        return self._last - self._doubt[0] < DOUBT_SECONDS

    def _step(self, at: float, behind: float) -> float:
        """Step to the time of the clock, or to the free time after it; return the rest."""
        now = self._now()
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
        self._begin = now + moved - (self._last - self._cut_at)  # open intervals move along
        self._doubt = None
        return 0.0

    def follow(self, at: float) -> None:
        """Step to the time of the host's clock at once."""
        self._step(at, 0.0)

    def note_cut(self) -> None:
        """Record that everything until now has been reported."""
        self._cut_at = self._last

    def _free_from(self, at: float, now: float) -> float:
        """Return the first moment, from a given one on, for which nothing was reported."""
        for begin, end in sorted([*self._spans, (self._begin, now)]):
            if begin <= at < end:
                at = end
        return at

    def _now(self) -> float:
        return self._last + self._offset - self.lead_seconds

    def set_back(self) -> list[SetBack]:
        """Return the steps back of time since the last call."""
        found, self._set_back = self._set_back, []
        return found

    def target_of_move(self, end: float) -> int:
        """Return how much earlier an interval is reported that ended at a time of this clock."""
        begin, lead_seconds = self._earlier
        return self.lead_seconds if end >= begin else lead_seconds

    def wall(self, monotonic: float) -> float:
        """Convert a time of the monotonic clock to seconds since 1970."""
        return monotonic + self._offset

    def monotonic(self, wall: float) -> float:
        """Convert to the monotonic clock; the result may be before the start of the host."""
        return wall - self._offset

    def memory(self) -> dict[str, Any]:
        """Return what the next agent must know, as plain data."""
        begin, lead_seconds = self._earlier
        earlier = None if begin == -math.inf else [begin, lead_seconds]
        return {
            "lead": self.lead_seconds, "earlier": earlier,
            "begin": self._begin, "spans": self._spans,
        }  # fmt: skip

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Continue from a `memory`.

        Raises:
            ValueError: The data are not such a memory.
            TypeError: The data are not such a memory.
        """
        self.lead_seconds = target_of_move(memory)
        self._begin = float(memory.get("begin", self._begin))
        self._spans = [(float(begin), float(end)) for begin, end in memory.get("spans", ())]
        if memory.get("earlier") is not None:
            begin, lead_seconds = memory["earlier"]
            self._earlier = (float(begin), int(lead_seconds))


def target_of_move(memory: Mapping[str, Any]) -> int:
    """Return how far the clock of an agent that has ended was ahead of its reported times."""
    return int(memory.get("lead", 0))


def was_set_right(at: float, told_at: float, memory: Mapping[str, Any]) -> bool:
    """Return whether a clock that had been set back by far was corrected while no agent ran.

    It may also be that nothing was monitored for over a month, by a clock that was wrong by as
    much. That is less likely, and then nothing could be computed from the last reports.

    Args:
        at: Time of the host, in seconds since 1970.
        told_at: Time of the previous agent's last report, by its clock.
        memory: Memory of that agent's clock.
    """
    lead_seconds = target_of_move(memory)
    return FORGET_SECONDS - lead_seconds < at - told_at <= FORGET_SECONDS
