# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports who causes the load of a file system: users, Unix groups, projects and jobs.

The servers' counters of jobs are used if they cover the time span (`_served_top`), otherwise
profiles. From a profile, a job's amounts are assumed to be spread evenly over its run, so that
only the part within the time span counts, and its amounts on this file system are its share of the
job's totals: two sources that describe the same run do not count twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Double, Select, and_, case, cast, func, or_, select, true

from stripewise.centre.database.queries._jobs import join_names
from stripewise.centre.database.queries._patterns import floored, is_mixed
from stripewise.centre.database.queries._series import (
    ENOUGH,
    METADATA,
    READ,
    WRITE,
    curve,
    for_whole,
    parts_of,
    resolution_for,
)
from stripewise.centre.database.queries._storage_load import LoadPeriod
from stripewise.centre.database.queries._viewer import (
    FEWEST_USERS,
    Viewer,
    is_not_all_known,
    jobs_of,
    visible,
)
from stripewise.centre.database.store._samples import DAY
from stripewise.centre.database.tables._jobs import (
    Cluster,
    Job,
    JobIo,
    JobSource,
    Person,
    PersonUid,
    Program,
    Project,
)
from stripewise.centre.database.tables._storage import FileSystem, JobLoad, JobTag
from stripewise.core import Amount, Figured, total
from stripewise.core.errors import UsageError
from stripewise.present import plural

TOP_PERIODS = ("hour", "day", "week", "month")
"""A year of all jobs would be too much to read for one page."""
TOP = 10
_LONGEST_RUN = 31 * DAY
"""Jobs that ran for longer are not found, because the index is by their start."""
_OWNERS = ("person_id", "unix_group", "project_id")
_AMOUNTS = ("read_bytes", "write_bytes", "meta_operations")
_PARTLY = tuple(f"{name}_partly" for name in _AMOUNTS)
"""1 if an amount of a job is incomplete, else 0."""
_NO_TELLING = "not everything is known"


@dataclass(frozen=True)
class Share(Figured):
    """What the jobs of one user, group or project did to a file system.

    Attributes:
        name: Name of a user, Unix group or project; None if unknown.
        jobs: Number of jobs.
        read_bytes / write_bytes / meta_operations: Amounts within the time span.
        missing: Which of these are unknown or lower bounds, and why.
    """

    name: str | None
    jobs: int
    read_bytes: float | None
    write_bytes: float | None
    meta_operations: float | None
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def moved(self) -> Amount:
        """Bytes read and written."""
        return total(map(self.amount, ("read_bytes", "write_bytes")))


_NOTHING = Share(None, 0, 0.0, 0.0, 0.0)


def _share(jobs: int, amounts: Iterable[Amount]) -> Share:
    by_name = dict(zip(_AMOUNTS, amounts, strict=True))
    missing = {name: amount.why for name, amount in by_name.items() if amount.why}
    known = {name: amount.value for name, amount in by_name.items()}
    return Share(None, jobs, **known, missing=missing)


@dataclass(frozen=True)
class Top:
    """Who causes the load, as far as a viewer may see it.

    Attributes:
        users / groups / projects: Shares in the jobs that the viewer sees: of those that move most
            bytes as far as is known, those with most metadata operations, and those with
            incomplete data. Those that move most come first, those of whom nothing is known last.
        jobs: The same for single jobs: rows with id, raw_id, name, user, project, program,
            cluster, start_at, and the amounts.
        seen: Sum over all jobs that the viewer sees.
        others: Sum over all other jobs of known users, rounded to two digits; None if they belong
            to too few users to be shown, or mostly to one of them, or if the viewer sees all.
        by_servers: Whether servers counted the amounts; otherwise they come from profiles.
        whole: All that the file system moved, whoever caused it; None if unknown.
        outside: The part of `seen` that belongs to no known job; None if the amounts come from
            profiles.
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
        """What belongs to no known job or user; None if unknown, or if others' jobs are in it."""
        if self.whole is None or not self.by_servers:
            return None
        return _share(0, (_rest(self.whole.amount(n), self.seen.amount(n)) for n in _AMOUNTS))


def _rest(whole: Amount, part: Amount) -> Amount:
    """Return a whole minus a part; the difference is incomplete if either is."""
    why = whole.why or part.why
    return Amount.of(None, why) if why else Amount(max(whole.least - part.least, 0.0))


