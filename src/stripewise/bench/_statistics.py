# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of each case: best, median, spread, and what makes them doubtful."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from stripewise.bench._campaign import Campaign
from stripewise.bench._case import Case
from stripewise.bench._sample import CaseRun, Sample


@dataclass(frozen=True)
class Flag:
    """A reason to doubt a figure.

    Attributes:
        name: "caching", "outlier", "interference", "few-repeats", "failed-runs".
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
        low / high: Interval of 95 % of the median.
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

    @property
    def median(self) -> float:
        """The middle rate."""
        return median(self.rates)

    @property
    def of_data(self) -> bool:
        """Whether the rates are bytes a second, otherwise operations a second."""
        return self.operation in ("write", "read")


def figures_of(campaign: Campaign) -> tuple[CaseFigures, ...]:
    """Return the figures of every case and operation that has at least one good run."""
    found = []
    for case, runs in campaign.of_cases():
        for operation in operations_of(runs):
            rates = tuple(sample.rate for sample in samples_of(runs, operation))
            found.append(CaseFigures(case, operation, rates, min(rates), max(rates)))
    return tuple(found)


def operations_of(runs: Iterable[CaseRun]) -> list[str]:
    """Return the operations that runs have figures of, in their order."""
    return list(dict.fromkeys(sample.operation for run in runs for sample in run.samples))


def samples_of(runs: Iterable[CaseRun], operation: str) -> list[Sample]:
    """Return the figures of an operation, one for each run that has it."""
    return [one for run in runs for one in run.samples if one.operation == operation]
