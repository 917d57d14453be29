# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One program: its jobs, what costs them time, in which patterns, with which settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Double, Select, case, cast, distinct, func, select

from stripewise.fleet.queries._job import Row, find_job
from stripewise.fleet.queries._period import Period, left_out, rows_of, with_missing
from stripewise.fleet.queries._viewer import Viewer, jobs_of, without_paths
from stripewise.fleet.tables import (
    FindingRow,
    Job,
    JobPattern,
    JobSource,
    Program,
    SettingRow,
)
from stripewise.model import Amount
from stripewise.text import plural

MOST_POINTS = 1000
"""Jobs in a chart: of more, every n-th is shown."""
MOST_KINDS = 50
"""Findings, patterns or settings of a program that are listed."""


def find_program(connection: Connection, viewer: Viewer, name: str) -> int | None:
    """Return the key of a program of which the viewer sees a job, of any time."""
    # One query: two would tell by their number that others have a program of this name.
    key = select(Program.id).where(Program.name == name).scalar_subquery()
    found: int | None = connection.scalar(
        jobs_of(viewer, Job.program_id).where(Job.program_id == key).limit(1)
    )
    return found


def median_job(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Row | None:
    """Return the job with the median I/O time, the lower of two; None: there is none."""
    known = _jobs(viewer, program_id, period, Job.id).where(Job.io_seconds.is_not(None))
    number = connection.scalar(select(func.count()).select_from(known.subquery())) or 0
    if not number:
        return None
    middle = known.order_by(Job.io_seconds, Job.id).offset((number - 1) // 2).limit(1)
    key = connection.scalar(middle)
    return None if key is None else find_job(connection, viewer, key)


def job_times(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> tuple[Sequence[Row], int]:
    """Return jobs in the order of their start, and every how many there is one."""
    known = _jobs(viewer, program_id, period).where(Job.io_seconds.is_not(None))
    number = connection.scalar(known.with_only_columns(func.count())) or 0
    step = max(-(-number // MOST_POINTS), 1)
    place = func.row_number().over(order_by=(Job.start_at, Job.id)).label("place")
    columns = (Job.id, Job.start_at, Job.io_seconds, Job.avoidable_seconds)
    every = known.with_only_columns(*columns, place).subquery()
    query = select(*(every.c[column.key] for column in columns)).where(every.c.place % step == 0)
    return rows_of(connection.execute(query.order_by(every.c.start_at, every.c.id))), step


def program_findings(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Sequence[Row]:
    """Return findings by what they cost: code, job_count, cost_seconds, cost_node_seconds.

    `missing` of a row says of how many jobs these are not known.
    Two profiles may tell of one run: of each job the larger cost counts.
    """
    cost = func.max(FindingRow.cost_seconds).label("cost")
    jobs = _jobs(viewer, program_id, period, Job.id, Job.node_count, FindingRow.code, cost)
    each = (
        jobs.join(JobSource, JobSource.job_id == Job.id)
        .join(FindingRow, FindingRow.source_id == JobSource.id)
        .group_by(Job.id, Job.node_count, FindingRow.code)
        .subquery()
    )
    seconds = func.sum(each.c.cost)
    node_seconds = func.sum(each.c.cost * each.c.node_count)
    query = select(
        each.c.code,
        func.count().label("job_count"),
        seconds.label("cost_seconds"),
        node_seconds.label("cost_node_seconds"),
        left_out(each.c.cost, "cost_seconds"),
        left_out(each.c.cost * each.c.node_count, "cost_node_seconds"),
    ).group_by(each.c.code)
    rows = rows_of(connection.execute(_costliest(query, seconds, each.c.code)))
    return list(map(with_missing, rows))


def program_patterns(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Sequence[Row]:
    """Return patterns by what is lost.

    Rows have form, is_write, job_count, moved_bytes, lost_seconds and `missing`.
    Profiles of several kinds may tell of one run: of each job the kind counts that has most.
    """
    shape = (JobPattern.form, JobPattern.is_write)
    jobs = _jobs(
        viewer, program_id, period, Job.id, *shape,
        func.max(JobPattern.lost_seconds).label("lost"),
        func.sum(cast(JobPattern.moved_bytes, Double)).label("moved"),
        func.max(case((JobPattern.missing.is_not(None), 1), else_=0)).label("partly"),
    )  # fmt: skip
    kinds = (
        jobs.join(JobSource, JobSource.job_id == Job.id)
        .join(JobPattern, JobPattern.source_id == JobSource.id)
        .group_by(Job.id, JobSource.kind, *shape)
        .subquery()
    )
    most = (func.max(kinds.c[name]).label(name) for name in ("lost", "moved", "partly"))
    each = (
        select(kinds.c.form, kinds.c.is_write, *most)
        .group_by(kinds.c.id, kinds.c.form, kinds.c.is_write)
        .subquery()
    )
    seconds = func.sum(each.c.lost)
    query = select(
        each.c.form,
        each.c.is_write,
        func.count().label("job_count"),
        func.sum(each.c.moved).label("moved_bytes"),
        func.sum(each.c.partly).label("partly"),
        seconds.label("lost_seconds"),
    ).group_by(each.c.form, each.c.is_write)
    rows = rows_of(connection.execute(_costliest(query, seconds, each.c.form)))
    return [_with_moved(row) for row in rows]


def _with_moved(row: Row) -> Row:
    """Return a row of patterns; jobs of which not all is known make its bytes the least."""
    partly, told = row["partly"], {name: row[name] for name in row if name != "partly"}
    why = f"of {plural(partly, 'job')} not all is known" if partly else ""
    amount = Amount.of(row["moved_bytes"], why)
    moved = None if amount.value is None else int(amount.value)
    return {**told, "moved_bytes": moved, "missing": {"moved_bytes": why} if why else {}}


def program_settings(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Sequence[Row]:
    """Return settings in use, by jobs: name, requested, applied, effective, job_count, last_at."""
    told = (SettingRow.requested, SettingRow.applied, SettingRow.effective)
    # In a query of its own: PostgreSQL groups by no expression with parameters.
    each = (
        _jobs(viewer, program_id, period, Job.id, Job.start_at, SettingRow.name)
        .add_columns(*(without_paths(viewer, one).label(one.key) for one in told))
        .join(JobSource, JobSource.job_id == Job.id)
        .join(SettingRow, SettingRow.source_id == JobSource.id)
        .subquery()
    )
    setting = (each.c.name, *(each.c[one.key] for one in told))
    number = func.count(distinct(each.c.id))
    query = (
        select(*setting, number.label("job_count"), func.max(each.c.start_at).label("last_at"))
        .group_by(*setting)
        .order_by(number.desc(), *setting)
        .limit(MOST_KINDS)
    )
    return rows_of(connection.execute(query))


def _jobs(viewer: Viewer, program_id: int, period: Period, *columns: Any) -> Select[Any]:
    return jobs_of(viewer, *columns).where(Job.program_id == program_id, *period.jobs)


def _costliest(query: Select[Any], seconds: Any, name: Any) -> Select[Any]:
    unknown_last = case((seconds.is_(None), 1), else_=0)
    return query.order_by(unknown_last, seconds.desc(), name).limit(MOST_KINDS)