def view_top(
    connection: Connection, viewer: Viewer, file_system_id: int, period: LoadPeriod
) -> Top:
    """Return who causes the load of a file system in a time span.

    Raises:
        UsageError: The time span is too long.
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
    sums = [func.sum(seen.c[name]) for name in (*_AMOUNTS, *_PARTLY)]
    count = func.count(seen.c.id)
    query = select(*owners, count, *sums).group_by(*owners, seen.c.id.is_(None))
    rows = connection.execute(query).all()
    outside = [row for row in rows if not row[len(_OWNERS)]]  # rows of no job have none
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
    """Return the names of a file system in profiles: its name, mounts, their first directory."""
    row = connection.execute(
        select(FileSystem.name, FileSystem.mount).where(FileSystem.id == file_system_id)
    ).one()
    return [row.name, f"/{row.name}", *filter(None, row.mount.splitlines())]


def _columns(names: Sequence[str], period: LoadPeriod) -> list[Any]:
    """Return the columns of a query for jobs with their part of the amounts."""
    end = _end()
    within = _lesser(end, period.until) - _greater(Job.start_at, period.since)
    share = case(
        (end > Job.start_at, cast(within, Double) / cast(end - Job.start_at, Double)), else_=1.0
    )
    amounts, flags = [], []
    for name in _AMOUNTS:
        column = cast(getattr(JobIo, name), Double)
        here = func.sum(case((JobIo.file_system.in_(names), column), else_=0.0))
        part = here / func.nullif(func.sum(column), 0.0)
        amount = func.coalesce(share * getattr(Job, name) * part, 0.0)
        amounts.append(amount.label(name))
        whole = getattr(Job, name)
        elsewhere = and_(whole > 0, func.coalesce(func.sum(column), 0.0) == 0.0)
        partly = case((or_(is_not_all_known(whole), elsewhere), 1), else_=0)
        flags.append(partly.label(f"{name}_partly"))
    return [Job.id, *(getattr(Job, name) for name in _OWNERS), *amounts, *flags]


def _each(query: Select[Any], names: Sequence[str], period: LoadPeriod) -> Select[Any]:
    """Restrict a query to the jobs that used a file system in a time span, one row for each."""
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
    """Sum rows by one of their owners; with None, all rows are summed under the key None."""
    found: dict[Any, list[float]] = {}
    for row in rows:
        key = None if place is None else row[place]
        sums = row[len(_OWNERS) :]
        old = found.get(key, [0.0] * len(sums))
        found[key] = [one + other for one, other in zip(old, sums, strict=True)]
    return {key: _share_from_sums(*sums) for key, sums in found.items()}


def _share_from_sums(jobs: float, *sums: float) -> Share:
    """Return a share from sums of amounts and the numbers of rows with incomplete amounts."""
    counts = sums[len(_AMOUNTS) :]
    whys = [f"not everything is known about {plural(int(n), 'job')}" if n else "" for n in counts]
    return _share(int(jobs), map(Amount.of, sums, whys))


def _most(rows: Sequence[Any], place: int) -> list[tuple[Any, Share]]:
    """Return the owners that move most or make most calls, and those with incomplete data."""
    shares = _added(rows, place)

    def moved(key: Any) -> tuple[bool, float]:
        amount = shares[key].moved
        return amount.value is None, -amount.least

    def metadata(key: Any) -> float:
        return -shares[key].amount("meta_operations").least

    partly = [key for key in shares if not shares[key].moved.is_exact]
    several = (sorted(shares, key=moved), sorted(shares, key=metadata), sorted(partly, key=moved))
    keys = {key for ordered in several for key in ordered[:TOP]}
    return [(key, shares[key]) for key in sorted(keys, key=moved)]


def _named(connection: Connection, table: Any, most: Sequence[tuple[Any, Share]]) -> list[Share]:
    query: Select[Any] = select(table.id, table.name)
    query = query.where(table.id.in_([key for key, _ in most if key is not None]))
    names = {row[0]: row[1] for row in connection.execute(query)}
    return [replace(share, name=names.get(key)) for key, share in most]


def _jobs(connection: Connection, seen: Any) -> list[dict[str, Any]]:
    query = join_names(
        select(
            *(Job.id, Job.raw_id, Job.name, Job.start_at, Cluster.name.label("cluster")),
            *(Person.name.label("user"), Project.name.label("project")),
            *(Program.name.label("program"), *(seen.c[name] for name in (*_AMOUNTS, *_PARTLY))),
        )
        .select_from(seen)
        .join(Job, Job.id == seen.c.id)
    )
    found: dict[int, dict[str, Any]] = {}
    partly = seen.c.read_bytes_partly + seen.c.write_bytes_partly
    for order in (seen.c.read_bytes + seen.c.write_bytes, seen.c.meta_operations, partly):
        for row in connection.execute(query.order_by(order.desc(), Job.id).limit(TOP)):
            if order is not partly or row.read_bytes_partly + row.write_bytes_partly:
                found[row.id] = _job_row(dict(row._mapping))
    return sorted(found.values(), key=_place)


def _job_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job with its amounts, and which of them are unknown or incomplete."""
    amounts = {
        name: Amount.of(row[name], _NO_TELLING if row[partly] else "")
        for name, partly in zip(_AMOUNTS, _PARTLY, strict=True)
    }
    missing = {name: amount.why for name, amount in amounts.items() if amount.why}
    known = {name: amount.value for name, amount in amounts.items()}
    return {
        **{name: row[name] for name in row if name not in _PARTLY},
        **known,
        "missing": missing,
    }


