# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Surveys programs over the jobs that a viewer sees, and reports what costs one program time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Double, Select, case, cast, distinct, func, select

from stripewise.centre.database.queries._filters import (
    Period,
    count_unknown,
    rows_of,
    with_missing,
)
from stripewise.centre.database.queries._job import Row, find_job
from stripewise.centre.database.queries._viewer import Viewer, jobs_of, without_paths
from stripewise.centre.database.tables._jobs import (
    FindingRow,
    Job,
    JobPattern,
    JobSource,
    Program,
    SettingRow,
)
from stripewise.core import Amount
from stripewise.present import plural

# Medians, spread and concurrency of many jobs.

LOW, HIGH = 0.1, 0.9
"""Quantiles at the ends of a spread."""


@dataclass(frozen=True)
class Spread:
    """Distribution of a figure over many jobs.

    Attributes:
        median: Median over the jobs.
        low / high: The 10th and the 90th percentile.
        count: Number of jobs whose figure is known.
    """

    median: float
    low: float
    high: float
    count: int


def spread(values: NDArray[np.float64]) -> Spread | None:
    """Return the spread of values, or None if none of them is known.

    Args:
        values: (n,) float64; NaN if unknown.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, median, high = np.quantile(known, (LOW, 0.5, HIGH)).tolist()
    return Spread(median, low, high, len(known))


def at_once(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return how many jobs run at the same time: typically, and at most.

    The typical number is the median over the time in which at least one of them runs. A job that
    ends in the second in which another one starts does not count as running beside it.

    Args:
        starts: (n,) float64, seconds; NaN if unknown.
        ends: (n,) float64, seconds; NaN if unknown.
    """
    known = ends > starts
    if not known.any():
        return None
    times = np.concatenate([starts[known], ends[known]])
    steps = np.repeat([1, -1], known.sum())
    order = np.lexsort((steps, times))
    running = np.cumsum(steps[order])[:-1]
    seconds = np.diff(times[order])
    busy = running > 0
    running, seconds = running[busy], seconds[busy]
    by_number = np.argsort(running, kind="stable")
    passed = np.cumsum(seconds[by_number])
    typical = running[by_number][np.searchsorted(passed, passed[-1] / 2)]
    return int(typical), int(running.max())


# The survey of applications: figures of each program over the jobs that a viewer sees.

_CHUNK = 50_000
_COUNTED = (
    *("program_id", "person_id", "start_at", "end_at", "run_seconds", "node_count"),
    *("source_count", "avoidable_node_seconds"),
)
_OF_PROFILE = (
    *("io_seconds", "io_share", "bytes_per_second", "file_count", "meta_operations"),
    *("read_bytes", "write_bytes", "cumulated_read_seconds", "cumulated_write_seconds"),
    *("cumulated_meta_seconds", "read_only_count", "write_only_count", "rank_count"),
)
FIGURES = (*_OF_PROFILE, "run_seconds", "io_bytes", "meta_share")
"""Figures that have a spread; all are of jobs with a profile."""


@dataclass(frozen=True)
class ProgramSurvey:
    """Figures of one program.

    Attributes:
        program / area: Name and field of research; None if not reported.
        is_everybody: Whether the figures cover the jobs of all users and are rounded; otherwise
            they cover those that the viewer sees and are exact.
        job_count: Number of jobs; `profiled_count` of these have a profile.
        user_count: Number of users whose jobs they are.
        figures: Figures by name, see `FIGURES`; those that are unknown for all jobs are left out.
        typical_at_once / most_at_once: Jobs that run at the same time; None if unknown.
        node_seconds: Run time multiplied by nodes, over all jobs; None if unknown for all.
        avoidable_node_seconds: Saving that findings predict, over all jobs.
        not_estimated: Number of profiled jobs for which that is unknown.
    """

    program: str
    area: str | None
    job_count: int
    profiled_count: int
    user_count: int
    figures: Mapping[str, Spread] = field(default_factory=dict)
    typical_at_once: int | None = None
    most_at_once: int | None = None
    node_seconds: float | None = None
    avoidable_node_seconds: float | None = None
    not_estimated: int = 0
    is_everybody: bool = False

    def median(self, name: str) -> float | None:
        """Return the median of a figure, or None if unknown."""
        found = self.figures.get(name)
        return None if found is None else found.median


