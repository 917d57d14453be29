# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Of which time figures are: always bounded, so that no page reads all there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Double, cast, func

from stripewise.errors import UsageError
from stripewise.fleet.queries._filters import JobFilter
from stripewise.fleet.tables import Job
from stripewise.text import plural

DAY = 86400
USUAL_DAYS = 90
MOST_DAYS = 366
_LEFT_OUT = "left_out_"


@dataclass(frozen=True)
class Period:
    """From one moment to before another, in seconds since 1970.

    Attributes:
        words: By which it was asked for: since, until; empty: nobody asked.
    """

    since: int
    until: int
    words: Mapping[str, str]

    @classmethod
    def parse(cls, words: Mapping[str, str], now: float, days: int = USUAL_DAYS) -> Period:
        """Return the period that the words of a URL ask for.

        Args:
            words: "since" and "until" as in a search for jobs; without them the last days,
                from the beginning of a day (UTC) on.
            now: Seconds since 1970.
            days: How many days there are if "since" is not given.

        Raises:
            UsageError: It is empty, or too long.
        """
        given = {name: words[name] for name in ("since", "until") if words.get(name, "").strip()}
        asked = JobFilter.parse(given)
        since, until = asked.since, asked.until
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
        """The condition that a job started within it."""
        return (Job.start_at >= self.since, Job.start_at < self.until)

    @property
    def link_words(self) -> Mapping[str, str]:
        """The words that choose the same period on another page."""
        return {"since": _day(self.since), **self.words}

    @property
    def text(self) -> str:
        """The period for people: "from 2026-01-01 to 2026-03-31"."""
        return f"from {_day(self.since)} to {_day(self.until - 1)}"


def whole_months(now: float, number: int) -> Period:
    """Return the last months that are over.

    Args:
        now: Seconds since 1970.
        number: Of months.
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

    PostgreSQL gives sums of integers as decimals, which JSON does not know.
    """
    return [
        {name: int(value) if isinstance(value, Decimal) else value for name, value in row.items()}
        for row in result.mappings()
    ]


def left_out(column: Any, name: str) -> ColumnElement[int]:
    """Return how many rows the sum of a column, which is called `name`, leaves out."""
    return (func.count() - func.count(column)).label(_LEFT_OUT + name)


def with_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with what is missing of its sums, where `left_out` counted that."""
    counts = {name.removeprefix(_LEFT_OUT): n for name, n in row.items() if _LEFT_OUT in name}
    told = {name: value for name, value in row.items() if _LEFT_OUT not in name}
    missing = {name: f"of {plural(n, 'job')} it is not known" for name, n in counts.items() if n}
    return {**told, "missing": missing}


def total(one: Any, other: Any) -> ColumnElement[float]:
    """Return the sum of two columns of bytes as a floating-point number.

    As integers, the figures of one broken profile are too large for the database to add, and its
    refusal would end every query that meets them.
    """
    return cast(one, Double) + cast(other, Double)
