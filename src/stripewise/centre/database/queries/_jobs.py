# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists jobs, and sums up a user's own jobs of the last weeks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from stripewise.centre.database.queries._filters import RARE, Conditions, JobFilter, conditions
from stripewise.centre.database.queries._paging import Listing, Order, count, page
from stripewise.centre.database.queries._viewer import (
    Viewer,
    is_not_all_known,
    jobs_of,
    readable,
    without_reasons,
)
from stripewise.centre.database.store._samples import DAY
from stripewise.centre.database.tables._jobs import (
    Cluster,
    FindingRow,
    Job,
    JobSource,
    Person,
    Program,
    Project,
)
from stripewise.core.errors import UsageError

SORTS = (
    *("start_at", "run_seconds", "io_seconds", "io_share", "read_bytes", "write_bytes"),
    *("meta_operations", "avoidable_seconds", "avoidable_node_seconds", "name", "raw_id"),
    "slower_factor",
)
"""Columns by which lists of jobs can be sorted, each with an index."""
_OF_PROFILES = {
    *("io_seconds", "io_share", "read_bytes", "write_bytes", "meta_operations"),
    *("avoidable_seconds", "avoidable_node_seconds", "slower_factor"),
}
"""Those of them that are unknown for every job without a profile."""
COLUMNS = (
    *(Job.id, Cluster.name.label("cluster"), Job.raw_id, Job.name, Job.state),
    *(Person.name.label("user"), Project.name.label("project"), Job.person_id, Job.project_id),
    *(Program.name.label("program"), Job.start_at, Job.run_seconds, Job.node_count),
    *(Job.rank_count, Job.io_seconds, Job.io_share, Job.read_bytes, Job.write_bytes),
    *(Job.meta_operations, Job.bytes_per_second, Job.finding_count, Job.top_finding),
    *(Job.avoidable_seconds, Job.avoidable_node_seconds, Job.pattern, Job.no_data_reason),
    *(Job.slower_factor, Job.usual_io_seconds, Job.earlier_count, Job.missing),
    *(Job.array_job_id, Job.array_task_id, Job.submit_at, Job.changed_at),
)


def order_of(text: str = "") -> Order:
    """Return an order by its name: "start_at", or "-start_at" for the largest first.

    Raises:
        UsageError: Jobs cannot be sorted by this column.
    """
    text = text or "-start_at"
    name = text.removeprefix("-")
    if name not in SORTS:
        raise UsageError(f"sort={text[:40]!r}: jobs can be sorted by {', '.join(SORTS)}")
    return Order(getattr(Job, name), Job.id, text.startswith("-"))


def join_names(query: Select[Any]) -> Select[Any]:
    """Join the tables that contain the names of a job."""
    return (
        query.join(Cluster, Cluster.id == Job.cluster_id)
        .outerjoin(Person, Person.id == Job.person_id)
        .outerjoin(Project, Project.id == Job.project_id)
        .outerjoin(Program, Program.id == Job.program_id)
    )


def list_jobs(
    connection: Connection,
    viewer: Viewer,
    job_filter: JobFilter | None = None,
    *,
    sort: str = "",
    after: str = "",
    limit: int = 50,
) -> Listing:
    """Return one page of the jobs that a viewer sees; its rows have `COLUMNS`.

    Raises:
        UsageError: The order or the cursor cannot be used.
    """
    job_filter, order = job_filter or JobFilter(), order_of(sort)
    if job_filter.source == "none" and order.column.key in _OF_PROFILES:
        order = replace(order, is_known=False)
    wanted = conditions(connection, job_filter)
    is_lite = connection.dialect.name == "sqlite"
    places = jobs_of(viewer, Job.id, by_index=not is_lite).where(*wanted.all)
    few = None
    if wanted.all or not viewer.is_staff:
        few = _found(viewer, wanted)
    query = join_names(jobs_of(viewer, *COLUMNS, by_index=False))
    most = RARE if wanted.is_rare else None
    return page(connection, query, order, after, limit, places=places, few=few, most=most)


def count_jobs(connection: Connection, viewer: Viewer, job_filter: JobFilter | None = None) -> int:
    """Count the jobs that a viewer sees, at most one more than `COUNTED`."""
    return count(
        connection, _found(viewer, conditions(connection, job_filter or JobFilter())), Job.id
    )


def _found(viewer: Viewer, wanted: Conditions) -> Select[Any]:
    """Return the query that finds few jobs fast: by rare properties, or else by their owners."""
    by_index = not wanted.is_rare
    # With a column that no index on a sorted column has: those begin with jobs without a value.
    return jobs_of(viewer, Job.id, Job.cluster_id, by_index=by_index).where(*wanted.all)