def survey(
    connection: Connection, viewer: Viewer, period: Period, *, program_id: int | None = None
) -> list[ProgramSurvey]:
    """Return the programs of the jobs that a viewer sees, by name.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks.
        period: Period in which the jobs started.
        program_id: Key of the only program to survey; None for all.
    """
    return survey_of(connection, jobs_of(viewer).where(*period.jobs), program_id)


def survey_of(
    connection: Connection,
    jobs: Select[Any],
    program_id: int | None = None,
    fewest_users: int = 0,
) -> list[ProgramSurvey]:
    """Return the programs of jobs, by name.

    Args:
        connection: Connection to the database.
        jobs: Query on the table of jobs, with its conditions and without columns.
        program_id: Key of the only program to survey; None for all.
        fewest_users: Minimum number of users: figures known for jobs of fewer users, or with one
            user who has more than half of the jobs, are left out; 0 to keep all.
    """
    is_one = Job.program_id.is_not(None) if program_id is None else Job.program_id == program_id
    names = (*_COUNTED, *_OF_PROFILE)
    query = jobs.with_only_columns(*(getattr(Job, name) for name in names)).where(is_one)
    table = _table(connection, query, len(names))
    order = np.argsort(table[:, 0], kind="stable")
    keys, firsts = np.unique(table[order, 0], return_index=True)
    names_and_areas = _names_and_areas(connection, [int(key) for key in keys])
    found = []
    for key, rows in zip(keys, np.split(order, firsts[1:]), strict=False):
        columns = dict(zip(names, table[rows].T, strict=True))
        found.append(_summary(*names_and_areas[int(key)], columns, fewest_users))
    return sorted(found, key=lambda one: one.program)


def _table(connection: Connection, query: Select[Any], width: int) -> NDArray[np.float64]:
    """Return the rows of a query as (n, width) float64, with NaN for unknown values."""
    result = connection.execute(query, execution_options={"yield_per": _CHUNK})
    parts = [np.array([tuple(row) for row in chunk], np.float64) for chunk in result.partitions()]
    return np.concatenate(parts) if parts else np.empty((0, width))


def _names_and_areas(
    connection: Connection, keys: Sequence[int]
) -> dict[int, tuple[str, str | None]]:
    query = select(Program.id, Program.name, Program.area)
    if len(keys) <= _CHUNK // 100:
        query = query.where(Program.id.in_(keys))
    return {row.id: (row.name, row.area) for row in connection.execute(query)}


def _summary(
    name: str, area: str | None, columns: Mapping[str, NDArray[np.float64]], fewest_users: int
) -> ProgramSurvey:
    profiled = columns["source_count"] > 0
    figures = {name: columns[name][profiled] for name in (*_OF_PROFILE, "run_seconds")}
    figures["io_bytes"] = figures["read_bytes"] + figures["write_bytes"]
    figures["meta_share"] = _meta_share(figures)
    persons = columns["person_id"]
    spreads = {
        name: spread(values)
        for name, values in figures.items()
        if not fewest_users or _is_of(fewest_users, persons[profiled][~np.isnan(values)])
    }
    running = at_once(columns["start_at"], columns["end_at"])
    return ProgramSurvey(
        name,
        area,
        len(profiled),
        int(profiled.sum()),
        _users(persons),
        {name: one for name, one in spreads.items() if one is not None},
        typical_at_once=running[0] if running else None,
        most_at_once=running[1] if running else None,
        node_seconds=_sum(columns["run_seconds"] * columns["node_count"]),
        avoidable_node_seconds=_sum(columns["avoidable_node_seconds"]),
        not_estimated=int((profiled & np.isnan(columns["avoidable_node_seconds"])).sum()),
    )


