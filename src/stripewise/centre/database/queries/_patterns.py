# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds access patterns by their cost, and surveys the programs and patterns of all users."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    and_,
    case,
    distinct,
    event,
    func,
    select,
)

from stripewise.centre.database._engine import ACCOUNTS
from stripewise.centre.database.queries._filters import JobFilter, Period, rows_of, whole_months
from stripewise.centre.database.queries._job import Row
from stripewise.centre.database.queries._programs import ProgramSurvey, Spread, survey_of
from stripewise.centre.database.queries._viewer import FEWEST_USERS, Viewer, jobs_of
from stripewise.centre.database.tables._jobs import Job, JobPattern, JobSource

MOST_FORMS = 200
PUBLIC_SECONDS = (1000.0, 100.0, 10.0, 1.0, 0.0)
"""Minimum losses for which public figures are given: finer steps would reveal single jobs."""


@dataclass(frozen=True)
class PatternFilter:
    """Conditions on patterns.

    Attributes:
        pattern: Part of the form, with its blanks, such as "BLOCK, *".
        direction: "read" or "write".
        least_lost_seconds: Minimum saving that findings predict for its files in one job.
    """

    pattern: str | None = None
    direction: str | None = None
    least_lost_seconds: float | None = None

    @classmethod
    def parse(cls, words: Mapping[str, str]) -> PatternFilter:
        """Return the filter that the parameters of a URL define.

        Raises:
            UsageError: A value cannot be used.
        """
        names = ("pattern", "direction", "least_lost_seconds")
        pattern_filter = JobFilter.parse({name: words[name] for name in names if name in words})
        return cls(
            pattern_filter.pattern, pattern_filter.direction, pattern_filter.least_lost_seconds
        )

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
    connection: Connection, viewer: Viewer, pattern_filter: PatternFilter, period: Period
) -> Sequence[Row]:
    """Return forms of patterns in the jobs that a viewer sees, those that lose most first.

    Rows have form, is_write, job_count, program_count, user_count, lost_seconds. Two profiles may
    describe the same run: for each job, only the larger loss counts.
    """
    jobs = jobs_of(viewer).where(*period.jobs)
    return rows_of(connection.execute(_forms(jobs, pattern_filter)))


def public_patterns(
    connection: Connection, pattern_filter: PatternFilter, now: float
) -> Sequence[Row]:
    """Return rounded figures of patterns over all users' jobs, if enough users have them."""
    least = public_seconds(pattern_filter.least_lost_seconds)
    every = kept(connection, ("patterns", least), now, lambda: _public(connection, least, now))
    return [
        row
        for row in every
        if (pattern_filter.pattern is None or pattern_filter.pattern in row["form"])
        and (
            pattern_filter.direction is None
            or row["is_write"] == (pattern_filter.direction == "write")
        )
    ]


def _public(connection: Connection, least: float | None, now: float) -> Sequence[Row]:
    jobs = everybody(public_period(now))
    query = _forms_of_enough_users(_each(jobs, PatternFilter(least_lost_seconds=least)))
    return [
        {
            **row,
            "job_count": floored(int(row["job_count"])),
            "user_count": floored(row["user_count"]),
            "lost_seconds": None if row["lost_seconds"] is None else coarse(row["lost_seconds"]),
        }
        for row in rows_of(connection.execute(query))
    ]


def public_seconds(pattern_filter: float | None) -> float | None:
    """Return the minimum loss that is applied to public figures for a requested one."""
    if pattern_filter is None:
        return None
    return next(one for one in PUBLIC_SECONDS if one <= pattern_filter)


def _forms(jobs: Select[Any], pattern_filter: PatternFilter) -> Select[Any]:
    each = _each(jobs, pattern_filter)
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


def _forms_of_enough_users(each: Any) -> Select[Any]:
    """Return the query of forms that enough users have, none of whom accounts for most of one.

    The loss is unknown if it is known for too few users, or one of them accounts for more than
    half of it.
    """
    shape = (each.c.form, each.c.is_write)
    of_user = (
        select(*shape, func.count().label("jobs"), func.sum(each.c.lost).label("lost"))
        .group_by(*shape, each.c.person_id)
        .subquery()
    )
    users, lost = func.count(), of_user.c.lost
    is_known = and_(func.count(lost) >= FEWEST_USERS, is_mixed(lost))
    seconds = case((is_known, func.sum(lost)))
    query = (
        select(of_user.c.form, of_user.c.is_write, func.sum(of_user.c.jobs).label("job_count"))
        .add_columns(users.label("user_count"), seconds.label("lost_seconds"))
        .group_by(of_user.c.form, of_user.c.is_write)
        .having(users >= FEWEST_USERS, is_mixed(of_user.c.jobs))
    )
    return _costliest(query, seconds, of_user)


def _each(jobs: Select[Any], pattern_filter: PatternFilter) -> Any:
    """Return a query with one row for each job and form."""
    shape = (JobPattern.form, JobPattern.is_write)
    lost = func.max(JobPattern.lost_seconds).label("lost")
    return (
        jobs.with_only_columns(Job.id, Job.person_id, Job.program_id, *shape, lost)
        .join(JobSource, JobSource.job_id == Job.id)
        .join(JobPattern, JobPattern.source_id == JobSource.id)
        .where(*pattern_filter.conditions())
        .group_by(Job.id, Job.person_id, Job.program_id, *shape)
        .subquery()
    )


def _costliest(query: Select[Any], seconds: Any, rows: Any) -> Select[Any]:
    order = (seconds.desc().nulls_last(), rows.c.form, rows.c.is_write)
    return query.order_by(*order).limit(MOST_FORMS)


