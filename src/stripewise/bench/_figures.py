# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a case, and reasons to doubt them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isinf
from statistics import median

from stripewise.bench._case import Case
from stripewise.bench._robust import log_spread
from stripewise.text import size_text


@dataclass(frozen=True)
class Flag:
    """A reason to doubt a figure.

    Attributes:
        name: "caching", "outlier", "interference", "few-repeats", "failed-runs", "stonewall",
            "partly-alone".
        text: The reason, in a sentence with its figures.
    """

    name: str
    text: str


@dataclass(frozen=True)
class CaseFigures:
    """What all repeats of a case gave for one operation.

    Attributes:
        case: Cell of the campaign.
        operation: As samples have it: "write", "read", "create", ...
        rates: Bytes, or operations, a second of each run that ended well, by repeat; outliers too.
        low / high: Interval of 95 % of the median; of fewer than 6 runs, the least and the
            greatest, which hold less (`stripewise.bench.coverage_of`).
        outliers: Places in `rates`.
        flags: Reasons to doubt.
    """

    case: Case
    operation: str
    rates: tuple[float, ...]
    low: float
    high: float
    outliers: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def best(self) -> float:
        """The highest rate."""
        return max(self.rates)

    @cached_property
    def median(self) -> float:
        """The middle rate."""
        return median(self.rates)

    @cached_property
    def spread(self) -> float:
        """How far rates lie from the median, relatively; a few outliers do not change it.

        1.4826 times the median distance of the logarithms: of normal noise, the coefficient of
        variation.
        """
        return log_spread(self.rates)

    @property
    def of_data(self) -> bool:
        """Whether the rates are bytes a second, otherwise operations a second."""
        return self.operation in ("write", "read")

    def text(self, rate: float) -> str:
        """Return a rate of this operation for people, with its unit."""
        return rate_text(rate, of_data=self.of_data)


def rate_text(rate: float, *, of_data: bool) -> str:
    """Return bytes, or operations, a second for people."""
    if isinf(rate):
        return "any bandwidth" if of_data else "any rate"
    return f"{size_text(round(rate))}/s" if of_data else f"{rate:,.0f} operations/s"
