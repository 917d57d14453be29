# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds and sums the series of servers' counters for a file system, server or target.

All sums are computed by the database. A sum over targets is known if nearly all targets that were
in service then have reported; otherwise it is a gap, since a silent target would look like one
without load. A target that another server has taken over has a series at each server. Both series
are one target: it is not counted twice, and not considered silent at its former server.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, select

from stripewise.centre.database.queries._patterns import briefly
from stripewise.centre.database.store._samples import DAY, KEPT_DAYS, RESOLUTIONS
from stripewise.centre.database.tables._storage import Rollup, Sample, Series

MOST_READ = 150_000
"""Maximum number of roll-ups for one curve; more series are read at a coarser resolution."""
ENOUGH = 0.9
"""Minimum share of the series in a known sum of rates (chosen)."""
_ASKED = 50
"""Number of series that are examined for their sampling interval."""


@dataclass(frozen=True)
class StoragePart:
    """One series: of a whole file system, a server, or a target."""

    id: int
    server: str
    target: str
    metric: str


@dataclass(frozen=True)
class Curve:
    """Values by moment.

    Attributes:
        values: Rate or level by moment; a moment that is missing is a gap.
        gaps: Moments at which too few series reported for a sum.
    """

    values: Mapping[int, float]
    gaps: int = 0

    def at(self, moments: Iterable[int]) -> list[float | None]:
        """Return a value for each moment, None if unknown."""
        return [self.values.get(moment) for moment in moments]


NOTHING = Curve({})


def parts_of(
    connection: Connection, file_system_id: int, metrics: Sequence[str] = ()
) -> list[StoragePart]:
    """Return the series of a file system, of all metrics if none are given."""
    query = select(Series.id, Series.server, Series.target, Series.metric).where(
        Series.file_system_id == file_system_id
    )
    if metrics:
        query = query.where(Series.metric.in_(metrics))
    query = query.order_by(Series.server, Series.target, Series.metric)
    return [StoragePart(*row) for row in connection.execute(query)]


def for_whole(parts: Sequence[StoragePart], metric: str) -> list[int]:
    """Return the series whose sum is that of the whole file system; each byte counts once."""
    same = _same(parts, metric)
    levels: tuple[list[StoragePart], ...] = (
        [one for one in same if not one.server and not one.target],
        [one for one in same if one.target],
        [one for one in same if one.server and not one.target],
    )
    return next(([one.id for one in level] for level in levels if level), [])


def for_servers(parts: Sequence[StoragePart], metric: str) -> dict[str, list[int]]:
    """Return the series of each server: its own, otherwise those of its targets."""
    same = [one for one in _same(parts, metric) if one.server]
    own = [one for one in same if not one.target]
    found: dict[str, list[int]] = {}
    for one in own or same:
        found.setdefault(one.server, []).append(one.id)
    return found


def for_targets(parts: Sequence[StoragePart], metric: str) -> dict[tuple[str, str], list[int]]:
    """Return the series of each (server, target)."""
    found: dict[tuple[str, str], list[int]] = {}
    for one in _same(parts, metric):
        if one.target:
            found.setdefault((one.server, one.target), []).append(one.id)
    return found


def _same(parts: Sequence[StoragePart], metric: str) -> list[StoragePart]:
    same = [one for one in parts if one.metric == metric]
    if metric == METADATA and not same:
        same = [one for one in parts if one.metric in KINDS]
    return same


def resolution_for(wanted: int, series: int, since: int, until: int, now: float) -> int:
    """Return the finest affordable resolution of roll-ups that is kept for a time span.

    Args:
        wanted: Finest resolution that is useful.
        series: Number of series to be read.
        since: Start of the time span.
        until: End of the time span.
        now: Current time, in seconds since 1970.
    """
    for resolution in RESOLUTIONS:
        is_kept = resolution not in KEPT_DAYS or now - since <= KEPT_DAYS[resolution] * DAY
        is_small = series * (until - since) / resolution <= MOST_READ
        if resolution >= wanted and is_kept and is_small:
            return resolution
    return RESOLUTIONS[-1]


