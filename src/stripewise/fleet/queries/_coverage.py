# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: which jobs are seen, and by what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, distinct, func

from stripewise.errors import UsageError
from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._period import DAY, Period, rows_of
from stripewise.fleet.queries._viewer import Viewer, jobs_of
from stripewise.fleet.tables import Cluster, Job, JobSource

GROUPS = ("day", "partition", "cluster")
MOST_GROUPS = 400
_SPENT = Job.run_seconds * Job.node_count


def coverage(
    connection: Connection, viewer: Viewer, period: Period, by: str = "day"
) -> Sequence[Row]:
    """Return how many jobs have a profile, in groups.

    Rows have group (of days: their beginning), job_count, profiled_count, node_seconds,
    profiled_node_seconds, and a count of jobs for each kind of source: {kind: count}.

    Raises:
        UsageError: There are no such groups.
    """
    if by not in GROUPS:
        raise UsageError(f"by={by[:40]!r}: coverage is told by {', '.join(GROUPS)}")
    group = _group(by)
    is_seen = Job.source_count > 0
    columns = (
        func.count().label("job_count"),
        func.sum(case((is_seen, 1), else_=0)).label("profiled_count"),
        func.sum(_SPENT).label("node_seconds"),
        func.sum(case((is_seen, _SPENT))).label("profiled_node_seconds"),
    )
    jobs = jobs_of(viewer).join(Cluster, Cluster.id == Job.cluster_id).where(*period.jobs)
    query = jobs.with_only_columns(group.label("group"), *columns)
    rows = rows_of(connection.execute(query.group_by(group).order_by(group).limit(MOST_GROUPS)))
    kinds = _kinds(connection, jobs, group)
    return [{**row, "kinds": kinds[row["group"]]} for row in rows]


def reasons(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return why jobs have no figures: reason, job_count, node_seconds; most jobs first."""
    number = func.count()
    query = (
        jobs_of(viewer, Job.no_data_reason.label("reason"), number.label("job_count"))
        .add_columns(func.sum(_SPENT).label("node_seconds"))
        .where(*period.jobs, Job.no_data_reason.is_not(None))
        .group_by(Job.no_data_reason)
        .order_by(number.desc(), Job.no_data_reason)
    )
    return rows_of(connection.execute(query))


def _group(by: str) -> Any:
    if by == "day":
        return Job.start_at - Job.start_at % DAY
    return Job.partition if by == "partition" else Cluster.name


def _kinds(connection: Connection, jobs: Any, group: Any) -> dict[Any, dict[str, int]]:
    """Return how many jobs of each group have a source of each kind."""
    query = (
        jobs.with_only_columns(
            group.label("group"), JobSource.kind, func.count(distinct(Job.id)).label("number")
        )
        .join(JobSource, JobSource.job_id == Job.id)
        .group_by(group, JobSource.kind)
    )
    found: dict[Any, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(query):
        found[row.group][row.kind] = row.number
    return found
