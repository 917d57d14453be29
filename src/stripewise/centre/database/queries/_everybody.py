# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes rounded figures over the jobs of all users, once for many requests.

Here alone jobs are looked at that the viewer may not see.  Nothing of one user can be told from
the answers: they are of programs, or patterns, with at least `FEWEST_USERS` users, none of whom
makes more than half of it (`is_mixed`: with one user who makes most of it, a median or a sum is
theirs), and so is each single figure; the time is always the last whole months, so that no two
answers differ by a few jobs; counts are rounded down to multiples of `FEWEST_USERS`, other
figures to two digits; sums and extremes of programs, which one user alone may make, are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Connection, Engine, Select, event, func, select

from stripewise.centre.database._engine import ACCOUNTS
from stripewise.centre.database.queries._filters import Period, whole_months
from stripewise.centre.database.queries._programs import ProgramSurvey, Spread, survey_of
from stripewise.centre.database.queries._viewer import FEWEST_USERS
from stripewise.centre.database.tables._jobs import Job

MONTHS = 3
"""Whole months that figures over everybody are of."""
KEPT_SECONDS = 3600
_KEPT: WeakKeyDictionary[Engine, dict[Hashable, tuple[int, Any]]] = WeakKeyDictionary()
"""What was found of each database, and in which hour."""
T = TypeVar("T")


def public_period(now: float) -> Period:
    """Return the time of which figures over everybody are."""
    return whole_months(now, MONTHS)


def public_survey(connection: Connection, now: float) -> Sequence[ProgramSurvey]:
    """Return the programs that enough users have, by name; the same for all viewers."""
    jobs = everybody(public_period(now))
    return kept(connection, "survey", now, lambda: _survey(connection, jobs))


def kept(connection: Connection, name: Hashable, now: float, find: Callable[[], T]) -> T:
    """Return what is the same for all viewers, found once an hour: it takes seconds.

    Args:
        connection: To the database.
        name: Of what is asked.
        now: Seconds since 1970.
        find: Finds it; what is empty is not kept, for a database that is just being filled.
    """
    answers = _KEPT.setdefault(connection.engine, {})
    with place_of(connection, ("kept", name)).lock:  # others wait for whoever looks for it
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
    """Begin a query about the jobs of all users; those whose user is not known do not count."""
    return select().select_from(Job).where(*period.jobs, Job.person_id.is_not(None))


def is_mixed(amount: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that no row of a group, a row for each user, has more than half of it.

    Source: the dominance rule of statistical offices, with n = 1 and k = 50 %; Hundepool and
    others, Statistical Disclosure Control (2012).
    """
    return func.max(amount) * 2 <= func.sum(amount)


def coarse(value: float) -> float:
    """Return a figure with two digits."""
    return float(f"{value:.2g}")


def floored(count: int) -> int:
    """Return a count, rounded down to a multiple of `FEWEST_USERS`."""
    return count // FEWEST_USERS * FEWEST_USERS


def _rounded(one: ProgramSurvey) -> ProgramSurvey:
    """Leave out what one user alone may make: sums, extremes."""
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


# What many requests need at one moment, and is the same for all viewers: found once.

SECONDS = 5.0
"""For so long an answer stands: samples are taken every few seconds at the most often."""
_MOST = 1000
_now = time.monotonic


class Place:
    """An answer, or the place for it while somebody looks for it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value: Any = None
        self.until = -1.0


_FOUND: WeakKeyDictionary[Engine, dict[Hashable, Place]] = WeakKeyDictionary()


def briefly(connection: Connection, name: Hashable, find: Callable[[], T]) -> T:
    """Return what `find` finds, or found a moment ago for another request.

    Whoever asks while another looks for it waits for that answer: a hundred pages at once ask the
    database once.  What this process writes itself, but for accounts and their audit, is seen at
    once.

    Args:
        connection: To the database.
        name: Of what is asked, with all that it depends on but the moment.
        find: Finds it.  Nobody changes what it returns.
    """
    one = place_of(connection, name)
    with one.lock:
        if one.until <= _now():
            one.value = find()
            one.until = _now() + SECONDS
        answer: T = one.value
        return answer


def place_of(connection: Connection, name: Hashable) -> Place:
    """Return where the answer to a question stands."""
    engine = connection.engine
    answers = _FOUND.get(engine)
    if answers is None:
        answers = _FOUND.setdefault(engine, {})
        event.listen(engine, "commit", _forget)
    if len(answers) > _MOST:
        answers.clear()
    return answers.setdefault(name, Place())


def _forget(connection: Connection) -> None:
    """Forget what was found, after something was written."""
    if connection.get_execution_options().get("writing") not in (None, False, ACCOUNTS):
        for answers in list(_FOUND.values()):
            answers.clear()