def curve(
    connection: Connection,
    ids: Sequence[int],
    since: int,
    until: int,
    resolution: int,
    enough: float = ENOUGH,
    width: int = 0,
    moments: Sequence[int] = (),
    covered: float = 0.0,
) -> Curve:
    """Return the sum of the rates, or levels, of some series in each interval.

    Args:
        connection: Connection to the database.
        ids: Keys of the series.
        since: Start of the time span.
        until: End of the time span.
        resolution: Resolution of the roll-ups that are read, in seconds.
        enough: Share of the series in service that must be known.
        width: Width of the intervals, a multiple of the resolution; 0 for the resolution itself.
        moments: Starts of the roll-ups that are read; () for all.
        covered: Share of an interval for which a series must have been sampled.
    """
    if not ids:
        return NOTHING
    width = width or resolution
    within = rollups_within(ids, since - since % width, until, resolution)
    chosen = (*within, Rollup.at.in_(moments)) if moments else within
    moved = Moved.read(connection, ids)
    is_single = width == resolution and not moved.is_within
    each = _each(chosen, width, covered * width, moved, is_single=is_single).subquery()
    query: Any = select(each.c.begin, func.sum(each.c.rate), func.count())
    rows: Any = connection.execute(query.group_by(each.c.begin).order_by(each.c.begin)).all()
    service = InService.read(connection, ids, since, until, moved)
    away = moved.away(connection, since - since % width, until, resolution, width)
    values = {
        at: value
        for at, value, number in rows
        if number + away.get(at, 0) >= enough * service.at(at)
    }
    return Curve(values, len(rows) - len(values))


def _each(
    chosen: tuple[Any, ...], width: int, seconds: float, moved: Moved, *, is_single: bool
) -> Select[int, float]:
    """Return the query for the rate, or level, of each series or target in each interval.

    Args:
        chosen: Conditions that select the roll-ups.
        width: Width of the intervals.
        seconds: Time of an interval for which a series must have been sampled.
        moved: Which of the series belong to the same target.
        is_single: Whether there is one roll-up for each, which takes half the time.
    """
    if is_single:
        rate = (Rollup.total / Rollup.covered_seconds).label("rate")
        query = select(Rollup.at.label("begin"), rate)
        return query.where(*chosen, Rollup.covered_seconds >= seconds)
    begin, known = Rollup.at - Rollup.at % width, func.sum(Rollup.covered_seconds)
    query = select(begin.label("begin"), (func.sum(Rollup.total) / known).label("rate"))
    each: Select[int, float]
    each, one = moved.grouped(query.where(*chosen))
    return each.group_by(*one, begin).having(known >= seconds)


def width_for(connection: Connection, ids: Sequence[int], resolution: int) -> int:
    """Return a suitable width of intervals for a curve, a multiple of `resolution`.

    A sample counts in the minute in which it begins. So an interval is at least two samples wide:
    in narrower ones, samples that drift would leave holes.
    """
    last = (
        select(Sample.seconds)
        .where(Sample.series_id == Series.id)
        .order_by(Sample.at.desc())
        .limit(1)
        .correlate(Series)
        .scalar_subquery()
    )
    found: Any = connection.scalars(select(last).where(Series.id.in_(ids[:_ASKED])))
    steps = [seconds for seconds in found if seconds is not None]
    return resolution * max(1, math.ceil(2 * median(steps) / resolution)) if steps else resolution


def available_resolution(
    connection: Connection, ids: Sequence[int], since: int, until: int, finest: int
) -> int:
    """Return the finest resolution at which some series have roll-ups in a time span."""
    for resolution in RESOLUTIONS:
        if resolution >= finest:
            within = rollups_within(ids, since - since % resolution, until, resolution)
            if connection.execute(select(Rollup.at).where(*within).limit(1)).first():
                return resolution
    return finest


