# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who causes the load of a file system, by the servers' counters of jobs.

A row is of the user of its job; one without a job is of the user whom the name tells that servers
have: by name, or by number, which is of a cluster.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Double, and_, case, cast, func, or_, select, true

from stripewise.fleet.queries._metrics import METADATA, READ, WRITE
from stripewise.fleet.queries._series import ENOUGH, curve, for_whole, parts_of, resolution_for
from stripewise.fleet.queries._storage_load import LoadPeriod
from stripewise.fleet.queries._viewer import Viewer, visible
from stripewise.fleet.tables import Cluster, Job, JobLoad, JobTag, Person, PersonUid

SERVED_PERIODS = ("hour", "day")
"""A week of all rows of all servers is too much to add up for one page."""
_LATE_SHARE = 0.1
_AMOUNTS = ("read_bytes", "write_bytes", "meta_operations")
_PARTLY = tuple(f"{name}_partly" for name in _AMOUNTS)


def covers(connection: Connection, file_system_id: int, period: LoadPeriod) -> bool:
    """Whether servers counted jobs from about the begin of a time on, and in it."""
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
    """Return what a viewer sees, and what they do not: a row for each job and owner.

    Args:
        connection: To the database.
        viewer: Who looks.
        file_system_id: Key of the file system.
        period: The time; rows count that begin in it.
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
    """Return the condition that a viewer sees a row: its job, or what is theirs without a job."""
    if viewer.is_staff:
        return true()
    if viewer.person_id is None:
        return visible(viewer)
    mine = and_(one.c.job_id.is_(None), one.c.person_id == viewer.person_id)
    return or_(visible(viewer), mine)


def _amounts(file_system_id: int, period: LoadPeriod) -> Any:
    """Return the sums of each job, or name without a job."""

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
    """Return the key of the user of a row; NULL: not known.

    A name that tells a job tells its user only by that: whose job it is, is not guessed.
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
    """Return all bytes read and written and operations of a file system; None: not known.

    What is not sampled, for less than a tenth of the time, is taken to be as the rest.
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
