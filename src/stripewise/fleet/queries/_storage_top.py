# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who causes the load of a file system: users, Unix groups, projects and jobs.

By the servers' counters of jobs where they cover the time (`_served_top`), otherwise by profiles:
a job's amounts are taken to be even over its run, so that the part counts that lies in the time.
Its amounts on this file system are its share of the job's totals: two sources that tell of one
run do not count twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Double, Select, and_, case, cast, func, select

from stripewise.errors import UsageError
from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._everybody import floored, is_mixed
from stripewise.fleet.queries._jobs import with_names
from stripewise.fleet.queries._served_top import covers, moved_in, served_each
from stripewise.fleet.queries._storage_load import LoadPeriod
from stripewise.fleet.queries._viewer import FEWEST_USERS, Viewer, jobs_of, visible
from stripewise.fleet.tables import (
    Cluster,
    FileSystem,
    Job,
    JobIo,
    JobSource,
    Person,
    Program,
    Project,
)

TOP_PERIODS = ("hour", "day", "week", "month")
"""A year of all jobs is too much to look through for one page."""
TOP = 10
_LONGEST_RUN = 31 * DAY
"""Jobs that ran for longer are not found; the index is by their start."""
_OWNERS = ("person_id", "unix_group", "project_id")
_AMOUNTS = ("read_bytes", "write_bytes", "meta_operations")


@dataclass(frozen=True)
class Share:
    """What somebody's jobs did to a file system.

    Attributes:
        name: Of a user, Unix group or project; None: not known.
        jobs: How many.
        read_bytes / write_bytes / meta_operations: Within the time.
    """

    name: str | None
    jobs: int
    read_bytes: float
    write_bytes: float
    meta_operations: float


