# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports how long operations on targets take, which are slow, and which jobs may be the cause.

A mean is the sum of seconds divided by the number of operations, over roll-ups that have both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from stripewise.centre.database.queries._jobs import join_names
from stripewise.centre.database.queries._series import (
    METADATA,
    READ,
    SERVICE_OPERATIONS,
    SERVICE_SECONDS,
    WRITE,
    for_servers,
    parts_of,
)
from stripewise.centre.database.queries._viewer import Viewer, jobs_of
from stripewise.centre.database.store._samples import DAY, RESOLUTIONS
from stripewise.centre.database.tables._jobs import Cluster, Job, Person, Program
from stripewise.centre.database.tables._storage import JobLoad, Rollup, Series

SLOW_FACTOR = 3.0
"""Ratio to the usual time from which a target is slow (chosen)."""
SLOW_LEAST_SECONDS = 0.001
"""Minimum difference to the usual time from which a target is slow (chosen)."""
FEWEST_OPERATIONS = 100
"""Minimum number of operations for a meaningful mean (chosen)."""
FEWEST_OF_KIND = 4
"""Minimum number of targets of a kind for a comparison among them (chosen)."""
_KIND = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Service:
    """Total seconds that operations took, and the number of operations."""

    seconds: float = 0.0
    operations: float = 0.0

    @property
    def mean(self) -> float | None:
        """Mean seconds of an operation; None if there are too few to judge."""
        enough = self.operations >= FEWEST_OPERATIONS
        return max(self.seconds, 0.0) / self.operations if enough else None

    def __add__(self, other: Service) -> Service:
        """Return the sum of both."""
        return Service(self.seconds + other.seconds, self.operations + other.operations)


@dataclass(frozen=True)
class SlowTarget:
    """A target whose operations take long.

    Attributes:
        target: Name of the target.
        seconds: Mean time of an operation.
        usual_seconds: Time with which it is compared.
        is_own: Whether that is its own past; otherwise it is the median of the others of its kind.
    """

    target: str
    seconds: float
    usual_seconds: float
    is_own: bool = False


def kind_of(target: str) -> str:
    """Return the kind of a target, from the letters at the start of its name: "OST" or "MDT"."""
    found = _KIND.match(target.rpartition("-")[2])
    return found.group().upper() if found else ""


def is_slow(seconds: float | None, usual: float | None) -> bool:
    """Return whether an operation takes far longer than usual; False if one of both is unknown."""
    if seconds is None or usual is None:
        return False
    return seconds > SLOW_FACTOR * usual and seconds - usual > SLOW_LEAST_SECONDS


