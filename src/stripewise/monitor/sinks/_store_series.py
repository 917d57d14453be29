# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Series of targets for the statistics database: growth of counters, means of levels.  Pure.

What a counter grew in a pause becomes one sample as long as the pause; a level is not known
during one.  A target that was started again counts from zero, also if it has overtaken what it had
counted before; what it did since is of the time since.  One that comes from another server and was
started here while this server was monitored has told nothing of it yet: all of it is growth.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from stripewise.monitor.metrics import Kind, Metric, Reading, lustre
from stripewise.monitor.sinks._store_clock import FORGET_SECONDS, JUMP_SECONDS, SinkClock

DAY_SECONDS = 86400.0
"""Growth over a longer pause is not dated."""
_SERVED_SECONDS = 600.0
LARGEST = 1e100
"""Of a value; nor does NaN pass a comparison with it, and an integer fits no float far beyond."""
_SAME_START_SECONDS = 1.0
"""No target is stopped and started again in less (assumed)."""
_VERSION = 1
SeriesKey = tuple[str, str, str]
"""File system, target, name of the series."""


class Told(NamedTuple):
    """A sample of one series, or (with `value` None) a pause whose growth has no date."""

    key: SeriesKey
    unit: str
    is_counter: bool
    at: int
    seconds: float
    value: float | None


class _Series:
    """One series: its last reading, what is not told yet, what was told last."""

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

    def is_begun_anew(self, value: float, start: float | None) -> bool:
        """Whether a counter is not that of before, grown."""
        if value < self.value:
            return True
        if start is None or self.start is None:
            return False
        return abs(start - self.start) > _SAME_START_SECONDS


class SeriesBook:
    """All series of a server."""

    def __init__(self, interval_seconds: float, renamed: Mapping[str, str]) -> None:
        """Begin without any.

        Args:
            interval_seconds: Length of a sample.
            renamed: Names of file systems as servers have them -> as the database has them.
        """
        self._interval = interval_seconds
        self._renamed = renamed
        self._every: dict[SeriesKey, _Series] = {}
        self._served: dict[str, float] = {}
        self._began: float | None = None
        self._early: list[Told] = []

    def __len__(self) -> int:
        return len(self._every)

    def take(self, readings: Iterable[Reading], now: float, clock: SinkClock) -> None:
        """Take the readings of a round.

        Args:
            readings: In any order; of several of one series the first counts.
            now: When, by the monotonic clock.
            clock: What that is in seconds since 1970.
        """
        seen: set[SeriesKey] = set()
        self._began = now if self._began is None else self._began
        readings = list(readings)
        starts = {
            one.labels: value
            for one in readings
            if one.metric.name == lustre.TARGET_STARTED.name
            and (value := _number(one)) is not None
        }
        kept = [one for one in readings if one.metric.series]
        for reading in sorted(kept, key=_of_host):  # what is served is known by then
            value = _number(reading)
            if value is None:
                continue
            for key in self._keys(reading, now):
                if key not in seen:
                    seen.add(key)
                    start = starts.get(reading.labels)
                    self._note(key, reading.metric, value, now, clock, start)

    def _keys(self, reading: Reading, now: float) -> list[SeriesKey]:
        """Return the series of a reading; what tells of the host is of all that it serves."""
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
        else:  # nobody knows what it was meanwhile
            one.since, one.area, one.weight = now, 0.0, 0.0
        one.value, one.last, one.unit, one.is_restored = value, now, metric.unit, False
        one.start = one.start if start is None else start

    def _count_from_start(
        self, made: _Series, now: float, clock: SinkClock, start: float | None
    ) -> None:
        """Let all that a counter has be growth, if it began since this server is monitored."""
        if start is None or self._began is None:
            return
        began = clock.monotonic(start + clock.lead_seconds)
        if self._began < began <= now + JUMP_SECONDS:  # a clock may be followed as slowly
            made.since, made.growth, made.told_value = min(began, now), made.value, 0

    def _grow(
        self, key: SeriesKey, one: _Series, value: float, now: float, clock: SinkClock,
        start: float | None,
    ) -> None:  # fmt: skip
        """Add growth; that of a target that was away begins a sample of its own."""
        if not one.is_begun_anew(value, start):
            one.growth += value - one.value
            return
        began = one.last
        if start is not None:
            began = min(clock.monotonic(start + clock.lead_seconds), now)
        if began - one.last > self._interval:
            early = self._told(key, one, clock) if one.growth else None
            if one.is_restored and now - one.last > DAY_SECONDS:
                at, seconds = int(clock.wall(one.last)), now - one.last
                early = Told(key, one.unit, True, at, seconds, None)
            self._early += [early] if early is not None else []
            one.since = began
        one.growth += value

    def cut(self, clock: SinkClock) -> list[Told]:
        """Return the samples of all intervals that are over."""
        found, self._early = self._early, []
        for key, one in self._every.items():
            if one.last - one.since >= self._interval - 0.5:
                told = self._told(key, one, clock)
                if told is not None:
                    found.append(told)
        return found

    def _told(self, key: SeriesKey, one: _Series, clock: SinkClock) -> Told | None:
        begin = int(max(one.told_until, clock.wall(one.since), clock.floor))
        end = int(clock.wall(one.last))
        if end <= begin:
            return None
        value: float | None = one.growth if one.is_counter else one.area / (one.weight or 1.0)
        if one.is_counter and one.last - one.since > DAY_SECONDS:
            value = None
        one.since, one.growth, one.area, one.weight = one.last, 0, 0.0, 0.0
        one.told_value, one.told_start, one.told_until = one.value, one.start, float(end)
        return Told(key, one.unit, one.is_counter, begin, float(end - begin), value)

    def state(self) -> bytes:
        """Return what was told last, for the database."""
        rows = [
            [*key, one.unit, one.is_counter, one.told_value, one.told_until, one.told_start]
            for key, one in self._every.items()
        ]
        text = json.dumps({"version": _VERSION, "series": rows}, separators=(",", ":"))
        return zlib.compress(text.encode(), 1)

    def restore(self, data: bytes, clock: SinkClock, now: float) -> None:
        """Go on from a state.

        Raises:
            ValueError: It is damaged, or of a later version.
        """
        for *words, unit, is_counter, value, until, start in _rows(data):
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


def _of_host(reading: Reading) -> bool:
    return "fs" not in reading.metric.labels


def _rows(data: bytes) -> list[list[Any]]:
    try:
        found = json.loads(zlib.decompress(data))
        rows = [[*row, *[None][len(row) - 7 :]] for row in found["series"]]  # first had no start
        whole = all(
            len(row) == 8
            and isinstance(row[5], int | float)
            and (row[7] is None or isinstance(row[7], int | float))
            for row in rows
        )
    except (zlib.error, TypeError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"the stored state of series is damaged: {error}") from error
    if found["version"] != _VERSION or not whole:
        raise ValueError("the stored state of series is damaged, or of a later version")
    return rows