_NOTHING = Share(None, 0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Top:
    """Who causes the load, as far as a viewer may know.

    Attributes:
        users / groups / projects: Of the jobs that the viewer sees; those that move most bytes
            and those with most metadata operations, the former first.
        jobs: The same of single jobs: rows with id, raw_id, name, user, project, program,
            cluster, start_at, and the amounts.
        seen: All that the viewer sees.
        others: All other jobs of known users together, to two digits; None: they are of too few
            users to be shown, or mostly of one of them, or the viewer sees all.
        by_servers: The amounts are what servers counted; otherwise profiles tell them.
        whole: All that the file system moved, of whomever; None: not known.
        outside: What of `seen` is of no known job; None: profiles tell the amounts.
    """

    users: Sequence[Share]
    groups: Sequence[Share]
    projects: Sequence[Share]
    jobs: Sequence[Mapping[str, Any]]
    seen: Share
    others: Share | None
    by_servers: bool = False
    whole: Share | None = None
    outside: Share | None = None

    @property
    def rest(self) -> Share | None:
        """What is of no job or user that is known; None: not known, or of others too."""
        if self.whole is None or not self.by_servers:
            return None
        return Share(None, 0, *(max(getattr(self.whole, name) - getattr(self.seen, name), 0.0)
                                for name in _AMOUNTS))  # fmt: skip


def view_top(
    connection: Connection, viewer: Viewer, file_system_id: int, period: LoadPeriod
) -> Top:
    """Return who causes the load of a file system in a time.

    Raises:
        UsageError: The time is too long.
    """
    if period.name not in TOP_PERIODS:
        raise UsageError(f"period={period.name!r}: give one of {', '.join(TOP_PERIODS)}")
    by_servers = covers(connection, file_system_id, period)
    if by_servers:
        seen, hidden = served_each(connection, viewer, file_system_id, period)
    else:
        names = _names_of(connection, file_system_id)
        seen = _each(jobs_of(viewer, *_columns(names, period)), names, period).subquery()
        hidden = _hidden(viewer, names, period)
    owners = [seen.c[name] for name in _OWNERS]
    sums = [func.sum(seen.c[name]) for name in _AMOUNTS]
    count = func.count(seen.c.id)
    query = select(*owners, count, *sums).group_by(*owners, seen.c.id.is_(None))
    rows = connection.execute(query).all()
    outside = [row for row in rows if not row[len(_OWNERS)]]  # what is of no job has none
    whole = moved_in(connection, file_system_id, period)
    return Top(
        _named(connection, Person, _most(rows, 0)),
        [replace(share, name=name) for name, share in _most(rows, 1)],
        _named(connection, Project, _most(rows, 2)),
        _jobs(connection, seen),
        _added(rows, None).get(None, _NOTHING),
        None if viewer.is_staff else _others(connection, hidden),
        by_servers,
        None if whole is None else Share(None, 0, *whole),
        _added(outside, None).get(None),
    )


def _names_of(connection: Connection, file_system_id: int) -> list[str]:
    """Return what profiles call a file system: its name, its mounts, their first directory."""
    row = connection.execute(
        select(FileSystem.name, FileSystem.mount).where(FileSystem.id == file_system_id)
    ).one()
    return [row.name, f"/{row.name}", *filter(None, row.mount.splitlines())]


def _columns(names: Sequence[str], period: LoadPeriod) -> list[Any]:
    """Return the columns of a query of jobs with their part of the amounts."""
    end = _end()
    within = _lesser(end, period.until) - _greater(Job.start_at, period.since)
    share = case(
        (end > Job.start_at, cast(within, Double) / cast(end - Job.start_at, Double)), else_=1.0
    )
    amounts = []
    for name in _AMOUNTS:
        column = cast(getattr(JobIo, name), Double)
        here = func.sum(case((JobIo.file_system.in_(names), column), else_=0.0))
        part = here / func.nullif(func.sum(column), 0.0)
        amount = func.coalesce(share * getattr(Job, name) * part, 0.0)
        amounts.append(amount.label(name))
    return [Job.id, *(getattr(Job, name) for name in _OWNERS), *amounts]


def _each(query: Select[Any], names: Sequence[str], period: LoadPeriod) -> Select[Any]:
    """Restrict a query of jobs to those that used a file system in a time, a row for each."""
    return (
        query.join(JobSource, JobSource.job_id == Job.id)
        .join(JobIo, JobIo.source_id == JobSource.id)
        .where(
            Job.start_at < period.until,
            Job.start_at >= period.since - _LONGEST_RUN,
            _end() >= period.since,
        )
        .group_by(Job.id)
        .having(func.sum(case((JobIo.file_system.in_(names), 1), else_=0)) > 0)
    )


def _end() -> Any:
    return func.coalesce(Job.end_at, Job.start_at + func.coalesce(Job.run_seconds, 0.0))


def _lesser(one: Any, other: int) -> Any:
    return case((one < other, one), else_=other)


def _greater(one: Any, other: int) -> Any:
    return case((one > other, one), else_=other)


def _added(rows: Sequence[Any], place: int | None) -> dict[Any, Share]:
    """Add up rows by one of their owners; None: all of them, which have the key None."""
    found: dict[Any, Share] = {}
    for row in rows:
        key = None if place is None else row[place]
        jobs, *amounts = row[len(_OWNERS) :]
        old = found.get(key, _NOTHING)
        found[key] = Share(None, old.jobs + jobs,
                           *(getattr(old, name) + amount
                             for name, amount in zip(_AMOUNTS, amounts, strict=True)))  # fmt: skip
    return found


def _most(rows: Sequence[Any], place: int) -> list[tuple[Any, Share]]:
    """Return the owners that move most or ask most, the former first, with their shares."""
    shares = _added(rows, place)

    def moved(key: Any) -> float:
        return -shares[key].read_bytes - shares[key].write_bytes

    def asked(key: Any) -> float:
        return -shares[key].meta_operations

    keys = {*sorted(shares, key=moved)[:TOP], *sorted(shares, key=asked)[:TOP]}
    return [(key, shares[key]) for key in sorted(keys, key=moved)]


def _named(connection: Connection, table: Any, most: Sequence[tuple[Any, Share]]) -> list[Share]:
    query: Select[Any] = select(table.id, table.name)
    query = query.where(table.id.in_([key for key, _ in most if key is not None]))
    names = {row[0]: row[1] for row in connection.execute(query)}
    return [replace(share, name=names.get(key)) for key, share in most]


def _jobs(connection: Connection, seen: Any) -> list[dict[str, Any]]:
    query = with_names(
        select(
            *(Job.id, Job.raw_id, Job.name, Job.start_at, Cluster.name.label("cluster")),
            *(Person.name.label("user"), Project.name.label("project")),
            *(Program.name.label("program"), *(seen.c[name] for name in _AMOUNTS)),
        )
        .select_from(seen)
        .join(Job, Job.id == seen.c.id)
    )
    found: dict[int, dict[str, Any]] = {}
    for order in (seen.c.read_bytes + seen.c.write_bytes, seen.c.meta_operations):
        for row in connection.execute(query.order_by(order.desc(), Job.id).limit(TOP)):
            found[row.id] = dict(row._mapping)
    return sorted(found.values(), key=lambda row: -row["read_bytes"] - row["write_bytes"])


def _hidden(viewer: Viewer, names: Sequence[str], period: LoadPeriod) -> Any:
    """Return the jobs that a viewer does not see, a row for each."""
    hidden = case((visible(viewer), 1), else_=0) == 0
    query = select(*_columns(names, period)).select_from(Job).where(hidden)
    return _each(query, names, period).subquery()


def _others(connection: Connection, each: Any) -> Share | None:
    """Add up the jobs that a viewer does not see, if they are of enough users."""
    moved = each.c.read_bytes + each.c.write_bytes
    of_users = (
        select(func.count(each.c.id).label("jobs"), func.sum(moved).label("moved"))
        .add_columns(*(func.sum(each.c[name]).label(name) for name in _AMOUNTS))
        .where(each.c.person_id.is_not(None))
        .group_by(each.c.person_id)
        .subquery()
    )
    mixed = [is_mixed(of_users.c[name]) for name in ("jobs", "moved", "meta_operations")]
    sums = [func.sum(of_users.c[name]) for name in ("jobs", *_AMOUNTS)]
    row = connection.execute(select(func.count(), and_(*mixed), *sums)).one()
    if row[0] < FEWEST_USERS or not row[1]:
        return None
    return Share(None, floored(int(row[2])), *map(_rough, row[3:]))


def _rough(value: float) -> float:
    """Return a value to two digits: differences of two sums tell nothing of one job."""
    return float(f"{value:.1e}")
