# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the demo's servers counted: the I/O of its jobs, and some of others (assumed)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.centre.database._records import EventRecord, SampleRecord
from synthetic_centre._behaviour import TARGETS
from synthetic_centre._run import Ran
from synthetic_centre._weather import (
    DAY,
    HOME,
    HOUR,
    MINUTE,
    SCRATCH,
    SLOW_TARGET,
    Weather,
)

SAMPLED_DAYS = 14
_OTHERS = {"read_bytes": 2e8, "write_bytes": 1.2e8, "metadata_operations": 900.0}
"""A second, by logins, transfers and jobs of no cluster here (assumed)."""
_HOME_SHARE = 0.02
SERVICE_DAYS, SERVICE_HOURS = 42, 6
_REQUEST_BYTES, _REQUEST_SECONDS, _SLOW_FACTOR = 1 << 20, 0.006, 7.0
"""Of reads and writes at a target (assumed)."""
_CLEAN_UP_HOURS = 45 * 24
_SIZE = {SCRATCH: 2.0e15, HOME: 2.0e14}
_ADVICE = (
    "Stripe files that many ranks write over 8 targets: lfs setstripe -c 8 DIR. (synthetic)",
    "Files on scratch that were not read for 60 days are removed. (synthetic)",
    "Keep small files that every rank reads off scratch: use sbcast. (synthetic)",
)
Values = NDArray[np.float64]


@dataclass(frozen=True)
class History:
    """One series over the year.

    Attributes:
        series: With samples of the last days, or without any.
        rollups: Rows of `tables.Rollup`, without their series.
    """

    series: SampleRecord
    rollups: list[dict[str, Any]]