def exported_jobs(
    connection: Connection, viewer: Viewer, job_filter: JobFilter, *, names: bool = False
) -> Select[Any]:
    """Return the query for all jobs that match a filter and that a viewer sees, oldest first.

    Args:
        connection: Connection to the database, used to look names up.
        viewer: The viewer whose rights apply.
        job_filter: Filter on jobs.
        names: Whether to include only jobs whose file names the viewer may read.
    """
    columns = [without_reasons(viewer) if one is Job.missing else one for one in COLUMNS]
    query = join_names(jobs_of(viewer, *columns)).where(*conditions(connection, job_filter).all)
    if names:
        query = query.where(readable(viewer))
    return query.order_by(Job.id)


# Summary of a user's own jobs of the last weeks.

OWN_DAYS = 30
BEFORE_DAYS = 150
"""A finding is new if no job of so many days before has it."""


@dataclass(frozen=True)
class OwnSummary:
    """Summary of a user's own jobs of the last `OWN_DAYS` days.

    Attributes:
        user: Name of the user.
        jobs: Number of jobs that started.
        profiled: Number of those whose I/O is known.
        io_seconds / avoidable_seconds: Sums over those; None if none is known.
        not_estimated: Number of those whose avoidable time is unknown or incomplete.
        worst: The job that loses most, as in lists of jobs; None if none loses anything.
        new_findings: (code, number of jobs) of findings that no job of the `BEFORE_DAYS` days
            before has, most frequent first.
        served: Number of jobs for which the storage's servers counted bytes.
        slower: Number of jobs whose I/O took longer than that of earlier runs.
        slowest: The one of them that lost most against its history, as in lists of jobs.
    """

    user: str
    jobs: int
    profiled: int
    io_seconds: float | None
    avoidable_seconds: float | None
    worst: Mapping[str, Any] | None
    new_findings: Sequence[tuple[str, int]]
    served: int = 0
    not_estimated: int = 0
    slower: int = 0
    slowest: Mapping[str, Any] | None = None


def own_summary(connection: Connection, viewer: Viewer, now: float) -> OwnSummary | None:
    """Summarise a viewer's own jobs; return None if no jobs can be theirs."""
    if viewer.role is None or viewer.person_id is None:
        return None
    since = int(now) - OWN_DAYS * DAY
    own = (Job.person_id == viewer.person_id, Job.start_at >= since)
    figures = jobs_of(
        viewer,
        *(func.count(), func.count(Job.io_seconds), func.sum(Job.io_seconds)),
        *(func.sum(Job.avoidable_seconds), func.count(Job.server_write_bytes)),
        func.count(case((is_not_all_known(Job.avoidable_seconds), 1))),
        func.count(Job.slower_factor),
    ).where(*own)
    sums = connection.execute(figures).one()
    worst = join_names(jobs_of(viewer, *COLUMNS)).where(*own, Job.avoidable_seconds > 0)
    worst = worst.order_by(Job.avoidable_seconds.desc(), Job.id.desc()).limit(1)
    found = connection.execute(worst).one_or_none()
    lost = (Job.io_seconds - Job.usual_io_seconds).desc()
    slowest = join_names(jobs_of(viewer, *COLUMNS)).where(*own, Job.slower_factor > 0)
    slow = connection.execute(slowest.order_by(lost, Job.id.desc()).limit(1)).one_or_none()
    user = select(Person.name).where(Person.id == viewer.person_id)
    return OwnSummary(
        connection.scalar(user) or "",
        *(sums[0], sums[1], sums[2], sums[3]),
        None if found is None else dict(found._mapping),
        _new_findings(connection, viewer, since),
        *(sums[4], sums[5], sums[6]),
        None if slow is None else dict(slow._mapping),
    )


def _new_findings(connection: Connection, viewer: Viewer, since: int) -> list[tuple[str, int]]:
    number = func.count(Job.id.distinct())
    query = (
        jobs_of(viewer, FindingRow.code, number)
        .join(JobSource, JobSource.job_id == Job.id)
        .join(FindingRow, FindingRow.source_id == JobSource.id)
        .where(Job.person_id == viewer.person_id)
        .group_by(FindingRow.code)
        .order_by(number.desc(), FindingRow.code)
    )
    fresh = connection.execute(query.where(Job.start_at >= since)).all()
    before = query.where(
        Job.start_at < since,
        Job.start_at >= since - BEFORE_DAYS * DAY,
        FindingRow.code.in_([row[0] for row in fresh]),
    )
    known = {row[0] for row in connection.execute(before)} if fresh else set()
    return [(row[0], row[1]) for row in fresh if row[0] not in known]