def means(
    connection: Connection, ids: Sequence[int], since: int, until: int, resolution: int
) -> dict[int, float]:
    """Return the mean rate, or level, of each series over the time that its samples cover.

    Series of one target at several servers have one mean, over the time that any of them covers.
    """
    if not ids:
        return {}
    query = (
        select(Rollup.series_id, func.sum(Rollup.total), func.sum(Rollup.covered_seconds))
        .where(*rollups_within(ids, since - since % resolution, until, resolution))
        .group_by(Rollup.series_id)
    )
    rows = connection.execute(query).all()
    same = Moved.read(connection, [row[0] for row in rows]).same
    totals: dict[Any, float] = defaultdict(float)
    seconds: dict[Any, float] = defaultdict(float)
    for one, total, covered in rows:
        totals[same[one]] += total
        seconds[same[one]] += covered
    return {row[0]: totals[same[row[0]]] / seconds[same[row[0]]] for row in rows}


def available_means(
    connection: Connection, ids: Sequence[int], since: int, until: int, finest: int
) -> dict[int, float]:
    """Return means as `means` does, reading missing series at the next coarser resolution."""
    found: dict[int, float] = {}
    for resolution in RESOLUTIONS:
        left = [one for one in ids if one not in found]
        if resolution >= finest:
            found |= means(connection, left, since, until, resolution)
    return found


@dataclass(frozen=True)
class Newest:
    """The newest roll-up of a series.

    Attributes:
        end: End of the roll-up.
        value: Rate or level.
    """

    end: float
    value: float


def newest(connection: Connection, ids: Sequence[int]) -> dict[int, Newest]:
    """Return the newest roll-up of each series that has one, at the finest resolution kept."""
    found: dict[int, Newest] = {}
    for resolution in RESOLUTIONS:
        left = [one for one in ids if one not in found]
        if not left:
            break
        query = select(
            Series.id,
            _last(Rollup.at + Rollup.covered_seconds, resolution),
            _last(Rollup.total / Rollup.covered_seconds, resolution),
        ).where(Series.id.in_(left))
        for row in connection.execute(query):
            if row[1] is not None:
                found[row[0]] = Newest(row[1], row[2])
    return found


def _last(column: Any, resolution: int) -> Any:
    """Return a value of the newest roll-up of a series, which takes one step of the index."""
    return (
        select(column)
        .where(
            Rollup.series_id == Series.id,
            Rollup.resolution_seconds == resolution,
            Rollup.covered_seconds > 0,
        )
        .order_by(Rollup.at.desc())
        .limit(1)
        .correlate(Series)
        .scalar_subquery()
    )


# Targets that several servers have reported: after a failover, a target has series at both.

RETIRED_SECONDS = 7 * DAY
"""A series that has been silent for longer is considered out of service (chosen)."""


