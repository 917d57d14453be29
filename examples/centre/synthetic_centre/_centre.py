# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A synthetic centre in a database: everything follows from the seed and the last moment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context

from sqlalchemy import Connection, Engine, func, insert, select, update

from stripewise.centre.database._engine import database_errors, refresh_statistics
from stripewise.centre.database._records import Record
from stripewise.centre.database.store._samples import file_system_key, make_months, series_keys
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import (
    FileSystem,
    Job,
    Person,
    Program,
    Project,
    Rollup,
    Sample,
)
from stripewise.core.errors import UsageError
from synthetic_centre._bench import campaigns
from synthetic_centre._logins import Login
from synthetic_centre._pairs import pairs
from synthetic_centre._people import users
from synthetic_centre._plan import Planner
from synthetic_centre._programs import PROGRAMS
from synthetic_centre._run import Ran, run, survey_run
from synthetic_centre._served import store_served
from synthetic_centre._storage import Servers, events
from synthetic_centre._survey import CASES
from synthetic_centre._weather import MOUNTS, Weather

JOBS = 3000
_AT_ONCE = 40


@dataclass(frozen=True)
class Centre:
    """What was made.

    Attributes:
        jobs / profiles: How many were stored.
        logins: Accounts to look at it with, which are still to be made (`open_accounts`).
    """

    jobs: int
    profiles: int
    logins: tuple[Login, ...]


def make_centre(
    engine: Engine,
    seed: int = 1,
    *,
    until: int | None = None,
    jobs: int = JOBS,
    workers: int | None = None,
) -> Centre:
    """Fill an empty database with a year of a synthetic centre.

    Args:
        engine: Of a database with tables.
        seed: The same seed makes the same centre.
        until: When the year ends, seconds since 1970; None: now.
        jobs: How many there are, apart from the runs of the survey.
        workers: Processes; None: one for each processor.

    Raises:
        UsageError: The database has jobs already.
        StorageError: The database refuses.
    """
    weather = Weather(seed, int(time.time()) if until is None else until)
    with database_errors(engine):
        _check_empty(engine)
        ran, profiles = _store_jobs(engine, _all(seed, weather, jobs, workers))
        with engine.execution_options(writing=True).begin() as connection:
            _store_storage(connection, seed, weather, ran)
            store_served(connection, seed, weather.until, ran)
            _name_areas(connection)
            writer = Writer(connection)
            writer.store([*pairs(weather, users()), *campaigns(seed, weather), *events(weather)])
            logins = _logins(connection)
        refresh_statistics(engine)
    return Centre(len(ran), profiles, logins)


def _check_empty(engine: Engine) -> None:
    with engine.connect() as connection:
        found = connection.scalar(select(func.count()).select_from(Job))
    if found:
        raise UsageError(
            f"the database has {found:,} jobs: a synthetic centre is made only in one of its own "
            "(give another file)"
        )


def _all(seed: int, weather: Weather, jobs: int, workers: int | None) -> Iterator[Ran]:
    """Yield all jobs: those of the survey, then the others in the order of their submission."""
    plans = list(Planner(seed, weather).plans(jobs))
    batches = [plans[place : place + _AT_ONCE] for place in range(0, len(plans), _AT_ONCE)]
    number = workers or os.cpu_count() or 1
    if number == 1:
        for case in range(len(CASES)):
            yield survey_run(weather.start, case)
        for batch in batches:
            yield from run(seed, weather.until, batch)
        return
    with ProcessPoolExecutor(number, get_context("spawn")) as pool:
        survey = pool.map(partial(survey_run, weather.start), range(len(CASES)))
        ran = pool.map(partial(run, seed, weather.until), batches)
        yield from survey
        for found in ran:
            yield from found


def _store_jobs(engine: Engine, jobs: Iterable[Ran]) -> tuple[list[Ran], int]:
    """Store jobs some hundred at a time; return them without profiles, and how many had one."""
    kept, profiles = list[Ran](), 0
    with engine.execution_options(writing=True).begin() as connection:
        for name, system in MOUNTS:
            key = file_system_key(connection, system)
            connection.execute(update(FileSystem).where(FileSystem.id == key).values(mount=name))
        writer, waiting = Writer(connection), list[Record]()
        for one in jobs:
            waiting += [one.job] if one.is_recorded else []
            waiting += [one.source] if one.source else []
            kept.append(replace(one, source=None))
            profiles += one.source is not None
            if len(waiting) >= 500:
                writer.store(waiting)
                waiting.clear()
        writer.store(waiting)
    return kept, profiles


def _store_storage(
    connection: Connection, seed: int, weather: Weather, jobs: Sequence[Ran]
) -> None:
    for one in Servers(seed, weather, jobs).histories():
        (key,) = series_keys(connection, [one.series]).values()
        make_months(connection, (at for at, _, _ in one.series.values))
        samples = [
            {"series_id": key, "at": at, "seconds": seconds, "value": value}
            for at, seconds, value in one.series.values
        ]
        rollups = [{"series_id": key, **row} for row in one.rollups]
        for table, rows in ((Sample, samples), (Rollup, rollups)):
            if rows:
                connection.execute(insert(table), rows)


def _name_areas(connection: Connection) -> None:
    for program in PROGRAMS:
        connection.execute(
            update(Program).where(Program.name == program.name).values(area=program.area)
        )


def _logins(connection: Connection) -> tuple[Login, ...]:
    """Choose who looks at the demo: a user with many kinds of findings, and their manager."""
    busy = (
        select(Person.name, Project.name)
        .select_from(Job)
        .join(Person, Person.id == Job.person_id)
        .join(Project, Project.id == Job.project_id)
        .group_by(Person.name, Project.name)
        .order_by(func.count(Job.top_finding.distinct()).desc(), func.count().desc(), Person.name)
    )
    found = [(person, project) for person, project in connection.execute(busy)]
    user, project = found[0]
    manager = next((one for one, where in found[1:] if where == project), user)
    managed = [Login(manager, "user", manager, project)] if manager != user else []
    staff = (Login("support", "support"), Login("admin", "admin"))
    return (Login(user, "user", user), *managed, *staff)
