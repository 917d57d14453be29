# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the load of one file system over a time span: its rates, servers and targets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any

from sqlalchemy import Connection

from stripewise.centre.database.queries._series import (
    IS_FAILED,
    KINDS,
    LOAD,
    METADATA,
    READ,
    TOTAL_BYTES,
    USED_BYTES,
    WRITE,
    Curve,
    Newest,
    StoragePart,
    available_means,
    available_resolution,
    curve,
    for_servers,
    for_targets,
    for_whole,
    resolution_for,
    width_for,
)
from stripewise.centre.database.queries._service import Service, finest_times, services
from stripewise.centre.database.queries._storage import parts_before, parts_in_service, parts_now
from stripewise.centre.database.store._samples import DAY
from stripewise.core.errors import UsageError

PERIODS = {"hour": 3600, "day": DAY, "week": 7 * DAY, "month": 30 * DAY, "year": 365 * DAY}
_COUNTERS = (READ, WRITE, METADATA, *KINDS)
_FINEST = {"hour": 60, "day": 60, "week": 3600, "month": 3600, "year": DAY}
SERVERS_SHOWN = 5
KINDS_SHOWN = 5
FEWEST_TARGETS = 5
"""Minimum number of targets for outliers to be reported."""
_FAR = 3.5
"""Distance from the median, in robust standard deviations, from which a target is an outlier.
Source: Iglewicz and Hoaglin, How to detect and handle outliers (1993), modified z-scores."""
_LEAST_FACTOR = 1.5
"""Minimum factor between an outlier and the median (chosen)."""
_NORMAL = 1.4826


@dataclass(frozen=True)
class LoadPeriod:
    """A time span of which the load is shown.

    Attributes:
        name: A key of `PERIODS`.
        since / until: Seconds since 1970.
        is_past: Whether it ends before now.
    """

    name: str
    since: int
    until: int
    is_past: bool = False

    @classmethod
    def of(cls, name: str, until: int | None, now: float) -> LoadPeriod:
        """Return a period by its name.

        Args:
            name: A key of `PERIODS`; "" for a day.
            until: End of the period; None for now.
            now: Current time, in seconds since 1970.

        Raises:
            UsageError: There is no such period.
        """
        name = name or "day"
        if name not in PERIODS:
            raise UsageError(f"period={name[:40]!r}: give one of {', '.join(PERIODS)}")
        end = int(now) if until is None else min(until, int(now))
        return cls(name, max(end - PERIODS[name], 0), end, until is not None and until < now)


@dataclass(frozen=True)
class TargetLoad:
    """Load of one target over a time span.

    Attributes:
        read / write / metadata: Mean rates; None if it does not count them, or reported nothing.
        share: Share of all bytes that targets moved.
        factor: Ratio of its bytes to the median of the targets that move bytes.
        is_outlier: Whether that factor is beyond the usual differences among targets.
        used / total: Present bytes.
        is_failed: Whether it has failed now; None if unknown.
        newest_at: End of the newest sample.
        operation_seconds: Mean time of an operation; None if not reported, or for too few
            operations.
    """

    server: str
    target: str
    read: float | None
    write: float | None
    metadata: float | None
    share: float | None
    factor: float | None
    is_outlier: bool
    used: float | None
    total: float | None
    is_failed: bool | None
    newest_at: float
    operation_seconds: float | None = None


@dataclass(frozen=True)
class FileSystemLoad:
    """Load of one file system over a time span.

    Attributes:
        width_seconds: Width of the intervals of the curves.
        server_width_seconds: Width of the intervals of the curves of servers.
        moments: Starts of the intervals of the curves.
        server_moments: Starts of the intervals for servers, which may have a coarser resolution.
        read / write / metadata: Rates of the whole file system.
        kinds: Metadata operations per second by kind, most frequent first.
        servers: Bytes per second by server, busiest first.
        loads: Level of load by server, for the same servers.
        targets: Loads of targets, outliers first, then the busiest.
        other_servers / other_kinds: Number of those that have no curve.
        newest_at: End of the newest sample; None if there has never been one.
    """

    width_seconds: int
    server_width_seconds: int
    moments: Sequence[int]
    server_moments: Sequence[int]
    read: Curve
    write: Curve
    metadata: Curve
    kinds: Mapping[str, Curve]
    servers: Mapping[str, Curve]
    loads: Mapping[str, Curve]
    targets: Sequence[TargetLoad]
    other_servers: int
    other_kinds: int
    newest_at: float | None


