# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Access patterns over jobs and programs, by what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, distinct, func, select

from stripewise.centre.database.queries._everybody import (
    coarse,
    everybody,
    floored,
    is_mixed,
    kept,
    public_period,
)
from stripewise.centre.database.queries._filters import JobFilter, Period, rows_of
from stripewise.centre.database.queries._job import Row
from stripewise.centre.database.queries._viewer import FEWEST_USERS, Viewer, jobs_of
from stripewise.centre.database.tables._jobs import Job, JobPattern, JobSource

MOST_FORMS = 200
PUBLIC_SECONDS = (1000.0, 100.0, 10.0, 1.0, 0.0)
"""Least losses for which figures over everybody are given: close ones would tell jobs apart."""


@dataclass(frozen=True)
class PatternFilter:
    """What is asked of patterns.

    Attributes:
        pattern: Part of the form, with its blanks: "BLOCK, *".
        direction: "read" or "write".
        least_lost_seconds: Least gain that findings expect for its files in one job.
    """

    pattern: str | None = None
    direction: str | None = None
    least_lost_seconds: float | None = None

    @classmethod
    def parse(cls, words: Mapping[str, str]) -> PatternFilter:
        """Return the filter that the words of a URL ask for.

        Raises:
            UsageError: A value cannot be used.
        """
        names = ("pattern", "direction", "least_lost_seconds")
        asked = JobFilter.parse({name: words[name] for name in names if name in words})
        return cls(asked.pattern, asked.direction, asked.least_lost_seconds)

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the table of patterns."""
        found: list[ColumnElement[bool]] = []
        if self.pattern is not None:
            found.append(JobPattern.form.contains(self.pattern, autoescape=True))
        if self.direction is not None:
            found.append(JobPattern.is_write.is_(self.direction == "write"))
        if self.least_lost_seconds is not None:
            found.append(JobPattern.lost_seconds >= self.least_lost_seconds)
        return found


def search_patterns(
    connection: Connection, viewer: Viewer, asked: PatternFilter, period: Period
) -> Sequence[Row]:
    """Return forms of patterns in the jobs that a viewer sees, those that lose most first.

    Rows have form, is_write, job_count, program_count, user_count, lost_seconds.  Two profiles
    may tell of one run: of each job the larger loss counts.
    """
    jobs = jobs_of(viewer).where(*period.jobs)
    return rows_of(connection.execute(_forms(jobs, asked)))


def public_patterns(connection: Connection, asked: PatternFilter, now: float) -> Sequence[Row]:
    """Return the same over the jobs of all users, rounded, of patterns that enough users have."""
    least = public_seconds(asked.least_lost_seconds)
    every = kept(connection, ("patterns", least), now, lambda: _public(connection, least, now))
    return [
        row
        for row in every
        if (asked.pattern is None or asked.pattern in row["form"])
        and (asked.direction is None or row["is_write"] == (asked.direction == "write"))
    ]


def _public(connection: Connection, least: float | None, now: float) -> Sequence[Row]:
    jobs = everybody(public_period(now))
    query = _of_enough(_each(jobs, PatternFilter(least_lost_seconds=least)))
    return [
        {
            **row,
            "job_count": floored(int(row["job_count"])),
            "user_count": floored(row["user_count"]),
            "lost_seconds": None if row["lost_seconds"] is None else coarse(row["lost_seconds"]),
        }
        for row in rows_of(connection.execute(query))
    ]


def public_seconds(asked: float | None) -> float | None:
    """Return the least loss that is used for everybody where this one is asked for."""
    if asked is None:
        return None
    return next(one for one in PUBLIC_SECONDS if one <= asked)


def _forms(jobs: Select[Any], asked: PatternFilter) -> Select[Any]:
    each = _each(jobs, asked)
    seconds = func.sum(each.c.lost)
    query = select(
        each.c.form,
        each.c.is_write,
        func.count().label("job_count"),
        func.count(distinct(each.c.program_id)).label("program_count"),
        func.count(distinct(each.c.person_id)).label("user_count"),
        seconds.label("lost_seconds"),
    ).group_by(each.c.form, each.c.is_write)
    return _costliest(query, seconds, each)


def _of_enough(each: Any) -> Select[Any]:
    """Return the query of forms that enough users have, none of whom makes most of one.

    What is lost is not known where it is known of too few users, or one of them loses more than
    half of it.
    """
    shape = (each.c.form, each.c.is_write)
    of_user = (
        select(*shape, func.count().label("jobs"), func.sum(each.c.lost).label("lost"))
        .group_by(*shape, each.c.person_id)
        .subquery()
    )
    users, lost = func.count(), of_user.c.lost
    is_told = and_(func.count(lost) >= FEWEST_USERS, is_mixed(lost))
    seconds = case((is_told, func.sum(lost)))
    query = (
        select(of_user.c.form, of_user.c.is_write, func.sum(of_user.c.jobs).label("job_count"))
        .add_columns(users.label("user_count"), seconds.label("lost_seconds"))
        .group_by(of_user.c.form, of_user.c.is_write)
        .having(users >= FEWEST_USERS, is_mixed(of_user.c.jobs))
    )
    return _costliest(query, seconds, of_user)


def _each(jobs: Select[Any], asked: PatternFilter) -> Any:
    """Return a row for each job and form."""
    shape = (JobPattern.form, JobPattern.is_write)
    lost = func.max(JobPattern.lost_seconds).label("lost")
    return (
        jobs.with_only_columns(Job.id, Job.person_id, Job.program_id, *shape, lost)
        .join(JobSource, JobSource.job_id == Job.id)
        .join(JobPattern, JobPattern.source_id == JobSource.id)
        .where(*asked.conditions())
        .group_by(Job.id, Job.person_id, Job.program_id, *shape)
        .subquery()
    )


def _costliest(query: Select[Any], seconds: Any, rows: Any) -> Select[Any]:
    unknown_last = case((seconds.is_(None), 1), else_=0)
    query = query.order_by(unknown_last, seconds.desc(), rows.c.form, rows.c.is_write)
    return query.limit(MOST_FORMS)
