# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Turns parameters of a form or a URL into conditions on jobs and a bounded period of time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    and_,
    cast,
    exists,
    false,
    func,
    or_,
    select,
)

from stripewise.centre.database.queries._paging import count
from stripewise.centre.database.tables._jobs import (
    Cluster,
    FindingRow,
    Job,
    JobPattern,
    JobSource,
    Person,
    Program,
    Project,
)
from stripewise.core.errors import UsageError
from stripewise.present import plural, printable

LONGEST = 200
"""Maximum length of a search word."""
RARE = 5000
"""Maximum number of rows for which a condition is rare, and looked up first by its index."""
MOST_NAMES = 500
"""Maximum number of names that one word may match."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LARGEST_ID = 1 << 62
_LAST_MOMENT = 253_402_300_799
"""The end of the year 9999, the last one in Python's calendars."""


@dataclass(frozen=True)
class JobFilter:
    """Conditions on jobs; a field that is None sets no condition.

    Attributes:
        q: Search words: a job id, part of the name of a program, user or project, or the beginning
            of a job's name.
        job_id: Slurm's raw job id.
        cluster: Name of the cluster.
        user: Name of the user.
        project: Name of the project.
        program: Name of the program.
        state: State as Slurm names it, such as "COMPLETED".
        finding: Code of a finding, such as "small-requests".
        pattern: Form of a pattern, such as "<3D, (BLOCK, *, *)>".
        direction: Direction of that pattern: "read" or "write".
        least_lost_seconds: Minimum saving that findings predict for the files of that pattern.
        slower: "yes" for jobs whose I/O took longer than that of earlier runs.
        source: Kind of the source, "any" or "none".
        since: Jobs that started at or after this moment, in seconds since 1970.
        until: Jobs that started before it.
        least_io_seconds: Minimum I/O time.
        least_avoidable_seconds: Minimum saving that a finding predicts.
    """

    q: str | None = None
    job_id: int | None = None
    cluster: str | None = None
    user: str | None = None
    project: str | None = None
    program: str | None = None
    state: str | None = None
    finding: str | None = None
    pattern: str | None = None
    direction: str | None = None
    slower: str | None = None
    source: str | None = None
    since: int | None = None
    until: int | None = None
    least_io_seconds: float | None = None
    least_avoidable_seconds: float | None = None
    least_lost_seconds: float | None = None

    @classmethod
    def parse(cls, words: Mapping[str, str]) -> JobFilter:
        """Return the filter that the parameters of a URL define; empty ones set no condition.

        Raises:
            UsageError: A value cannot be used.
        """
        found: dict[str, Any] = {}
        for field in fields(cls):
            text = words.get(field.name, "").strip()
            if text:
                found[field.name] = _value(field.name, text)
        if found.get("direction") not in (None, "read", "write"):
            raise UsageError(f"direction={found['direction']!r}: give read or write")
        if found.get("slower") not in (None, "yes"):
            raise UsageError(f"slower={found['slower']!r}: give yes")
        return cls(**found)

    def words(self) -> dict[str, str]:
        """Return the filter as parameters of a URL."""
        job_filter = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) for name, value in job_filter.items() if value is not None}


@dataclass(frozen=True)
class Conditions:
    """SQL conditions of a filter.

    Attributes:
        all: The conditions, all of which must hold.
        is_rare: Whether one of them holds for few jobs, and is a list of their keys.
    """

    all: tuple[ColumnElement[bool], ...] = ()
    is_rare: bool = False


def conditions(connection: Connection, job_filter: JobFilter) -> Conditions:
    """Return the conditions of a filter; names and rare properties are looked up first."""
    found = [*_name_conditions(connection, job_filter), *_evidence(connection, job_filter)]
    by_index = [_word(connection, word) for word in (job_filter.q or "").split()]
    if job_filter.job_id is not None:
        by_index.append(Job.raw_id == job_filter.job_id)
    by_index += _bounds(job_filter)
    keys = [_keys_of_rare(connection, condition) for condition in by_index]
    found += [
        condition if rare is None else rare for condition, rare in zip(by_index, keys, strict=True)
    ]
    return Conditions(tuple(found), any(rare is not None for rare in keys))


