# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the present state of file systems: health, space, rates, events, and advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select

from stripewise.centre.database.queries._benchmarks import newest_benchmark
from stripewise.centre.database.queries._filters import JobFilter
from stripewise.centre.database.queries._paging import Listing, Order, page
from stripewise.centre.database.queries._patterns import briefly
from stripewise.centre.database.queries._series import (
    ADVICE,
    ENOUGH,
    IS_FAILED,
    IS_SLOW,
    METADATA,
    METRICS,
    READ,
    RETIRED_SECONDS,
    TOTAL_BYTES,
    TOTAL_FILES,
    USED_BYTES,
    USED_FILES,
    WRITE,
    Newest,
    StoragePart,
    curve,
    for_whole,
    means,
    newest,
    parts_of,
    resolution_for,
    width_for,
)
from stripewise.centre.database.queries._service import (
    Service,
    SlowTarget,
    can_compare,
    services,
    slow_among,
)
from stripewise.centre.database.store._samples import DAY
from stripewise.centre.database.tables._storage import Event, FileSystem

STALE_SECONDS = 900
"""Age beyond which samples do not show the present state of a file system (chosen: three times
five minutes, the usual interval of monitors)."""
NOW_SECONDS = 300
"""Time before the newest sample over which the present rate is averaged."""
BEFORE_SECONDS = 28 * DAY
"""Time with which rates are compared, and over which growth is measured."""
WEEK = 7 * DAY
_FEWEST_DAYS = 7
FORECAST_DAYS = 21
"""Days that must be known before it is said when something is full: one week's growth, or that of
a campaign, says nothing about the next months (chosen).
"""
_FURTHEST = 10 * 365 * DAY


@dataclass(frozen=True)
class Space:
    """How full something is, in bytes or in inodes.

    Attributes:
        used / total: Used and total amount; None if unknown.
        weekly: Growth per week over the last four weeks (median of the slopes of all pairs of
            days, Theil 1950 and Sen 1968); None if less than a week is known.
        days: Number of days whose level is known.
        full_at: When it will be full at that rate; None if not within ten years, or if less than
            three weeks are known or it is not certain that it grows.
        full_from / full_until: Interval of that moment at 95 %, from the interval of the slope
            (Sen 1968) if the growth goes on; `full_until` None if not within ten years.
    """

    used: float | None = None
    total: float | None = None
    weekly: float | None = None
    days: int = 0
    full_at: float | None = None
    full_from: float | None = None
    full_until: float | None = None

    @property
    def share(self) -> float | None:
        """Used share of the total."""
        return None if self.used is None or not self.total else self.used / self.total


@dataclass(frozen=True)
class Rate:
    """The present rate, and the greatest one of the last four weeks.

    Attributes:
        now: Present rate; None if unknown.
        greatest: Mean rate of the busiest interval.
        resolution_seconds: Length of that interval.
    """

    now: float | None = None
    greatest: float | None = None
    resolution_seconds: int = 3600

    @property
    def share(self) -> float | None:
        """Ratio of the present rate to the greatest one."""
        return None if self.now is None or not self.greatest else self.now / self.greatest


@dataclass(frozen=True)
class FileSystemState:
    """Present state of one file system.

    Attributes:
        newest_at: End of the newest sample; None if there has never been one.
        is_stale: Whether that is too old to judge the present state, or its clock is wrong.
        targets: Number of known targets.
        failed / slow: Names of targets; None if no series reports it, or samples are too old. Slow
            targets are those that the monitor reports; if it reports none, those with long
            operation times.
        slow_seconds: Operation time of slow targets and of the others, by name.
        silent: Names of targets without samples while others have some.
        events: (kind, text) of open events, without advice.
        read / write / metadata: Present rates.
        space / files: How full it is.
        benchmark: Time of the newest campaign of benchmarks, and whether it is emulated.
    """

    id: int
    name: str
    newest_at: float | None = None
    is_stale: bool = True
    targets: int = 0
    failed: Sequence[str] | None = None
    slow: Sequence[str] | None = None
    silent: Sequence[str] = ()
    events: Sequence[tuple[str, str]] = ()
    read: Rate = field(default_factory=Rate)
    write: Rate = field(default_factory=Rate)
    metadata: Rate = field(default_factory=Rate)
    space: Space = field(default_factory=Space)
    files: Space = field(default_factory=Space)
    benchmark: tuple[int, bool] | None = None
    slow_seconds: Mapping[str, SlowTarget] = field(default_factory=dict)


