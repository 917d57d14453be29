# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: do the sources agree?  Profiles, the storage's counters of jobs, Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_

from stripewise.fleet._match import CLOCKS_SECONDS
from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._jobs import with_names
from stripewise.fleet.queries._paging import Listing, Order, page
from stripewise.fleet.queries._period import Period, rows_of, total
from stripewise.fleet.queries._viewer import Viewer, jobs_of
from stripewise.fleet.tables import Cluster, Job, JobSource, Person, Program

USUAL_RATIO = 2.0
MOST_ODD = 50
_WITNESSES = (
    ("profile", total(Job.read_bytes, Job.write_bytes)),
    ("server", total(Job.server_read_bytes, Job.server_write_bytes)),
    ("slurm", total(Job.slurm_read_bytes, Job.slurm_write_bytes)),
)
_JOB = (
    *(Job.id, Cluster.name.label("cluster"), Job.raw_id, Job.name, Job.start_at),
    *(Person.name.label("user"), Program.name.label("program")),
)


@dataclass(frozen=True)
class Agreement:
    """How far two witnesses agree on the bytes of jobs.

    Attributes:
        first / second: "profile", "server" or "slurm".
        job_count: Jobs of which both tell.
        close_count: Of these, both say the same within a tenth.
        near_count: Within a factor of two.
        first_bytes / second_bytes: Sums over these jobs.
    """

    first: str
    second: str
    job_count: int
    close_count: int
    near_count: int
    first_bytes: int | None
    second_bytes: int | None


def agreements(connection: Connection, viewer: Viewer, period: Period) -> list[Agreement]:
    """Return how far each two of the three witnesses agree."""
    found = []
    for (first, one), (second, other) in _pairs():
        query = jobs_of(
            viewer,
            func.count(),
            func.sum(case((_within(one, other, 1.1), 1), else_=0)),
            func.sum(case((_within(one, other, 2.0), 1), else_=0)),
            func.sum(one),
            func.sum(other),
        ).where(*period.jobs, one.is_not(None), other.is_not(None))
        row = connection.execute(query).one()
        count, close, near = (int(number or 0) for number in row[:3])
        sums = [None if moved is None else int(moved) for moved in row[3:]]
        found.append(Agreement(first, second, count, close, near, *sums))
    return found


def disagreements(
    connection: Connection,
    viewer: Viewer,
    period: Period,
    *,
    least_ratio: float = USUAL_RATIO,
    after: str = "",
    limit: int = 50,
) -> Listing:
    """Return one page of jobs whose witnesses differ by more than a factor, the latest first.

    Rows have the job, profile_bytes, server_bytes, slurm_bytes, and ratio: the largest by the
    smallest of what is told, None: one of them is zero.

    Raises:
        UsageError: The cursor cannot be used.
    """
    apart = [
        and_(one.is_not(None), other.is_not(None), ~_within(one, other, least_ratio))
        for (_, one), (_, other) in _pairs()
    ]
    sums = (witness.label(f"{name}_bytes") for name, witness in _WITNESSES)
    query = with_names(jobs_of(viewer, *_JOB, *sums)).where(*period.jobs, or_(*apart))
    found = page(connection, query, Order(Job.start_at, Job.id), after, limit)
    return Listing([_with_ratio(dict(row._mapping)) for row in found.rows], found.next)


def match_rules(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return how profiles found their jobs: rule, source_count, least_confidence; least first."""
    least = func.min(JobSource.confidence)
    query = (
        jobs_of(viewer, JobSource.match_rule.label("rule"), func.count().label("source_count"))
        .add_columns(least.label("least_confidence"))
        .join(JobSource, JobSource.job_id == Job.id)
        .where(*period.jobs)
        .group_by(JobSource.match_rule)
        .order_by(least, JobSource.match_rule)
    )
    return rows_of(connection.execute(query))


def unrecorded_jobs(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return jobs of which profiles alone tell, the latest first, with their number as total."""
    query = with_names(jobs_of(viewer, *_JOB, func.count().over().label("total")))
    query = query.where(*period.jobs, Job.is_recorded.is_(False))
    return rows_of(connection.execute(query.order_by(Job.start_at.desc()).limit(MOST_ODD)))


def clocks_apart(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return profiles that began before or after their job, by more than clocks may differ.

    Rows have the job, kind, apart_seconds (negative: the profile began too early) and total.
    """
    early = JobSource.start_at - Job.start_at
    late = JobSource.start_at - Job.end_at
    query = with_names(
        jobs_of(
            viewer, *_JOB, JobSource.kind, func.count().over().label("total"),
            case((early < 0, early), else_=late).label("apart_seconds"),
        )
    ).join(JobSource, JobSource.job_id == Job.id)  # fmt: skip
    query = query.where(*period.jobs, Job.is_recorded.is_(True))
    query = query.where(or_(early < -CLOCKS_SECONDS, late > CLOCKS_SECONDS))
    return rows_of(connection.execute(query.order_by(Job.start_at.desc()).limit(MOST_ODD)))


def _pairs() -> list[tuple[tuple[str, Any], tuple[str, Any]]]:
    profile, server, slurm = _WITNESSES
    return [(profile, server), (profile, slurm), (server, slurm)]


def _within(one: Any, other: Any, factor: float) -> ColumnElement[bool]:
    return and_(one <= other * factor, other <= one * factor)


def _with_ratio(row: dict[str, Any]) -> dict[str, Any]:
    names = [f"{name}_bytes" for name, _ in _WITNESSES]
    told = {name: int(row[name]) for name in names if row[name] is not None}
    least, most = min(told.values()), max(told.values())
    return {**row, **told, "ratio": most / least if least else None}