@dataclass(frozen=True)
class Moved:
    """Series that belong to targets which several servers have reported, as after a failover.

    Attributes:
        is_within: Whether several of the given series belong to the same target and metric.
        elsewhere: Further series of their targets and metrics, at other servers.
        same: For each given series, a key that all series of the same target and metric share.
    """

    is_within: bool
    elsewhere: Sequence[int]
    same: Mapping[int, Any]

    @classmethod
    def read(cls, connection: Connection, ids: Sequence[int]) -> Moved:
        """Find which of some series belong to such targets."""
        return briefly(connection, ("moved", *ids), lambda: cls._read(connection, ids))

    @classmethod
    def _read(cls, connection: Connection, ids: Sequence[int]) -> Moved:
        mine = set(ids)
        kinds = select(Series.file_system_id, Series.metric).where(Series.id.in_(ids)).distinct()
        of = kinds.subquery()
        query = select(Series.id, Series.file_system_id, Series.target, Series.metric).join(
            of, and_(Series.file_system_id == of.c.file_system_id, Series.metric == of.c.metric)
        )
        every = {
            key: (place, target, metric) if target else key
            for key, place, target, metric in connection.execute(query)
        }
        same = {key: one for key, one in every.items() if key in mine}
        there = set(same.values())
        others = [key for key, one in every.items() if key not in mine and one in there]
        return cls(len(there) < len(same), others, same)

    def grouped(self, query: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return a query of roll-ups, and the columns by which they are to be grouped."""
        if not self.is_within:
            return query, (Rollup.series_id,)
        own = case((Series.target == "", Series.server), else_="")
        place = (Series.file_system_id, Series.target, Series.metric, own)
        return query.join(Series, Series.id == Rollup.series_id), place

    def away(
        self, connection: Connection, since: int, until: int, resolution: int, width: int
    ) -> dict[int, int]:
        """Return how many targets other servers reported in each interval."""
        if not self.elsewhere:
            return {}
        begin = (Rollup.at - Rollup.at % width).label("begin")
        query = select(begin, Series.target, Series.metric).distinct()
        query = query.join(Series, Series.id == Rollup.series_id)
        each = query.where(*rollups_within(self.elsewhere, since, until, resolution)).subquery()
        count = select(each.c.begin, func.count()).group_by(each.c.begin)
        rows: Any = connection.execute(count)
        return {at: number for at, number in rows}


@dataclass(frozen=True)
class InService:
    """Number of series, or targets, in service over time.

    Attributes:
        begins / ends: Start and end of service of each, sorted.
    """

    begins: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def read(
        cls, connection: Connection, ids: Sequence[int], since: int, until: int, moved: Moved
    ) -> InService:
        """Read the days of the first and the last sample of each target within a time span."""
        query = select(func.min(Rollup.at), func.max(Rollup.at))
        days, one = moved.grouped(
            query.where(*rollups_within(ids, since - since % DAY, until, DAY))
        )
        rows: Any = connection.execute(days.group_by(*one)).all()
        ends = [until if last + RETIRED_SECONDS > until else last + DAY for _, last in rows]
        return cls(sorted(first for first, _ in rows), sorted(ends))

    def at(self, moment: int) -> int:
        """Return the number in service at a moment."""
        return bisect_right(self.begins, moment) - bisect_right(self.ends, moment)


def rollups_within(ids: Sequence[int], since: int, until: int, resolution: int) -> tuple[Any, ...]:
    """Return the conditions that roll-ups are of some series, within a time span, and known."""
    return (
        Rollup.series_id.in_(ids),
        Rollup.resolution_seconds == resolution,
        Rollup.at >= since,
        Rollup.at < until,
        Rollup.covered_seconds > 0,
    )


# Names of metrics and kinds of events that the portal knows; others are stored but not shown.
#
# A series describes a target, a server (if it has no target), or the whole file system (if it has
# neither). Totals come from the series of the whole if there is one, otherwise from the targets,
# otherwise from the servers. Large centres should deliver the whole as well.

READ = "read_bytes"
"""Counter, bytes: read from a target."""
WRITE = "write_bytes"
"""Counter, bytes: written to a target."""
METADATA = "metadata_operations"
"""Counter, operations: all metadata operations of a metadata target."""
KINDS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync"),
)
"""Counters, operations: of a metadata target by kind, as Lustre names them in md_stats; their sum
replaces `METADATA` if that is not delivered."""
LOAD = "load"
"""Level, share: how busy a server is; 1 if all its processors or disks are."""
USED_BYTES = "used_bytes"
TOTAL_BYTES = "total_bytes"
USED_FILES = "used_files"
"""Level, files: inodes in use."""
TOTAL_FILES = "total_files"
SERVICE_SECONDS = "service_seconds"
"""Counter, seconds: time of reads and writes at a target, or of metadata operations. On Lustre,
the time of a write ends before the disks have it; newer versions include the network transfer."""
SERVICE_OPERATIONS = "service_operations"
"""Counter, operations: the operations whose time is in `SERVICE_SECONDS`."""
IS_FAILED = "is_failed"
"""Level: 1 if the target does not serve, as its server or monitor reports; otherwise 0."""
IS_SLOW = "is_slow"
"""Level: 1 if the monitor considers the target slow; otherwise 0."""
METRICS = (
    *(READ, WRITE, METADATA, *KINDS, LOAD, USED_BYTES, TOTAL_BYTES, USED_FILES, TOTAL_FILES),
    *(SERVICE_SECONDS, SERVICE_OPERATIONS, IS_FAILED, IS_SLOW),
)

ADVICE = "advice"
"""Kind of an event with advice to users; other kinds describe what happened: "outage", "degraded",
"slow-target", "maintenance", "change", ..."""