def find_file_system(connection: Connection, name: str) -> int | None:
    """Return the key of a file system, or None if there is none of this name."""
    return connection.scalar(select(FileSystem.id).where(FileSystem.name == name))


def view_names(connection: Connection) -> list[str]:
    """Return the names of all file systems."""
    return list(connection.scalars(select(FileSystem.name).order_by(FileSystem.name)))


def view_storage(
    connection: Connection, now: float, *, compares: bool = True
) -> list[FileSystemState]:
    """Return all file systems, by name.

    Args:
        connection: Connection to the database.
        now: Current time, in seconds since 1970.
        compares: Whether rates are compared with the busiest before, which takes longest.
    """

    def find() -> list[FileSystemState]:
        query = select(FileSystem.id, FileSystem.name).order_by(FileSystem.name)
        found = connection.execute(query).all()
        return [_state(connection, row.id, row.name, now, compares) for row in found]

    return list(briefly(connection, ("storage", int(now), compares), find))


def _state(
    connection: Connection, key: int, name: str, now: float, compares: bool
) -> FileSystemState:
    parts, last = parts_in_service(connection, key)
    newest_at = max((one.end for one in last.values()), default=None)
    is_stale = newest_at is None or abs(now - newest_at) > STALE_SECONDS
    targets = {one.target for one in parts if one.target}
    parts_in_use = parts_now(parts, last)
    drawn = parts_before(connection, key, parts)

    times = {} if newest_at is None else _times(connection, key, int(newest_at))
    slow = {one.target: one for one in slow_among(times)}
    flagged = None if is_stale else _flagged(parts_in_use, last, IS_SLOW, newest_at)
    if flagged is None and not is_stale and can_compare(times):
        flagged = sorted(slow)

    def rate(metric: str) -> Rate:
        ids, ids_now, current = for_whole(drawn, metric), for_whole(parts_in_use, metric), None
        if newest_at is not None and not is_stale:
            current = _current(connection, ids_now, int(newest_at))
        before = _busiest(connection, ids, len(ids_now), now) if compares else Rate()
        return replace(before, now=current)

    return FileSystemState(
        key,
        name,
        newest_at,
        is_stale,
        len(targets),
        None if is_stale else _flagged(parts_in_use, last, IS_FAILED, newest_at),
        flagged,
        () if newest_at is None else _silent(parts_in_use, last, newest_at),
        open_events(connection, key, now),
        rate(READ),
        rate(WRITE),
        rate(METADATA),
        _space(connection, (drawn, parts_in_use), (USED_BYTES, TOTAL_BYTES), last, now),
        _space(connection, (drawn, parts_in_use), (USED_FILES, TOTAL_FILES), last, now),
        newest_benchmark(connection, name),
        {target: slow[target] for target in flagged or () if target in slow},
    )


def _times(connection: Connection, key: int, newest_at: int) -> dict[str, Service]:
    """Return how long operations of each target took lately."""
    first = newest_at - STALE_SECONDS
    return services(connection, key, first - first % 60, newest_at + 60, 60)


def parts_in_service(
    connection: Connection, key: int
) -> tuple[list[StoragePart], dict[int, Newest]]:
    """Return the series of a file system that are in service, and the newest roll-up of each."""
    parts = parts_of(connection, key, METRICS)
    last = newest(connection, [one.id for one in parts])
    begin = max((one.end for one in last.values()), default=0.0) - RETIRED_SECONDS
    last = {key: one for key, one in last.items() if one.end > begin}
    return [one for one in parts if one.id in last], last


def parts_now(parts: Sequence[StoragePart], last: Mapping[int, Newest]) -> list[StoragePart]:
    """Return series without those of targets that another server has reported since.

    The former server keeps reporting that the target is gone: that is as old as its other samples.
    """
    there: dict[tuple[str, str], float] = {}
    for one in parts:
        if one.metric != IS_FAILED:
            place = (one.server, one.target)
            there[place] = max(there.get(place, 0.0), last[one.id].end)

    def last_report(one: StoragePart) -> tuple[float, str]:
        newest = last[one.id]
        is_gone = one.metric == IS_FAILED and newest.value > 0.5
        place = (one.server, one.target)
        return there.get(place, newest.end) if is_gone else newest.end, one.server

    ends: dict[tuple[str, str], tuple[float, str]] = {}
    for one in parts:
        key = (one.target, one.metric)
        ends[key] = max(ends.get(key, (0.0, "")), last_report(one))
    return [
        one for one in parts
        if not one.target or ends[one.target, one.metric][1] == one.server
    ]  # fmt: skip