def services(
    connection: Connection,
    file_system_id: int,
    since: int,
    until: int,
    resolution: int,
    hours: Sequence[int] = (),
) -> dict[str, Service]:
    """Return the operation times of each target of a file system in a time span.

    Args:
        connection: Connection to the database.
        file_system_id: Key of the file system.
        since: Start of the time span.
        until: End of the time span.
        resolution: Resolution of the roll-ups that are read, in seconds.
        hours: Hours of the day (UTC) to include; () for all.
    """
    every = range(since + -since % resolution, until, resolution)
    wanted = set(hours)
    moments = [at for at in every if at % DAY // 3600 in wanted]
    if hours and not moments:
        return {}
    query, seconds, operations = _seconds_and_operations(
        file_system_id, since, until, resolution, moments
    )
    columns = (func.sum(seconds.total), func.sum(operations.total))
    query = query.add_columns(Series.target, *columns).group_by(Series.target)
    rows: Any = connection.execute(query)
    return {target: Service(spent, number) for target, spent, number in rows}


def services_by_hour(
    connection: Connection, file_system_id: int, since: int, until: int
) -> dict[tuple[str, str], dict[int, Service]]:
    """Return the operation times in each hour of a time span, by server and kind of target."""
    query, seconds, operations = _seconds_and_operations(file_system_id, since, until, 3600)
    query = query.add_columns(
        *(Series.server, Series.target, seconds.at, seconds.total, operations.total)
    )
    found: dict[tuple[str, str], dict[int, Service]] = {}
    rows: Any = connection.execute(query)
    for server, target, at, spent, number in rows:
        hours = found.setdefault((server, kind_of(target)), {})
        hours[at] = hours.get(at, Service()) + Service(spent, number)
    return found


def _seconds_and_operations(
    file_system_id: int, since: int, until: int, resolution: int, moments: Sequence[int] = ()
) -> tuple[Any, Any, Any]:
    """Return the query for roll-ups of seconds and of operations of the same target and moment.

    With `moments`, only these are read: each is one step of the index, instead of a walk along it.
    """
    other = aliased(Series)
    seconds, operations = aliased(Rollup), aliased(Rollup)
    query = (
        select()
        .select_from(Series)
        .join(
            other,
            (other.file_system_id == Series.file_system_id)
            & (other.server == Series.server)
            & (other.target == Series.target)
            & (other.metric == SERVICE_OPERATIONS),
        )
        .join(seconds, seconds.series_id == Series.id)
        .join(
            operations,
            (operations.series_id == other.id)
            & (operations.resolution_seconds == resolution)
            & (operations.at == seconds.at),
        )
        .where(
            Series.file_system_id == file_system_id,
            Series.metric == SERVICE_SECONDS,
            Series.target != "",
            seconds.resolution_seconds == resolution,
            *(
                (seconds.at.in_(moments), operations.at.in_(moments))
                if moments
                else (seconds.at >= since, seconds.at < until)
            ),
            func.abs(seconds.covered_seconds - operations.covered_seconds) < 1.0,
        )
    )
    return query, seconds, operations


def finest_times(connection: Connection, file_system_id: int, since: int, until: int) -> int:
    """Return the finest resolution at which roll-ups of operation times exist for a time span."""
    of_times = select(Series.id).where(
        Series.file_system_id == file_system_id, Series.metric == SERVICE_SECONDS
    )
    for resolution in RESOLUTIONS[:-1]:
        begin = since - since % resolution
        there = select(Rollup.at).where(
            Rollup.series_id.in_(of_times), Rollup.resolution_seconds == resolution,
            Rollup.at >= begin, Rollup.at < until,
        )  # fmt: skip
        if connection.execute(there.limit(1)).first():
            return resolution
    return RESOLUTIONS[-1]


def slow_among(found: Mapping[str, Service]) -> list[SlowTarget]:
    """Return the targets that take far longer than the median of their kind, slowest first."""
    kinds: dict[str, dict[str, float]] = {}
    for target, one in found.items():
        if one.mean is not None:
            kinds.setdefault(kind_of(target), {})[target] = one.mean
    slow = [
        SlowTarget(target, seconds, middle)
        for means in kinds.values()
        if len(means) >= FEWEST_OF_KIND
        for middle in (median(means.values()),)
        for target, seconds in means.items()
        if is_slow(seconds, middle)
    ]
    return sorted(slow, key=lambda one: (-one.seconds, one.target))


def can_compare(found: Mapping[str, Service]) -> bool:
    """Return whether enough targets of one kind report times to determine which are slow."""
    kinds = [kind_of(target) for target, one in found.items() if one.mean is not None]
    return any(kinds.count(kind) >= FEWEST_OF_KIND for kind in set(kinds))


# Jobs that may hurt others: they caused most of what a server did while its targets were slow.
#
# They are shown to staff, and to their owner as their own; to nobody else, not even managers.

HURTING_SHARE = 0.5
"""Share of what a server did above which a job caused most of it."""
LONGER_BYTE = 2.0
"""Storage targets are only slow if the time per byte is also so many times the usual one (chosen):
larger requests take longer, and nobody is delayed by them."""
MOST_DISTURBING = 50
_DAYS_BEFORE = 28
_HOUR = 3600
_Place = tuple[str, str, int]
"""Server, kind of targets, hour."""
_Hours = Mapping[tuple[str, str], Mapping[int, Service]]
"""Operation times by hour, for each server and kind of targets."""


@dataclass(frozen=True)
class DisturbingJob:
    """A job that caused most of the load of a server while its targets were slow.

    Attributes:
        job: Row of the job: id, raw_id, name, user, program, cluster, start_at.
        server: Name of the server.
        is_metadata: True if it made most metadata operations, False if it moved most bytes.
        at: Start of the hour in which its share was largest.
        hours: Number of hours with such a share.
        share: Share of the job in what the server did in that hour.
        operation_seconds / usual_seconds: Operation time of the server's targets in that hour, and
            in the 28 days before.
    """

    job: Mapping[str, Any]
    server: str
    is_metadata: bool
    at: int
    hours: int
    share: float
    operation_seconds: float
    usual_seconds: float


def disturbing_jobs(
    connection: Connection, viewer: Viewer, file_system_id: int, now: float
) -> list[DisturbingJob]:
    """Return the jobs of the last day that may hurt others, as far as a viewer may see them.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks.
        file_system_id: Key of the file system.
        now: Current time, in seconds since 1970.
    """
    if not viewer.is_staff and viewer.person_id is None:
        return []
    since = int(now) - DAY
    since -= since % _HOUR
    slow = _slow_hours(connection, file_system_id, since, int(now))
    if not slow:
        return []
    shares = _shares(connection, file_system_id, slow)
    rows = _rows(connection, viewer, {job for job, _ in shares})
    found = [_disturbing(rows[job], place, slow, shares[job, place])
             for job, place in _worst(shares) if job in rows]  # fmt: skip
    hours: dict[tuple[Any, ...], int] = defaultdict(int)
    for job, (server, kind, _) in shares:
        hours[job, server, kind == "MDT"] += 1
    found = [
        DisturbingJob(**{**vars(one), "hours": hours[one.job["id"], one.server, one.is_metadata]})
        for one in found
    ]
    return sorted(found, key=lambda one: -one.share)[:MOST_DISTURBING]


def _worst(shares: Mapping[tuple[int, _Place], float]) -> Iterable[tuple[int, _Place]]:
    """Return, for each job, server and kind, the hour with the largest share."""
    best: dict[tuple[int, str, str], tuple[int, _Place]] = {}
    for key in shares:
        job, (server, kind, _) = key
        old = best.get((job, server, kind))
        if old is None or shares[key] > shares[old]:
            best[job, server, kind] = key
    return best.values()


def _disturbing(
    row: Mapping[str, Any],
    place: _Place,
    slow: Mapping[_Place, tuple[float, float]],
    share: float,
) -> DisturbingJob:
    server, kind, at = place
    return DisturbingJob(row, server, kind == "MDT", at, 1, min(share, 1.0), *slow[place])


def _slow_hours(
    connection: Connection, file_system_id: int, since: int, until: int
) -> dict[_Place, tuple[float, float]]:
    """Return the hours in which a server's targets were slow, with that time and the usual one."""
    recent = services_by_hour(connection, file_system_id, since, until)
    if not recent:
        return {}
    begin = since - _DAYS_BEFORE * DAY
    before = services_by_hour(connection, file_system_id, begin, since)
    found: dict[_Place, tuple[float, float]] = {}
    for (server, kind), hours in recent.items():
        usual = sum(before.get((server, kind), {}).values(), Service()).mean
        for at, one in hours.items():
            if one.mean is not None and usual is not None and is_slow(one.mean, usual):
                found[server, kind, at] = (one.mean, usual)
    if not any(kind == "OST" for _, kind, _ in found):
        return found
    moved = _moved(connection, file_system_id, begin, until)
    return {
        place: times
        for place, times in found.items()
        if not _is_larger(place, recent, before, moved.get(place[0], {}))
    }


def _is_larger(place: _Place, recent: _Hours, before: _Hours, moved: Mapping[int, float]) -> bool:
    """Return whether storage targets took longer because requests were larger than usual."""
    server, kind, at = place
    usual = _byte_seconds(before.get((server, kind), {}), moved)
    now = _byte_seconds({at: recent[server, kind][at]}, moved)
    return kind == "OST" and bool(now and usual and now <= LONGER_BYTE * usual)


def _byte_seconds(hours: Mapping[int, Service], moved: Mapping[int, float]) -> float | None:
    """Return the seconds per byte over the hours whose bytes are known, or None if none are."""
    known = [at for at in hours if moved.get(at)]
    whole = sum(moved[at] for at in known)
    return sum(hours[at].seconds for at in known) / whole if whole else None


def _moved(
    connection: Connection, file_system_id: int, since: int, until: int
) -> dict[str, dict[int, float]]:
    """Return the bytes that storage targets moved, by server and hour."""
    query = (
        select(Series.server, Series.target, Rollup.at, func.sum(Rollup.total))
        .join(Rollup, Rollup.series_id == Series.id)
        .where(
            *(Series.file_system_id == file_system_id, Series.metric.in_((READ, WRITE))),
            *(Rollup.resolution_seconds == _HOUR, Rollup.at >= since, Rollup.at < until),
        )
        .group_by(Series.server, Series.target, Rollup.at)
    )
    found: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for server, target, at, total in connection.execute(query):
        if kind_of(target) == "OST":
            found[server][at] += float(total or 0.0)
    return found


def _shares(
    connection: Connection, file_system_id: int, slow: Mapping[_Place, Any]
) -> dict[tuple[int, _Place], float]:
    """Return the share of each job that caused most of what a server did in a slow hour."""
    hours = {at for _, _, at in slow}
    totals = _totals(connection, file_system_id, hours)
    begin = (JobLoad.at - JobLoad.at % _HOUR).label("begin")
    is_metadata = JobLoad.kind == "metadata"
    query = (
        select(
            *(JobLoad.job_id, JobLoad.server, is_metadata.label("metadata"), begin),
            *(func.sum(JobLoad.operations), func.sum(JobLoad.moved_bytes)),
        )
        .where(
            JobLoad.file_system_id == file_system_id,
            JobLoad.at >= min(hours),
            JobLoad.at < max(hours) + _HOUR,
            JobLoad.job_id.is_not(None),
        )
        .group_by(JobLoad.job_id, JobLoad.server, is_metadata, begin)
    )
    found: dict[tuple[int, _Place], float] = {}
    rows: Any = connection.execute(query)
    for job, server, of_metadata, at, operations, moved in rows:
        amount = operations if of_metadata else moved
        place = (server, "MDT" if of_metadata else "OST", at)
        whole = totals.get(place)
        if place in slow and amount and whole and float(amount) > HURTING_SHARE * whole:
            found[job, place] = float(amount) / whole
    return found


def _totals(
    connection: Connection, file_system_id: int, hours: Iterable[int]
) -> dict[_Place, float]:
    """Return what each server did in each hour: bytes, or metadata operations."""
    parts = parts_of(connection, file_system_id)
    found: dict[_Place, float] = defaultdict(float)
    for metric, kind in ((READ, "OST"), (WRITE, "OST"), (METADATA, "MDT")):
        for server, ids in for_servers(parts, metric).items():
            query = (
                select(Rollup.at, func.sum(Rollup.total))
                .where(Rollup.series_id.in_(ids), Rollup.resolution_seconds == _HOUR,
                       Rollup.at.in_(sorted(hours)))
                .group_by(Rollup.at)
            )  # fmt: skip
            for at, total in connection.execute(query):
                found[server, kind, at] += float(total or 0.0)
    return found


def _rows(
    connection: Connection, viewer: Viewer, keys: Iterable[int]
) -> dict[int, Mapping[str, Any]]:
    """Return the jobs that a viewer may see by name."""
    wanted: Sequence[int] = sorted(keys)[:500]
    columns = (
        *(Job.id, Job.raw_id, Job.name, Job.start_at, Person.name.label("user")),
        *(Program.name.label("program"), Cluster.name.label("cluster")),
    )
    query = join_names(jobs_of(viewer, *columns)).where(Job.id.in_(wanted))
    if not viewer.is_staff:
        query = query.where(Job.person_id == viewer.person_id)
    return {row.id: dict(row._mapping) for row in connection.execute(query)}