class Servers:
    """The series of both file systems."""

    def __init__(self, seed: int, weather: Weather, jobs: Sequence[Ran]) -> None:
        self._random = np.random.default_rng([seed, 4])
        self._weather = weather
        self._hours = weather.hours()
        self._first_minute = weather.until // HOUR * HOUR - SAMPLED_DAYS * DAY
        last = weather.until // MINUTE * MINUTE
        self._minutes = np.arange(self._first_minute, last, MINUTE)
        self._seconds = np.minimum(float(HOUR), last - self._hours.astype(np.float64))
        self._jobs = _Traffic(jobs, weather.until)

    def histories(self) -> Iterator[History]:
        """Yield each series."""
        for metric, unit in (
            ("read_bytes", "bytes"), ("write_bytes", "bytes"),
            ("metadata_operations", "operations"),
        ):  # fmt: skip
            others = self._others(metric)
            hours = self._jobs_rates(metric, self._hours, HOUR) + others
            recent = np.repeat(others[self._hours >= self._first_minute], HOUR // MINUTE)
            minutes = self._jobs_rates(metric, self._minutes, MINUTE)
            flicker = np.exp(self._random.normal(0.0, 0.1, len(minutes)))
            minutes += recent[: len(minutes)] * flicker
            for name, share in ((SCRATCH, 1.0), (HOME, _HOME_SHARE)):
                yield self._sampled(name, metric, unit, share * minutes, share * hours)
            if unit == "bytes":
                yield from self._targets(metric, hours)
            if metric == "read_bytes":
                yield from self._services(hours, minutes)
        for name in (SCRATCH, HOME):
            yield from self._filled(name)

    def _jobs_rates(self, metric: str, moments: NDArray[np.int64], step: int) -> Values:
        """(n,) a second, of each interval, by all jobs."""
        edges = np.append(moments, moments[-1] + step).astype(np.float64)
        return np.asarray(np.diff(self._jobs.moved_until(metric, edges)) / step)

    def _others(self, metric: str) -> Values:
        """(n,) a second, of each hour, by what is no job here."""
        busy = np.array([self._weather.business(int(at)) for at in self._hours])
        noise = np.exp(self._random.normal(0.0, 0.25, len(self._hours)))
        return np.asarray(_OTHERS[metric] * busy * noise)

    def _sampled(
        self, name: str, metric: str, unit: str, minutes: Values, hours: Values
    ) -> History:
        """Return a series of a whole file system: samples of the last days, then older hours."""
        hours = hours.copy()
        recent = self._hours >= self._first_minute
        begin = np.arange(0, len(minutes), HOUR // MINUTE)
        hours[recent] = np.add.reduceat(minutes, begin) * MINUTE / self._seconds[recent]
        low, high = 0.4 * hours, 1.9 * hours
        low[recent] = np.minimum.reduceat(minutes, begin)
        high[recent] = np.maximum.reduceat(minutes, begin)
        values = tuple(
            (at, float(MINUTE), value)
            for at, value in zip(self._minutes.tolist(), (minutes * MINUTE).tolist(), strict=True)
        )
        rows = _rows(self._minutes, MINUTE, minutes, minutes, minutes)
        rows += self._of_hours(hours, low, high)
        return History(SampleRecord(name, "", "", metric, unit, True, values), rows)

    def _targets(self, metric: str, hours: Values) -> Iterator[History]:
        """Yield hours of each target; one is slow for a while, others have a gap."""
        weights = self._random.dirichlet(np.full(TARGETS, 60.0))
        for target in range(TARGETS):
            server = "oss1" if target < TARGETS // 2 else "oss2"
            noise = np.exp(self._random.normal(0.0, 0.1, len(hours)))
            mine = hours * weights[target] * noise
            covered = self._seconds.copy()
            for one in self._weather.incidents:
                during = (self._hours >= one.at) & (self._hours < one.until)
                if one.kind == "target slow" and target == SLOW_TARGET:
                    mine[during] *= 0.3
                if one.kind == "failover" and server == "oss2":
                    covered[during] = 0.0  # nobody counted
            rows = self._of_hours(mine, 0.4 * mine, 1.9 * mine, covered)
            name = f"OST{target:04d}"
            yield History(SampleRecord(SCRATCH, server, name, metric, "bytes", True, ()), rows)

    def _services(self, hours: Values, minutes: Values) -> Iterator[History]:
        """Yield how many reads and writes each target served, and in which time, of late."""
        late = self._hours >= self._hours[-1] - SERVICE_DAYS * DAY
        now = self._minutes >= self._minutes[-1] - SERVICE_HOURS * HOUR
        for target in range(TARGETS):
            given = []
            for moments, rates in ((self._hours[late], hours[late]),
                                   (self._minutes[now], minutes[now])):  # fmt: skip
                number = rates / TARGETS / _REQUEST_BYTES
                noise = np.exp(self._random.normal(0.0, 0.05, len(moments)))
                given.append((number, number * noise * self._request_seconds(target, moments)))
            server = "oss1" if target < TARGETS // 2 else "oss2"
            for place, (metric, unit) in enumerate(
                (("service_operations", "operations"), ("service_seconds", "seconds"))
            ):
                mine, seconds = given[0][place], self._seconds[late]
                rows = _as_rows(self._hours[late], HOUR, seconds, mine * seconds, mine, mine)
                recent = given[1][place]
                rows += _rows(self._minutes[now], MINUTE, recent, recent, recent)
                named = (SCRATCH, server, f"OST{target:04d}")
                yield History(SampleRecord(*named, metric, unit, True, ()), rows)

    def _request_seconds(self, target: int, moments: NDArray[np.int64]) -> Values:
        """(n,) time that a target takes for a request: long while it rebuilds a disk."""
        found = np.full(len(moments), _REQUEST_SECONDS)
        for one in self._weather.incidents:
            if one.kind == "target slow" and target == SLOW_TARGET:
                found[(moments >= one.at) & (moments < one.until)] *= _SLOW_FACTOR
        return found

    def _filled(self, name: str) -> Iterator[History]:
        """Yield what is stored and what there is room for: it grows, and is cleaned up."""
        size, n = _SIZE[name], len(self._hours)
        since_clean_up = np.arange(n) % _CLEAN_UP_HOURS / _CLEAN_UP_HOURS
        level = 0.56 + 0.24 * np.arange(n) / n + 0.05 * since_clean_up
        for metric, values in (("used_bytes", level * size), ("total_bytes", np.full(n, size))):
            record = SampleRecord(name, "", "", metric, "bytes", False, ())
            yield History(record, self._of_hours(values, values, values))

    def _of_hours(
        self, rates: Values, low: Values, high: Values, covered: Values | None = None
    ) -> list[dict[str, Any]]:
        """Return roll-ups of hours and of days; an hour that is not covered has none."""
        seconds = self._seconds if covered is None else covered
        known = seconds > 0
        moved = rates[known] * seconds[known]
        rows = _as_rows(self._hours[known], HOUR, seconds[known], moved, low[known], high[known])
        days = self._hours[known] // DAY * DAY
        starts, place = np.unique(days, return_index=True)
        total = np.add.reduceat(moved, place)
        parts = (
            np.add.reduceat(seconds[known], place), total,
            np.minimum.reduceat(low[known], place), np.maximum.reduceat(high[known], place),
        )  # fmt: skip
        return rows + _as_rows(starts, DAY, *parts)


class _Traffic:
    """What all jobs together had moved at a moment, if each moves evenly."""

    def __init__(self, jobs: Sequence[Ran], until: int) -> None:
        ran = [one for one in jobs if one.job.start_at is not None]
        starts = [float(one.job.start_at or 0) for one in ran]
        self._start = np.array(starts)
        self._end = np.array([float(one.job.end_at or until) for one in ran])
        self._end = np.maximum(self._end, self._start + 1.0)
        self._amount = {
            "read_bytes": np.array([float(one.read_bytes) for one in ran]),
            "write_bytes": np.array([float(one.write_bytes) for one in ran]),
            "metadata_operations": np.array([float(one.meta_operations) for one in ran]),
        }

    def moved_until(self, metric: str, moments: Values) -> Values:
        """(n,) amount that was moved before each moment: slopes begin and end with jobs."""
        slope = self._amount[metric] / (self._end - self._start)
        bends = np.concatenate([self._start, self._end])
        changes = np.concatenate([slope, -slope])
        order = np.argsort(bends, kind="stable")
        bends, slopes = bends[order], np.cumsum(changes[order])
        reached = np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(bends))])
        return np.asarray(np.interp(moments, bends, reached))


def _rows(
    moments: NDArray[np.int64], seconds: int, rates: Values, low: Values, high: Values
) -> list[dict[str, Any]]:
    covered = np.full(len(moments), float(seconds))
    return _as_rows(moments, seconds, covered, rates * seconds, low, high)


def _as_rows(
    moments: NDArray[np.int64], seconds: int, covered: Values, total: Values, low: Values,
    high: Values,
) -> list[dict[str, Any]]:  # fmt: skip
    columns = (moments, covered, total, low, high)
    names = ("at", "covered_seconds", "total", "low", "high")
    return [
        {"resolution_seconds": seconds, **dict(zip(names, row, strict=True))}
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def events(weather: Weather) -> Iterator[EventRecord]:
    """Yield what happened, and advice of the site."""
    for one in weather.incidents:
        if one.at < weather.until:
            yield EventRecord(SCRATCH, one.at, one.until, one.kind, one.text)
    for number, text in enumerate(_ADVICE):
        yield EventRecord(SCRATCH, weather.start + number * 90 * DAY, None, "advice", text)