def _meta_share(figures: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the (n,) share of metadata in the time that all ranks spend in I/O."""
    meta = figures["cumulated_meta_seconds"]
    every = meta + figures["cumulated_read_seconds"] + figures["cumulated_write_seconds"]
    found = np.full(len(meta), np.nan)
    np.divide(meta, every, out=found, where=every > 0)
    return found


def _is_of(fewest_users: int, persons: NDArray[np.float64]) -> bool:
    """Return whether jobs belong to enough users, none of whom has more than half of them."""
    _, numbers = np.unique(persons, return_counts=True)
    return len(numbers) >= fewest_users and bool(numbers.max() * 2 <= numbers.sum())


def _users(persons: NDArray[np.float64]) -> int:
    return len(np.unique(persons[~np.isnan(persons)]))


def _sum(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else None


# One program: its jobs, what costs them time, their patterns and their settings.

MOST_POINTS = 1000
"""Maximum number of jobs in a chart; if there are more, every n-th is shown."""
MOST_KINDS = 50
"""Maximum number of findings, patterns or settings of a program that are listed."""


def find_program(connection: Connection, viewer: Viewer, name: str) -> int | None:
    """Return the key of a program of which the viewer sees a job, of any time."""
    # A single query: with two, their number would reveal that others have a program of this name.
    key = select(Program.id).where(Program.name == name).scalar_subquery()
    found: int | None = connection.scalar(
        jobs_of(viewer, Job.program_id).where(Job.program_id == key).limit(1)
    )
    return found


def median_job(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Row | None:
    """Return the job with the median I/O time, the lower of two, or None if there is none."""
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
    """Return every n-th job sorted by start, and n, which limits the number of jobs."""
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
    """Return findings by their cost: code, job_count, cost_seconds, cost_node_seconds.

    `missing` of a row reports for how many jobs these are unknown. Two profiles may describe the
    same run: for each job, only the larger cost counts.
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
        count_unknown(each.c.cost, "cost_seconds"),
        count_unknown(each.c.cost * each.c.node_count, "cost_node_seconds"),
    ).group_by(each.c.code)
    rows = rows_of(connection.execute(_costliest(query, seconds, each.c.code)))
    return list(map(with_missing, rows))


def program_patterns(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Sequence[Row]:
    """Return patterns, sorted by lost time.

    Rows have form, is_write, job_count, moved_bytes, lost_seconds and `missing`.
    Profiles of several kinds may describe the same run: for each job, the kind with most bytes
    counts.
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
    """Return a row of patterns; jobs with incomplete data make its bytes a lower bound."""
    partly, fields = row["partly"], {name: row[name] for name in row if name != "partly"}
    why = f"not everything is known about {plural(partly, 'job')}" if partly else ""
    amount = Amount.of(row["moved_bytes"], why)
    moved = None if amount.value is None else int(amount.value)
    return {**fields, "moved_bytes": moved, "missing": {"moved_bytes": why} if why else {}}


def program_settings(
    connection: Connection, viewer: Viewer, program_id: int, period: Period
) -> Sequence[Row]:
    """Return used settings by jobs: name, requested, applied, effective, job_count, last_at."""
    fields = (SettingRow.requested, SettingRow.applied, SettingRow.effective)
    # In a query of its own: PostgreSQL does not group by an expression with parameters.
    each = (
        _jobs(viewer, program_id, period, Job.id, Job.start_at, SettingRow.name)
        .add_columns(*(without_paths(viewer, one).label(one.key) for one in fields))
        .join(JobSource, JobSource.job_id == Job.id)
        .join(SettingRow, SettingRow.source_id == JobSource.id)
        .subquery()
    )
    setting = (each.c.name, *(each.c[one.key] for one in fields))
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
    return query.order_by(seconds.desc().nulls_last(), name).limit(MOST_KINDS)