def _place(row: Mapping[str, Any]) -> tuple[bool, float]:
    moved = [row["read_bytes"], row["write_bytes"]]
    return all(one is None for one in moved), -sum(one or 0.0 for one in moved)


def _hidden(viewer: Viewer, names: Sequence[str], period: LoadPeriod) -> Any:
    """Return the jobs that a viewer does not see, one row for each."""
    hidden = case((visible(viewer), 1), else_=0) == 0
    query = select(*_columns(names, period)).select_from(Job).where(hidden)
    return _each(query, names, period).subquery()


def _others(connection: Connection, each: Any) -> Share | None:
    """Sum the jobs that a viewer does not see, if they belong to enough users."""
    moved = each.c.read_bytes + each.c.write_bytes
    of_users = (
        select(func.count(each.c.id).label("jobs"), func.sum(moved).label("moved"))
        .add_columns(*(func.sum(each.c[name]).label(name) for name in (*_AMOUNTS, *_PARTLY)))
        .where(each.c.person_id.is_not(None))
        .group_by(each.c.person_id)
        .subquery()
    )
    mixed = [is_mixed(of_users.c[name]) for name in ("jobs", "moved", "meta_operations")]
    sums = [func.sum(of_users.c[name]) for name in ("jobs", *_AMOUNTS, *_PARTLY)]
    row = connection.execute(select(func.count(), and_(*mixed), *sums)).one()
    if row[0] < FEWEST_USERS or not row[1]:
        return None
    amounts, flags = row[3 : 3 + len(_AMOUNTS)], row[3 + len(_AMOUNTS) :]
    whys = [_NO_TELLING if partly else "" for partly in flags]
    return _share(floored(int(row[2])), map(Amount.of, map(_rough, amounts), whys))


def _rough(value: float) -> float:
    """Return a value rounded to two digits, so that differences reveal no single job."""
    return float(f"{value:.1e}")


# Causes of the load of a file system, from the servers' counters of jobs.
#
# A row belongs to the user of its job. A row without a job belongs to the user in the name that
# the servers recorded: a user name, or a number, which is valid for one cluster.

SERVED_PERIODS = ("hour", "day")
"""A week of all rows of all servers would be too much to sum for one page."""
_LATE_SHARE = 0.1


def covers(connection: Connection, file_system_id: int, period: LoadPeriod) -> bool:
    """Return whether servers counted jobs from about the start of a time span to its end."""
    if period.name not in SERVED_PERIODS:
        return False
    of_system = select(JobLoad.at).where(JobLoad.file_system_id == file_system_id)
    begin = period.since + _LATE_SHARE * (period.until - period.since)
    first = of_system.order_by(JobLoad.at).limit(1)
    within = of_system.where(JobLoad.at >= period.since, JobLoad.at < period.until).limit(1)
    found = connection.scalar(first)
    return found is not None and found <= begin and connection.scalar(within) is not None