def _name_conditions(connection: Connection, job_filter: JobFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    for text, table, column in (
        (job_filter.cluster, Cluster, Job.cluster_id),
        (job_filter.user, Person, Job.person_id),
        (job_filter.project, Project, Job.project_id),
        (job_filter.program, Program, Job.program_id),
    ):
        if text is not None:
            key = connection.scalar(select(table.id).where(table.name == text))
            found.append(false() if key is None else column == key)
    if job_filter.state is not None:
        found.append(Job.state == job_filter.state)
    return found


def _bounds(job_filter: JobFilter) -> list[ColumnElement[bool]]:
    """Return the conditions on columns that have an index, one for each column."""
    started: list[ColumnElement[bool]] = []
    if job_filter.since is not None:
        started.append(Job.start_at >= job_filter.since)
    if job_filter.until is not None:
        started.append(Job.start_at < job_filter.until)
    found = [and_(*started)] if started else []
    if job_filter.least_io_seconds is not None:
        found.append(Job.io_seconds >= job_filter.least_io_seconds)
    if job_filter.least_avoidable_seconds is not None:
        found.append(Job.avoidable_seconds >= job_filter.least_avoidable_seconds)
    if job_filter.slower is not None:
        found.append(Job.slower_factor > 0)
    return found


def _keys_of_rare(
    connection: Connection, condition: ColumnElement[bool]
) -> ColumnElement[bool] | None:
    """Return a condition as a list of the jobs that meet it, or None if they are too many."""
    if count(connection, select(Job.id).where(condition), Job.id, RARE) > RARE:
        return None
    return Job.id.in_(select(Job.id).where(condition))


def _evidence(connection: Connection, job_filter: JobFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if job_filter.finding is not None:
        found.append(_has_row(connection, FindingRow, [FindingRow.code == job_filter.finding]))
    about: list[ColumnElement[bool]] = []
    if job_filter.pattern is not None:
        about.append(JobPattern.form == job_filter.pattern)
    if job_filter.direction is not None:
        about.append(JobPattern.is_write.is_(job_filter.direction == "write"))
    if job_filter.least_lost_seconds is not None:
        about.append(JobPattern.lost_seconds >= job_filter.least_lost_seconds)
    if about:
        found.append(_has_row(connection, JobPattern, about))
    if job_filter.source == "none":
        found.append(Job.source_count == 0)
    elif job_filter.source == "any":
        found.append(Job.source_count > 0)
    elif job_filter.source is not None:
        found.append(
            exists().where(JobSource.job_id == Job.id, JobSource.kind == job_filter.source)
        )
    return found


def _has_row(
    connection: Connection, table: Any, about: list[ColumnElement[bool]]
) -> ColumnElement[bool]:
    """Return the condition that a source of a job has such a row.

    For rare rows, the jobs are looked up first; otherwise jobs are tested until a page is full.
    """
    sources = select(table.source_id).where(*about)
    if count(connection, sources, table.source_id, RARE) <= RARE:
        return Job.id.in_(select(JobSource.job_id).where(JobSource.id.in_(sources)))
    of_source = exists().where(table.source_id == JobSource.id, *about)
    return exists().where(JobSource.job_id == Job.id, of_source)


def _word(connection: Connection, word: str) -> ColumnElement[bool]:
    """Return the condition for all that one search word may stand for."""
    if word.isascii() and word.isdecimal() and int(word) < _LARGEST_ID:
        return or_(Job.raw_id == int(word), Job.array_job_id == int(word), _begins(word))
    begins = _begins(word)
    is_name = connection.scalar(select(Job.id).where(begins).limit(1)) is not None
    means = [begins] if is_name else []
    for table, column in (
        (Program, Job.program_id), (Person, Job.person_id), (Project, Job.project_id),
    ):  # fmt: skip
        like = func.lower(table.name).contains(word.lower(), autoescape=True)
        keys = connection.scalars(
            select(table.id).where(like).order_by(table.name).limit(MOST_NAMES)
        ).all()
        if keys:
            means.append(column.in_(keys))
    return or_(*means) if means else false()


def _begins(word: str) -> ColumnElement[bool]:
    """Return the condition that a job's name begins with a word, as a range of the index."""
    return and_(Job.name >= word, Job.name < word + "\U0010ffff")


def _value(name: str, text: str) -> str | int | float:
    if len(text) > LONGEST:
        raise UsageError(f"{name}: {len(text)} characters; at most {LONGEST} can be searched")
    if name == "job_id":
        return _job_id(text)
    if name in ("since", "until"):
        return _moment(name, text)
    if name.startswith("least_"):
        return _number(name, text)
    return form_as_stored(printable(text)) if name == "pattern" else printable(text)


def form_as_stored(text: str) -> str:
    """Return the form of a pattern with its blanks: "<3D, (BLOCK, *)>" for "<3D,(BLOCK,*)>"."""
    return ", ".join(part.strip() for part in text.split(","))


def _job_id(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < _LARGEST_ID:
        return int(text)
    raise UsageError(f"job_id={text!r} is not a Slurm job id, such as 4711")


def _moment(name: str, text: str) -> int:
    """Return a moment, given as a day (UTC) or as seconds since 1970."""
    try:
        if _DAY.fullmatch(text):
            return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
        moment = int(text)
        if text.isascii() and 0 <= moment <= _LAST_MOMENT:
            return moment
    except ValueError:
        pass
    raise UsageError(f"{name}={text!r} is not a day: write it as in 2026-03-31")


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e18:
        raise UsageError(f"{name}={text!r} is not a number of seconds, such as 10")
    return number


# Periods of time, always bounded so that no page reads the whole database.

DAY = 86400
USUAL_DAYS = 90
MOST_DAYS = 366
_LEFT_OUT = "left_out_"


@dataclass(frozen=True)
class Period:
    """A period that excludes its end, in seconds since 1970.

    Attributes:
        words: Parameters since and until that defined it; empty if there were none.
    """

    since: int
    until: int
    words: Mapping[str, str]

    @classmethod
    def parse(cls, words: Mapping[str, str], now: float, days: int = USUAL_DAYS) -> Period:
        """Return the period that the parameters of a URL define.

        Args:
            words: Parameters "since" and "until" as in a search for jobs; without them the last
                days, from the beginning of a day (UTC) on.
            now: Current time, in seconds since 1970.
            days: Length in days if "since" is not given.

        Raises:
            UsageError: The period is empty, or too long.
        """
        given = {name: words[name] for name in ("since", "until") if words.get(name, "").strip()}
        job_filter = JobFilter.parse(given)
        since, until = job_filter.since, job_filter.until
        if until is None:
            end = int(now) + 1
            until = end if since is None else max(min(end, since + MOST_DAYS * DAY), since + 1)
        if since is None:
            since = max(until - days * DAY, 0) // DAY * DAY
        said = ", ".join(f"{name}={text}" for name, text in given.items())
        if since >= until:
            raise UsageError(f"{said}: give a period that begins before it ends")
        if until - since > MOST_DAYS * DAY:
            raise UsageError(
                f"{said}: these are {(until - since) // DAY} days; at most {MOST_DAYS} can be "
                "looked at together"
            )
        return cls(since, until, given)

    @property
    def jobs(self) -> tuple[ColumnElement[bool], ...]:
        """The condition that a job started within the period."""
        return (Job.start_at >= self.since, Job.start_at < self.until)

    @property
    def link_words(self) -> Mapping[str, str]:
        """The parameters that choose the same period on another page."""
        return {"since": _day(self.since), **self.words}

    @property
    def text(self) -> str:
        """The period as text for display: "from 2026-01-01 to 2026-03-31"."""
        return f"from {_day(self.since)} to {_day(self.until - 1)}"


def whole_months(now: float, number: int) -> Period:
    """Return the last complete months.

    Args:
        now: Current time, in seconds since 1970.
        number: Number of months.
    """
    at = datetime.fromtimestamp(now, UTC)
    end = at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    months = end.year * 12 + end.month - 1 - number
    begin = end.replace(year=months // 12, month=months % 12 + 1)
    return Period(int(begin.timestamp()), int(end.timestamp()), {})


def _day(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def rows_of(result: Any) -> list[dict[str, Any]]:
    """Return the rows of a result as dictionaries.

    PostgreSQL returns sums of integers as decimals, which JSON cannot represent.
    """
    return [
        {name: int(value) if isinstance(value, Decimal) else value for name, value in row.items()}
        for row in result.mappings()
    ]


def count_unknown(column: Any, name: str) -> ColumnElement[int]:
    """Count the rows that the sum of the column called `name` leaves out."""
    return (func.count() - func.count(column)).label(_LEFT_OUT + name)


def with_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with what is missing of its sums, if `count_unknown` counted that."""
    counts = {name.removeprefix(_LEFT_OUT): n for name, n in row.items() if _LEFT_OUT in name}
    values = {name: value for name, value in row.items() if _LEFT_OUT not in name}
    missing = {name: f"it is not known for {plural(n, 'job')}" for name, n in counts.items() if n}
    return {**values, "missing": missing}


def total(one: Any, other: Any) -> ColumnElement[float]:
    """Return the sum of two columns of bytes as a floating-point number.

    As integers, the figures of one broken profile could overflow, and the error would end every
    query that includes them.
    """
    return cast(one, Double) + cast(other, Double)