def parts_before(
    connection: Connection, key: int, parts: Sequence[StoragePart]
) -> list[StoragePart]:
    """Return series in service, and those of the same targets at their former servers."""
    known = {one.id for one in parts}
    there = {(one.target, one.metric) for one in parts if one.target}
    return [
        one for one in parts_of(connection, key, METRICS)
        if one.id in known or (one.target, one.metric) in there
    ]  # fmt: skip


def open_events(connection: Connection, key: int, now: float) -> list[tuple[str, str]]:
    """Return (kind, text) of events that are open now, without advice, newest first."""
    query = select(Event.kind, Event.text).where(
        Event.kind != ADVICE, *_events_of(key), *_are_open(now)
    )
    query = query.order_by(Event.at.desc()).limit(50)
    return [(kind, text) for kind, text in connection.execute(query)]


def _flagged(
    parts: Sequence[StoragePart], last: dict[int, Newest], metric: str, newest_at: float | None
) -> list[str] | None:
    """Return the targets whose level is 1, or None if no target reports one now."""
    levels = {
        one.target: last[one.id].value
        for one in parts
        if one.metric == metric and one.id in last and not _is_late(last[one.id], newest_at)
    }
    return sorted(target for target, level in levels.items() if level > 0.5) if levels else None


def _silent(parts: Sequence[StoragePart], last: dict[int, Newest], newest_at: float) -> list[str]:
    heard = {
        one.target for one in parts if one.id in last and not _is_late(last[one.id], newest_at)
    }
    return sorted({one.target for one in parts if one.target} - heard)


def _is_late(one: Newest, newest_at: float | None) -> bool:
    return newest_at is None or newest_at - one.end > STALE_SECONDS


def _busiest(connection: Connection, ids: Sequence[int], number: int, now: float) -> Rate:
    """Return the greatest rate of some series together, over hours if those are not too many.

    `number` is the number of series that have roll-ups at the same time.
    """
    until, since = int(now) + 1, int(now) - BEFORE_SECONDS
    resolution = resolution_for(3600, number, since, until, now)
    before = curve(connection, ids, since, until, resolution)
    return Rate(None, max(before.values.values(), default=None), resolution)


def _current(connection: Connection, ids: Sequence[int], newest_at: int) -> float | None:
    """Return the sum of the rates over the last minutes, or None if too few series reported."""
    seconds = max(NOW_SECONDS, width_for(connection, ids, 60))
    each = means(connection, ids, newest_at - seconds, newest_at + 60, 60)
    return sum(each.values()) if each and len(each) >= ENOUGH * len(ids) else None


def _space(
    connection: Connection,
    parts: tuple[Sequence[StoragePart], Sequence[StoragePart]],
    metrics: tuple[str, str],
    last: dict[int, Newest],
    now: float,
) -> Space:
    """Return how full it is; `parts` has the series of all times, and those in service now."""
    used, total = (_sum(for_whole(parts[1], metric), last) for metric in metrics)
    ids = for_whole(parts[0], metrics[0])
    today = int(now) - int(now) % DAY
    days = curve(connection, ids, today - BEFORE_SECONDS, today, DAY, enough=1.0)
    slopes = _slopes(days.values)
    weekly = growth(days.values)
    found = Space(used, total, weekly, len(days.values))
    if weekly is None or used is None or total is None or len(days.values) < FORECAST_DAYS:
        return found
    low, high = _slope_interval(slopes, len(days.values))
    if low <= 0 or weekly <= 0:
        return found
    left = max(total - used, 0.0)
    ends = (left / slope for slope in (weekly / WEEK, high, low))
    at, first, until = (now + end if end < _FURTHEST else None for end in ends)
    return replace(found, full_at=at, full_from=first, full_until=until)


def _sum(ids: Sequence[int], last: dict[int, Newest]) -> float | None:
    """Return the sum of the newest levels, or None if one of them is unknown."""
    if not ids or any(one not in last for one in ids):
        return None
    return sum(last[one].value for one in ids)