def served_each(
    connection: Connection, viewer: Viewer, file_system_id: int, period: LoadPeriod
) -> tuple[Any, Any]:
    """Return what a viewer sees and what they do not see: one row for each job and owner.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks.
        file_system_id: Key of the file system.
        period: The time span; rows that begin in it count.
    """
    amounts = _amounts(file_system_id, period)
    one = (
        select(
            *(amounts.c.job_id, _person().label("person_id")),
            *(amounts.c[name] for name in (*_AMOUNTS, *_PARTLY)),
        )
        .select_from(amounts)
        .join(JobTag, JobTag.id == amounts.c.tag_id)
        .join(Cluster, Cluster.id == JobTag.cluster_id)
        .outerjoin(Job, Job.id == amounts.c.job_id)
        .subquery()
    )
    owners = (one.c.person_id, Job.unix_group, Job.project_id)
    query = (
        select(
            *(one.c.job_id.label("id"), *owners),
            *(func.sum(one.c[name]).label(name) for name in _AMOUNTS),
            *(func.max(one.c[name]).label(name) for name in _PARTLY),
        )
        .select_from(one)
        .outerjoin(Job, Job.id == one.c.job_id)
        .group_by(one.c.job_id, *owners)
    )
    is_seen = case((_seen(viewer, one), 1), else_=0)
    return query.where(is_seen == 1).subquery(), query.where(is_seen == 0).subquery()


def _seen(viewer: Viewer, one: Any) -> Any:
    """Return the condition that a viewer sees a row, of a visible job or of their own user."""
    if viewer.is_staff:
        return true()
    if viewer.person_id is None:
        return visible(viewer)
    mine = and_(one.c.job_id.is_(None), one.c.person_id == viewer.person_id)
    return or_(visible(viewer), mine)


def _amounts(file_system_id: int, period: LoadPeriod) -> Any:
    """Return the sums of each job, or of each recorded name without a job."""

    def total(kind: str, column: Any) -> Any:
        mine = case((JobLoad.kind == kind, cast(column, Double)), else_=0.0)
        return func.sum(func.coalesce(mine, 0.0))

    def partly(kind: str, column: Any) -> Any:
        return func.max(case((and_(JobLoad.kind == kind, column.is_(None)), 1), else_=0))

    return (
        select(
            *(JobLoad.tag_id, JobLoad.job_id),
            total("read", JobLoad.moved_bytes).label("read_bytes"),
            total("write", JobLoad.moved_bytes).label("write_bytes"),
            total("metadata", JobLoad.operations).label("meta_operations"),
            partly("read", JobLoad.moved_bytes).label("read_bytes_partly"),
            partly("write", JobLoad.moved_bytes).label("write_bytes_partly"),
            partly("metadata", JobLoad.operations).label("meta_operations_partly"),
        )
        .where(
            JobLoad.file_system_id == file_system_id,
            JobLoad.at >= period.since,
            JobLoad.at < period.until,
        )
        .group_by(JobLoad.tag_id, JobLoad.job_id)
        .subquery()
    )


def _person() -> Any:
    """Return the key of the user of a row, or NULL if unknown.

    A name that contains a job id identifies its user only through the job, which is not guessed.
    """
    by_name = select(Person.id).where(Person.name == JobTag.user).scalar_subquery()
    known = func.count(PersonUid.person_id)
    is_one = and_(func.count(PersonUid.person_id.distinct()) == 1, func.count() == known)
    of_number = select(case((is_one, func.min(PersonUid.person_id)))).where(
        PersonUid.uid == JobTag.uid
    )
    everywhere = of_number.scalar_subquery()
    on_cluster = of_number.where(PersonUid.cluster_id == JobTag.cluster_id).scalar_subquery()
    by_number = case((Cluster.name == "", everywhere), else_=on_cluster)
    of_tag = case((JobTag.raw_id.is_(None), func.coalesce(by_name, by_number)))
    return case((Job.id.is_not(None), Job.person_id), else_=of_tag)


def moved_in(
    connection: Connection, file_system_id: int, period: LoadPeriod
) -> tuple[float, float, float] | None:
    """Return all bytes read and written and operations of a file system, or None if unknown.

    Gaps in sampling of less than a tenth of the time are assumed to be like the rest.
    """
    parts = parts_of(connection, file_system_id)
    found = []
    for metric in (READ, WRITE, METADATA):
        ids = for_whole(parts, metric)
        since, until = period.since, period.until
        step = resolution_for(60, len(ids), since, until, until)
        known = curve(connection, ids, since, until, step, width=max(step, 300)).values
        width = max(step, 300)
        wanted = max((until - since) // width, 1)
        if len(known) < ENOUGH * wanted:
            return None
        found.append(sum(known.values()) / len(known) * (until - since))
    return found[0], found[1], found[2]