# Rounded figures over the jobs of all users, cached for many requests.
#
# This is the only place that reads jobs which the viewer may not see. Nothing about a single user
# can be derived from the answers: they describe programs or patterns with at least `FEWEST_USERS`
# users, none of whom accounts for more than half (`is_mixed`: with one user who accounts for most,
# a median or a sum is theirs), and the same holds for each single figure. The period is always the
# last whole months, so that no two answers differ by a few jobs. Counts are rounded down to
# multiples of `FEWEST_USERS`, other figures to two digits; sums and extremes of programs, which a
# single user may account for, are left out.

MONTHS = 3
"""Number of whole months that public figures cover."""
KEPT_SECONDS = 3600
_KEPT: WeakKeyDictionary[Engine, dict[Hashable, tuple[int, Any]]] = WeakKeyDictionary()
"""Cached answers of each database, with the hour in which they were computed."""
T = TypeVar("T")


def public_period(now: float) -> Period:
    """Return the period of figures about all users."""
    return whole_months(now, MONTHS)


def public_survey(connection: Connection, now: float) -> Sequence[ProgramSurvey]:
    """Return the programs that enough users have, by name, equally for all viewers."""
    jobs = everybody(public_period(now))
    return kept(connection, "survey", now, lambda: _survey(connection, jobs))


def kept(connection: Connection, name: Hashable, now: float, find: Callable[[], T]) -> T:
    """Return an answer that is the same for all viewers, computed once an hour.

    Args:
        connection: Connection to the database.
        name: Name of the query.
        now: Current time, in seconds since 1970.
        find: Function that computes it; an empty answer is not kept, for a database that is being
            filled.
    """
    answers = _KEPT.setdefault(connection.engine, {})
    with place_of(connection, ("kept", name)).lock:  # others wait for whoever computes it
        hour, known = answers.get(name, (-1, None))
        if hour == int(now) // KEPT_SECONDS:
            answer: T = known
            return answer
        found = find()
        if found:
            answers[name] = (int(now) // KEPT_SECONDS, found)
        return found


def _survey(connection: Connection, jobs: Select[Any]) -> Sequence[ProgramSurvey]:
    of_users = (
        jobs.with_only_columns(Job.program_id, func.count().label("jobs"))
        .where(Job.source_count > 0)
        .group_by(Job.program_id, Job.person_id)
        .subquery()
    )
    several: Select[Any] = select(of_users.c.program_id).group_by(of_users.c.program_id)
    several = several.having(func.count() >= FEWEST_USERS, is_mixed(of_users.c.jobs))
    keys = [key for key in connection.scalars(several) if key is not None]
    if not keys:
        return ()
    found = survey_of(connection, jobs.where(Job.program_id.in_(keys)), fewest_users=FEWEST_USERS)
    return tuple(_rounded(one) for one in found)


def everybody(period: Period) -> Select[Any]:
    """Return the query for the jobs of all users; jobs of unknown users are left out."""
    return select().select_from(Job).where(*period.jobs, Job.person_id.is_not(None))


def is_mixed(amount: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that no row of a group, one row per user, has more than half of it.

    Source: the dominance rule of statistical offices, with n = 1 and k = 50 %; Hundepool and
    others, Statistical Disclosure Control (2012).
    """
    return func.max(amount) * 2 <= func.sum(amount)


def coarse(value: float) -> float:
    """Return a figure rounded to two digits."""
    return float(f"{value:.2g}")


def floored(count: int) -> int:
    """Return a count rounded down to a multiple of `FEWEST_USERS`."""
    return count // FEWEST_USERS * FEWEST_USERS


def _rounded(one: ProgramSurvey) -> ProgramSurvey:
    """Return a survey without figures that a single user may determine: sums and extremes."""
    medians = {name: coarse(known.median) for name, known in one.figures.items()}
    counts = {name: floored(known.count) for name, known in one.figures.items()}
    return ProgramSurvey(
        one.program,
        one.area,
        floored(one.job_count),
        floored(one.profiled_count),
        floored(one.user_count),
        {name: Spread(value, value, value, counts[name]) for name, value in medians.items()},
        is_everybody=True,
    )


# Answers that many requests need at the same moment and that are the same for all viewers.

SECONDS = 5.0
"""Lifetime of an answer; samples are taken every few seconds at most."""
_MOST = 1000
_now = time.monotonic


class CacheEntry:
    """A cached answer, or the lock that others wait for while it is computed."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value: Any = None
        self.until = -1.0


_FOUND: WeakKeyDictionary[Engine, dict[Hashable, CacheEntry]] = WeakKeyDictionary()


def briefly(connection: Connection, name: Hashable, find: Callable[[], T]) -> T:
    """Return the answer of `find`, or the one that another request computed a moment ago.

    A request that arrives while another computes the answer waits for it: a hundred pages at once
    query the database once. What this process writes itself is seen at once, except for accounts
    and their audit.

    Args:
        connection: Connection to the database.
        name: Name of the query, with all that it depends on except the moment.
        find: Function that computes the answer, which nobody may modify.
    """
    one = place_of(connection, name)
    with one.lock:
        if one.until <= _now():
            one.value = find()
            one.until = _now() + SECONDS
        answer: T = one.value
        return answer


def place_of(connection: Connection, name: Hashable) -> CacheEntry:
    """Return the cache entry of an answer."""
    engine = connection.engine
    answers = _FOUND.get(engine)
    if answers is None:
        answers = _FOUND.setdefault(engine, {})
        event.listen(engine, "commit", _forget)
    if len(answers) > _MOST:
        answers.clear()
    return answers.setdefault(name, CacheEntry())


def _forget(connection: Connection) -> None:
    """Drop cached answers, because something was written."""
    if connection.get_execution_options().get("writing") not in (None, False, ACCOUNTS):
        for answers in list(_FOUND.values()):
            answers.clear()