def growth(days: Mapping[int, float]) -> float | None:
    """Return the weekly growth of levels by moment, or None if they span less than a week."""
    if len(days) < _FEWEST_DAYS or max(days) - min(days) < WEEK:
        return None
    return median(_slopes(days)) * WEEK


def _slopes(days: Mapping[int, float]) -> list[float]:
    """Return the slopes between all pairs of days, per second, the smallest first."""
    points = sorted(days.items())
    return sorted(
        (late - early) / (end - begin)
        for place, (begin, early) in enumerate(points)
        for end, late in points[place + 1 :]
    )


def _slope_interval(slopes: Sequence[float], number: int) -> tuple[float, float]:
    """Return the interval of the median slope at 95 %, by Kendall's statistic (Sen 1968)."""
    reach = 1.96 * math.sqrt(number * (number - 1) * (2 * number + 5) / 18)
    low = max(round((len(slopes) - reach) / 2), 0)
    high = min(round((len(slopes) + reach) / 2), len(slopes) - 1)
    return slopes[low], slopes[high]


# Events of the storage, and advice of the site.


@dataclass(frozen=True)
class EventFilter:
    """Conditions on events; a field that is "" or None sets no condition.

    Attributes:
        file_system: Name of the file system; events of all file systems are listed as well.
        kind: Kind of event, such as "outage".
        since / until: Time span that the events overlap.
    """

    file_system: str = ""
    kind: str = ""
    since: int | None = None
    until: int | None = None

    @classmethod
    def parse(cls, words: Mapping[str, str]) -> EventFilter:
        """Return the filter that the parameters of a URL define.

        Raises:
            UsageError: A value cannot be used.
        """
        times = JobFilter.parse({key: words.get(key, "") for key in ("since", "until")})
        return cls(
            words.get("file_system", "").strip(), words.get("kind", "").strip(), times.since,
            times.until,
        )  # fmt: skip


def list_events(
    connection: Connection, event_filter: EventFilter, *, after: str = "", limit: int = 50
) -> Listing:
    """Return one page of events, newest first.

    Raises:
        UsageError: The cursor cannot be used.
    """
    query = _events()
    if event_filter.file_system:
        query = query.where(
            or_(FileSystem.name == event_filter.file_system, Event.file_system_id.is_(None))
        )
    if event_filter.kind:
        query = query.where(Event.kind == event_filter.kind)
    query = query.where(*_touch(event_filter.since, event_filter.until))
    return page(connection, query, Order(Event.at, Event.id), after, limit)


def kinds_of_events(connection: Connection) -> list[str]:
    """Return the kinds of events that occur."""
    return list(connection.scalars(select(Event.kind).distinct().order_by(Event.kind).limit(50)))


def advice_now(connection: Connection, now: float) -> list[str]:
    """Return the advice of the site that applies now, newest first."""
    query = select(Event.text).where(Event.kind == ADVICE, *_are_open(now))
    query = query.order_by(Event.at.desc(), Event.id.desc()).limit(100)
    return list(connection.scalars(query))


def events_within(
    connection: Connection, file_system_id: int, since: int, until: int
) -> list[Any]:
    """Return the events of a file system, or of all, that overlap a time span, newest first."""
    query = select(Event.at, Event.until, Event.kind, Event.text).where(
        *_events_of(file_system_id), *_touch(since, until)
    )
    return list(connection.execute(query.order_by(Event.at.desc(), Event.id.desc()).limit(100)))


def _events_of(file_system_id: int) -> tuple[ColumnElement[bool]]:
    """Return the condition that an event concerns a file system, or all of them."""
    return (or_(Event.file_system_id == file_system_id, Event.file_system_id.is_(None)),)


def _are_open(now: float) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that an event has begun and not ended."""
    return (Event.at <= now, or_(Event.until.is_(None), Event.until > now))


def _touch(since: int | None, until: int | None) -> list[ColumnElement[bool]]:
    """Return the conditions that an event overlaps a time span."""
    found: list[ColumnElement[bool]] = []
    if since is not None:
        found.append(or_(Event.until.is_(None), Event.until >= since))
    if until is not None:
        found.append(Event.at < until)
    return found


def _events() -> Any:
    return select(
        *(Event.id, Event.at, Event.until, Event.kind, Event.text),
        FileSystem.name.label("file_system"),
    ).outerjoin(FileSystem, FileSystem.id == Event.file_system_id)
