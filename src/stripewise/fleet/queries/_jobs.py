# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists of jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select

from stripewise.errors import UsageError
from stripewise.fleet.queries._filters import RARE, Conditions, JobFilter, conditions
from stripewise.fleet.queries._paging import Listing, Order, count, page
from stripewise.fleet.queries._viewer import Viewer, jobs_of, readable, without_reasons
from stripewise.fleet.tables import Cluster, Job, Person, Program, Project

SORTS = (
    *("start_at", "run_seconds", "io_seconds", "io_share", "read_bytes", "write_bytes"),
    *("meta_operations", "avoidable_seconds", "avoidable_node_seconds", "name", "raw_id"),
)
"""Columns by which lists of jobs can be sorted; each has an index."""
_OF_PROFILES = {
    *("io_seconds", "io_share", "read_bytes", "write_bytes", "meta_operations"),
    *("avoidable_seconds", "avoidable_node_seconds"),
}
"""Of these, no job without a profile has one."""
COLUMNS = (
    *(Job.id, Cluster.name.label("cluster"), Job.raw_id, Job.name, Job.state),
    *(Person.name.label("user"), Project.name.label("project"), Job.person_id, Job.project_id),
    *(Program.name.label("program"), Job.start_at, Job.run_seconds, Job.node_count),
    *(Job.rank_count, Job.io_seconds, Job.io_share, Job.read_bytes, Job.write_bytes),
    *(Job.meta_operations, Job.bytes_per_second, Job.finding_count, Job.top_finding),
    *(Job.avoidable_seconds, Job.avoidable_node_seconds, Job.pattern, Job.no_data_reason),
    Job.missing,
    *(Job.array_job_id, Job.array_task_id, Job.submit_at, Job.changed_at),
)


def order_of(text: str = "") -> Order:
    """Return an order by its name: "start_at", or "-start_at" with the largest first.

    Raises:
        UsageError: Jobs cannot be sorted so.
    """
    text = text or "-start_at"
    name = text.removeprefix("-")
    if name not in SORTS:
        raise UsageError(f"sort={text[:40]!r}: jobs can be sorted by {', '.join(SORTS)}")
    return Order(getattr(Job, name), Job.id, text.startswith("-"))


def with_names(query: Select[Any]) -> Select[Any]:
    """Join the tables that have the names of a job."""
    return (
        query.join(Cluster, Cluster.id == Job.cluster_id)
        .outerjoin(Person, Person.id == Job.person_id)
        .outerjoin(Project, Project.id == Job.project_id)
        .outerjoin(Program, Program.id == Job.program_id)
    )


def list_jobs(
    connection: Connection,
    viewer: Viewer,
    asked: JobFilter | None = None,
    *,
    sort: str = "",
    after: str = "",
    limit: int = 50,
) -> Listing:
    """Return one page of the jobs that a viewer sees; its rows have `COLUMNS`.

    Raises:
        UsageError: Sort or cursor cannot be used.
    """
    asked, order = asked or JobFilter(), order_of(sort)
    if asked.source == "none" and order.column.key in _OF_PROFILES:
        order = replace(order, is_known=False)
    wanted = conditions(connection, asked)
    is_lite = connection.dialect.name == "sqlite"
    places = jobs_of(viewer, Job.id, by_index=not is_lite).where(*wanted.all)
    few = None
    if wanted.all or not viewer.is_staff:
        few = _found(viewer, wanted)
    query = with_names(jobs_of(viewer, *COLUMNS, by_index=False))
    most = RARE if wanted.is_rare else None
    return page(connection, query, order, after, limit, places=places, few=few, most=most)


def count_jobs(connection: Connection, viewer: Viewer, asked: JobFilter | None = None) -> int:
    """Count the jobs that a viewer sees, up to one more than `COUNTED`."""
    return count(connection, _found(viewer, conditions(connection, asked or JobFilter())), Job.id)


def _found(viewer: Viewer, wanted: Conditions) -> Select[Any]:
    """Return the query that finds few jobs fast: by what is rare, or else by their owners."""
    by_index = not wanted.is_rare
    # With a column that no index of a sorted one has: those begin with jobs that have no value.
    return jobs_of(viewer, Job.id, Job.cluster_id, by_index=by_index).where(*wanted.all)


def exported_jobs(
    connection: Connection, viewer: Viewer, asked: JobFilter, *, names: bool = False
) -> Select[Any]:
    """Return the query of all jobs that a viewer sees and asks for, the oldest first.

    Args:
        connection: To look names up.
        viewer: Whose rights hold.
        asked: Which jobs.
        names: Only jobs of whose files the viewer may read the names.
    """
    columns = [without_reasons(viewer) if one is Job.missing else one for one in COLUMNS]
    query = with_names(jobs_of(viewer, *columns)).where(*conditions(connection, asked).all)
    if names:
        query = query.where(readable(viewer))
    return query.order_by(Job.id)