def view_load(
    connection: Connection, file_system_id: int, period: LoadPeriod, now: float
) -> FileSystemLoad:
    """Return the load of a file system over a time span."""
    serving, last = parts_in_service(connection, file_system_id)
    parts = parts_before(connection, file_system_id, serving)
    told_now = parts_now(serving, last)
    whole = {metric: for_whole(parts, metric) for metric in (READ, WRITE, METADATA)}
    # A target that moved has several series, of which only one at a time has roll-ups.
    most = max(len(for_whole(told_now, metric)) for metric in whole)
    since, until = period.since, period.until
    finest = resolution_for(_FINEST[period.name], most, since, until, now)
    of_whole = [*chain(*whole.values())]
    step = available_resolution(connection, of_whole, since, until, finest)
    width = width_for(connection, of_whole, step)
    counters = [one.id for one in parts if one.metric in _COUNTERS]
    number = sum(one.metric in _COUNTERS for one in told_now)
    coarse = resolution_for(step, number, since, until, now)
    mean = available_means(connection, counters, since, until, coarse)
    timed = max(coarse, finest_times(connection, file_system_id, since, until))
    times = services(connection, file_system_id, since - since % timed, until, timed)

    def drawn(ids: Sequence[int], step: int = step, width: int = width) -> Curve:
        return curve(connection, ids, since, until, step, width=width)

    kinds = _largest({kind: _ids(parts, kind) for kind in KINDS}, mean, KINDS_SHOWN)
    servers = for_servers(parts, READ)
    for server, ids in for_servers(parts, WRITE).items():
        servers[server] = [*servers.get(server, []), *ids]
    here = {one.server for one in parts if one.id in mean or one.id in last}
    servers = {server: ids for server, ids in servers.items() if server in here}
    busiest = _largest(servers, mean, SERVERS_SHOWN)
    loads = for_servers(parts, LOAD)
    of_servers = [*chain(*busiest.values())]
    slower = resolution_for(step, len(of_servers), since, until, now)
    slower = available_resolution(connection, of_servers, since, until, slower)
    wider = width_for(connection, of_servers, slower)
    return FileSystemLoad(
        width,
        wider,
        _moments(period, width),
        _moments(period, wider),
        drawn(whole[READ]),
        drawn(whole[WRITE]),
        drawn(whole[METADATA]),
        {kind: drawn(ids) for kind, ids in kinds.items()},
        {server: drawn(ids, slower, wider) for server, ids in busiest.items()},
        {server: drawn(loads[server], slower, wider) for server in busiest if server in loads},
        _targets(told_now, mean, last, times),
        len(servers) - len(busiest),
        len({one.metric for one in parts if one.metric in KINDS}) - len(kinds),
        max((one.end for one in last.values()), default=None),
    )


def _moments(period: LoadPeriod, step: int) -> Sequence[int]:
    return range(period.since - period.since % step, period.until, step)


def _ids(parts: Sequence[StoragePart], metric: str) -> list[int]:
    return for_whole([one for one in parts if one.metric == metric], metric)


def _largest(
    groups: Mapping[str, Sequence[int]], mean: Mapping[int, float], number: int
) -> dict[str, Sequence[int]]:
    """Return the groups of series with the largest sums of means."""
    sums = {name: sum(mean.get(one, 0.0) for one in ids) for name, ids in groups.items() if ids}
    chosen = sorted(sums, key=lambda name: (-sums[name], name))[:number]
    return {name: groups[name] for name in chosen}


def _targets(
    parts: Sequence[StoragePart],
    mean: Mapping[int, float],
    last: Mapping[int, Newest],
    times: Mapping[str, Service],
) -> list[TargetLoad]:
    by_metric = {metric: for_targets(parts, metric) for metric in (READ, WRITE, METADATA)}
    levels = {name: for_targets(parts, name) for name in (USED_BYTES, TOTAL_BYTES, IS_FAILED)}
    places = sorted({(one.server, one.target) for one in parts if one.target})
    rates = {
        place: (
            _total(by_metric[READ].get(place, ()), mean),
            _total(by_metric[WRITE].get(place, ()), mean),
            _total(by_metric[METADATA].get(place, ()), mean),
        )
        for place in places
    }
    moved = {place: _moved(read, write) for place, (read, write, _) in rates.items()}
    known = {place: value for place, value in moved.items() if value is not None}
    far, middle, whole = outliers(known), median(known.values() or [0.0]), sum(known.values())

    ends: dict[tuple[str, str], float] = {}
    for one in parts:
        key = (one.server, one.target)
        ends[key] = max(ends.get(key, 0.0), last[one.id].end)

    def level(metric: str, place: tuple[str, str]) -> float | None:
        return next((last[one].value for one in levels[metric].get(place, ())), None)

    found = []
    for place in places:
        bytes_now, failed = moved[place], level(IS_FAILED, place)
        found.append(
            TargetLoad(
                *place,
                *rates[place],
                None if bytes_now is None or not whole else bytes_now / whole,
                None if bytes_now is None or not middle else bytes_now / middle,
                place in far,
                level(USED_BYTES, place),
                level(TOTAL_BYTES, place),
                None if failed is None else failed > 0.5,
                ends[place],
                times.get(place[1], Service()).mean,
            )
        )
    return sorted(found, key=_rank)


def _rank(one: TargetLoad) -> tuple[bool, float, float, str]:
    return not one.is_outlier, -(one.share or 0.0), -(one.metadata or 0.0), one.target


def _total(ids: Sequence[int], mean: Mapping[int, float]) -> float | None:
    known = [mean[one] for one in ids if one in mean]
    return sum(known) if known else None


def _moved(read: float | None, write: float | None) -> float | None:
    return None if read is None and write is None else (read or 0.0) + (write or 0.0)


def outliers(rates: Mapping[Any, float]) -> set[Any]:
    """Return which rates are far from the median of all, beyond their usual differences.

    Ratios count, not differences: a target at a third of the usual rate is as far off as one at
    three times it. With fewer than `FEWEST_TARGETS` targets, the result is empty.
    """
    if len(rates) < FEWEST_TARGETS or median(rates.values()) <= 0:
        return set()
    middle = math.log(median(rates.values()))
    away = {
        name: abs(math.log(rate) - middle) if rate > 0 else math.inf
        for name, rate in rates.items()
    }
    spread = _NORMAL * median(away.values())
    least = max(_FAR * spread, math.log(_LEAST_FACTOR))
    return {name for name, far in away.items() if far > least}
