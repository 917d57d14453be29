# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: where the centre's time goes, and which advice nobody follows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import CTE, Connection, case, distinct, func, select

from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._period import Period, left_out, rows_of, with_missing
from stripewise.fleet.queries._viewer import Viewer, is_not_all_known, jobs_of
from stripewise.fleet.tables import FindingRow, Job, JobSource, Person, Program

FEWEST_RUNS = 3
"""Profiled jobs in a row with one finding, from which on its advice counts as ignored."""
LEAST_SECONDS = 10.0
"""Expected gain in each of them, if nobody asks for another one."""
MOST_COSTS = 500


def costly_programs(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return programs by avoidable node-seconds.

    Rows have program, area, user_count, job_count, profiled_count, node_seconds,
    profiled_node_seconds, avoidable_node_seconds, top_finding (that costs most), not_estimated
    (of how many jobs what can be avoided is not known, or not all).
    """
    spent = Job.run_seconds * Job.node_count
    avoidable = func.sum(Job.avoidable_node_seconds)
    query = (
        jobs_of(viewer, Job.program_id, Program.name.label("program"), Program.area)
        .add_columns(
            func.count(distinct(Job.person_id)).label("user_count"),
            func.count().label("job_count"),
            func.sum(case((Job.source_count > 0, 1), else_=0)).label("profiled_count"),
            func.sum(spent).label("node_seconds"),
            func.sum(case((Job.source_count > 0, spent))).label("profiled_node_seconds"),
            avoidable.label("avoidable_node_seconds"),
            func.count(case((is_not_all_known(Job.avoidable_node_seconds), 1))).label(
                "not_estimated"
            ),
        )
        .join(Program, Program.id == Job.program_id)
        .where(*period.jobs)
        .group_by(Job.program_id, Program.name, Program.area)
        .order_by(case((avoidable.is_(None), 1), else_=0), avoidable.desc(), Program.name)
        .limit(MOST_COSTS)
    )
    rows = rows_of(connection.execute(query))
    top = _top_findings(connection, viewer, period)
    for row in rows:
        row["top_finding"] = top.get(row.pop("program_id"))
    return rows


def _top_findings(connection: Connection, viewer: Viewer, period: Period) -> dict[int, str]:
    """Return the finding of each program that costs most, over the jobs that it costs most."""
    cost = func.coalesce(func.sum(Job.avoidable_node_seconds), 0.0)
    query = (
        jobs_of(viewer, Job.program_id, Job.top_finding)
        .where(*period.jobs, Job.program_id.is_not(None), Job.top_finding.is_not(None))
        .group_by(Job.program_id, Job.top_finding)
        .order_by(cost, func.count(), Job.top_finding)
    )
    return {row.program_id: row.top_finding for row in connection.execute(query)}


def ignored_advice(
    connection: Connection, viewer: Viewer, period: Period, *, least_seconds: float = LEAST_SECONDS
) -> Sequence[Row]:
    """Return advice that nobody follows, by the node-seconds that it has cost.

    That is a finding which the latest jobs of a user with a program have, at least
    `FEWEST_RUNS` in a row up to the last one with a profile.  Rows have program, user, code,
    job_count, since_at, last_at, lost_seconds, lost_node_seconds.

    Args:
        connection: To the database.
        viewer: Who asks.
        period: In which the jobs started.
        least_seconds: Gain that is expected in each of them.
    """
    profiled = _profiled(viewer, period)
    found = (
        select(JobSource.job_id, FindingRow.code)
        .add_columns(func.max(FindingRow.cost_seconds).label("cost"))
        .join(FindingRow, FindingRow.source_id == JobSource.id)
        .where(FindingRow.cost_seconds >= least_seconds)
        .where(JobSource.job_id.in_(select(profiled.c.id)))
        .group_by(JobSource.job_id, FindingRow.code)
        .subquery()
    )
    series = (profiled.c.person_id, profiled.c.program_id, found.c.code)
    place = func.row_number().over(partition_by=series, order_by=profiled.c.n.desc())
    runs = (
        select(*series, profiled.c.start_at, profiled.c.node_count, found.c.cost)
        .add_columns((profiled.c.count - profiled.c.n + 1).label("from_last"))
        .add_columns(place.label("place"))
        .join(found, found.c.job_id == profiled.c.id)
        .subquery()
    )
    lost = func.sum(runs.c.cost * runs.c.node_count)
    query = (
        select(Program.name.label("program"), Person.name.label("user"), runs.c.code)
        .add_columns(
            func.count().label("job_count"),
            func.min(runs.c.start_at).label("since_at"),
            func.max(runs.c.start_at).label("last_at"),
            func.sum(runs.c.cost).label("lost_seconds"),
            lost.label("lost_node_seconds"),
            left_out(runs.c.node_count, "lost_node_seconds"),
        )
        .join(Program, Program.id == runs.c.program_id)
        .join(Person, Person.id == runs.c.person_id)
        .where(runs.c.place == runs.c.from_last)
        .group_by(Program.name, Person.name, runs.c.code)
        .having(func.count() >= FEWEST_RUNS)
        .order_by(case((lost.is_(None), 1), else_=0), lost.desc(), Program.name, Person.name)
        .limit(MOST_COSTS)
    )
    return list(map(with_missing, rows_of(connection.execute(query))))


def _profiled(viewer: Viewer, period: Period) -> CTE:
    """Return the jobs with a profile, each with its place among those of its user and program."""
    whose = (Job.person_id, Job.program_id)
    return (
        jobs_of(viewer, Job.id, *whose, Job.start_at, Job.node_count)
        .add_columns(
            func.row_number().over(partition_by=whose, order_by=(Job.start_at, Job.id)).label("n"),
            func.count().over(partition_by=whose).label("count"),
        )
        .where(*period.jobs, Job.source_count > 0)
        .where(Job.person_id.is_not(None), Job.program_id.is_not(None))
        .cte("profiled")
    )
