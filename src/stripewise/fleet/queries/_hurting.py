# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that may hurt others: most of what a server did was theirs while its targets were slow.

They are named to staff, and to their owner as their own; to nobody else, managers neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._jobs import with_names
from stripewise.fleet.queries._metrics import METADATA, READ, WRITE
from stripewise.fleet.queries._series import for_servers, parts_of
from stripewise.fleet.queries._service import Service, is_slow, kind_of, services_by_hour
from stripewise.fleet.queries._viewer import Viewer, jobs_of
from stripewise.fleet.tables import Cluster, Job, JobLoad, Person, Program, Rollup, Series

HURTING_SHARE = 0.5
"""More than this share of what a server did is most of it."""
LONGER_BYTE = 2.0
"""Storage targets are slow if a byte takes so many times the usual, too (chosen): larger requests
take longer, and nobody waits longer for them."""
MOST_HURTING = 50
_DAYS_BEFORE = 28
_HOUR = 3600
_Place = tuple[str, str, int]
"""Server, kind of targets, hour."""
_Hours = Mapping[tuple[str, str], Mapping[int, Service]]
"""By server and kind of targets: what its operations took, by hour."""


@dataclass(frozen=True)
class Hurting:
    """A job beside a server whose targets were slow.

    Attributes:
        job: Its row: id, raw_id, name, user, program, cluster, start_at.
        server: Name of the server.
        is_metadata: It made most of the metadata operations; otherwise it moved most bytes.
        at: Begin of the hour in which its share was largest.
        hours: In how many hours it was so.
        share: Of what the server did in that hour.
        operation_seconds / usual_seconds: Of the server's targets in that hour, and in the 28
            days before.
    """

    job: Mapping[str, Any]
    server: str
    is_metadata: bool
    at: int
    hours: int
    share: float
    operation_seconds: float
    usual_seconds: float


def hurting_jobs(
    connection: Connection, viewer: Viewer, file_system_id: int, now: float
) -> list[Hurting]:
    """Return the jobs of the last day that may hurt others, as far as a viewer may know.

    Args:
        connection: To the database.
        viewer: Who looks.
        file_system_id: Key of the file system.
        now: Seconds since 1970.
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
    found = [_hurting(rows[job], place, slow, shares[job, place])
             for job, place in _worst(shares) if job in rows]  # fmt: skip
    hours: dict[tuple[Any, ...], int] = defaultdict(int)
    for job, (server, kind, _) in shares:
        hours[job, server, kind == "MDT"] += 1
    found = [
        Hurting(**{**vars(one), "hours": hours[one.job["id"], one.server, one.is_metadata]})
        for one in found
    ]
    return sorted(found, key=lambda one: -one.share)[:MOST_HURTING]


def _worst(shares: Mapping[tuple[int, _Place], float]) -> Iterable[tuple[int, _Place]]:
    """Return of each job, server and kind the hour with the largest share."""
    best: dict[tuple[int, str, str], tuple[int, _Place]] = {}
    for key in shares:
        job, (server, kind, _) = key
        old = best.get((job, server, kind))
        if old is None or shares[key] > shares[old]:
            best[job, server, kind] = key
    return best.values()


def _hurting(
    row: Mapping[str, Any],
    place: _Place,
    slow: Mapping[_Place, tuple[float, float]],
    share: float,
) -> Hurting:
    server, kind, at = place
    return Hurting(row, server, kind == "MDT", at, 1, min(share, 1.0), *slow[place])


def _slow_hours(
    connection: Connection, file_system_id: int, since: int, until: int
) -> dict[_Place, tuple[float, float]]:
    """Return the hours in which a server's targets were slow, with their time and the usual."""
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
    """Whether requests took longer at storage targets since they were larger."""
    server, kind, at = place
    usual = _byte_seconds(before.get((server, kind), {}), moved)
    now = _byte_seconds({at: recent[server, kind][at]}, moved)
    return kind == "OST" and bool(now and usual and now <= LONGER_BYTE * usual)


def _byte_seconds(hours: Mapping[int, Service], moved: Mapping[int, float]) -> float | None:
    """Return the seconds of a byte over the hours whose bytes are known; None: none is."""
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
    """Return the share of each job that did most of what a server did in a slow hour."""
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
    """Return what each server did in hours: bytes, or metadata operations."""
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
    """Return the jobs that may be named to a viewer."""
    wanted: Sequence[int] = sorted(keys)[:500]
    columns = (
        *(Job.id, Job.raw_id, Job.name, Job.start_at, Person.name.label("user")),
        *(Program.name.label("program"), Cluster.name.label("cluster")),
    )
    query = with_names(jobs_of(viewer, *columns)).where(Job.id.in_(wanted))
    if not viewer.is_staff:
        query = query.where(Job.person_id == viewer.person_id)
    return {row.id: dict(row._mapping) for row in connection.execute(query)}
