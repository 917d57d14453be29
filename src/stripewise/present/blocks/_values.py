# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats values for people, by their kind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from stripewise.present._printable import printable
from stripewise.present.numbers import (
    count_text,
    duration_text,
    number_text,
    operations_text,
    percent_text,
    rate_text,
    ratio_text,
    seconds_text,
    size_text,
)

UNKNOWN = "–"
UNKNOWN_FIGURE = "unknown"
_LAST_MOMENT = 253_402_300_799  # end of the year 9999


def written(value: Any, kind: str, why: str = "") -> str:
    """Return a value in words; a dash if it does not apply or is not reported.

    Args:
        value: Value; None if unknown.
        kind: A key of `WRITERS`.
        why: Why the value is unknown ("unknown") or only a lower bound ("at least 3 s").
    """
    if value is None:
        return UNKNOWN_FIGURE if why else UNKNOWN
    return f"{'at least ' if why else ''}{WRITERS[kind](value)}"


def moment(at: float) -> str:
    """Return a time as date, hour and minute in UTC."""
    if not 0 <= at <= _LAST_MOMENT:
        return UNKNOWN
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def _instant(at: float) -> str:
    """Return a time with its seconds; empty if unknown."""
    if not 0 < at <= _LAST_MOMENT:
        return ""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S UTC}"


def _day(at: float) -> str:
    return moment(at)[:10]


def _hours(seconds: float) -> str:
    """Return seconds as a number of hours, in which small values are not rounded to zero."""
    hours = seconds / 3600
    if hours == 0 or hours >= 0.095:
        return f"{hours:,.1f}"
    return f"{hours:.2g}" if hours >= 0.001 else "<0.001"


def _node_hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} node-hours" if seconds >= 360 else f"{seconds:.0f} node-seconds"


WRITERS: dict[str, Callable[[Any], str]] = {
    "text": lambda value: printable(str(value)),
    "code": lambda value: printable(str(value)),
    "path": lambda value: printable(str(value)),
    "figure": lambda value: printable(str(value)),
    "picture": lambda _: "",
    "flag": lambda value: "yes" if value else "no",
    "count": count_text,
    "id": str,
    "number": number_text,
    "factor": lambda value: f"{ratio_text(value)}x",
    "bytes": size_text,
    "rate": lambda value: rate_text(value) if value else "0 B/s",
    "operations": lambda value: operations_text(value, ""),
    "seconds": seconds_text,
    "duration": duration_text,
    "node-seconds": _node_hours,
    "node-hours": _hours,
    "hours": lambda value: f"{_hours(value)} h",
    "share": percent_text,
    "moment": moment,
    "instant": _instant,
    "day": _day,
}
NUMBERS = frozenset(WRITERS) - {
    *("text", "code", "path", "flag", "picture", "moment", "instant", "day"),
}
"""Kinds that are right-aligned in their column; a "figure" is already formatted. Only pages show a
"picture", and a terminal shows only the end of a long "path"."""
