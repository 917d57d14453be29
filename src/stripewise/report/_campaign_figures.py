# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a campaign as people read them: rates, units, names of cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from statistics import mean, stdev

from stripewise.bench import Case, CaseFigures
from stripewise.report._campaign_axes import Axis
from stripewise.report._text import format_bandwidth, format_percent, significant
from stripewise.text import printable

_NOUNS = {
    "write": "written",
    "read": "read",
    "create": "files created",
    "stat": "files looked up",
    "read-file": "files read",
    "remove": "files removed",
    "create-directory": "directories created",
    "stat-directory": "directories looked up",
    "remove-directory": "directories removed",
}


@dataclass(frozen=True)
class Unit:
    """What an axis of rates counts in.

    Attributes:
        name: "GiB/s".
        size: Base units in one.
    """

    name: str
    size: float


def unit_of(figures: Iterable[CaseFigures]) -> Unit:
    """Return the unit in which the largest of figures of one kind is at least 1."""
    found = list(figures)
    top = max((one.best for one in found), default=0.0)
    if found and not found[0].of_data:
        return Unit("thousand operations/s", 1e3) if top >= 1e4 else Unit("operations/s", 1.0)
    if top >= 2**40:
        return Unit("TiB/s", 2.0**40)
    return Unit("GiB/s", 2.0**30) if top >= 2**30 else Unit("MiB/s", 2.0**20)


def is_drawable(one: CaseFigures) -> bool:
    """Whether a figure has a place on an axis."""
    return all(
        isfinite(value) and value > 0 for value in (one.median, one.best, one.low, one.high)
    )


def rate_text(rate: float, of_data: bool) -> str:
    """Format bytes, or operations, a second."""
    if of_data:
        return format_bandwidth(rate)
    return f"{significant(rate)} operations/s"


def rate_of(one: CaseFigures, rate: float | None = None) -> str:
    """Format the median of a figure, or another rate of it."""
    return rate_text(one.median if rate is None else rate, one.of_data)


def operation_words(operation: str) -> str:
    """Say what was done, after a rate: "12 GiB/s written", "9500 files created a second"."""
    return _NOUNS.get(operation, printable(operation))


def operation_title(operation: str) -> str:
    """Return an operation as a heading: "Write", "Create directory"."""
    return printable(operation.replace("-", " ")).capitalize()


def label_of(case: Case, axes: Iterable[Axis], *, series: bool = True) -> str:
    """Name a case by its series and its values of some axes."""
    words = [printable(case.series)] if series else []
    words += [axis.said(case) for axis in axes]
    return ", ".join(filter(None, words)) or printable(case.series)


def spread_of(one: CaseFigures) -> str:
    """Return the coefficient of variation of the runs; "" for fewer than two."""
    if len(one.rates) < 2 or not isfinite(sum(one.rates)) or not mean(one.rates) > 0:
        return ""
    return format_percent(stdev(one.rates) / mean(one.rates))
