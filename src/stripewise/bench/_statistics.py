# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The figures of each case: best, median, spread, and what makes them doubtful."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stripewise.bench._campaign import Campaign
from stripewise.bench._doubts import Ceiling, flags_of_cases
from stripewise.bench._figures import CaseFigures as CaseFigures
from stripewise.bench._figures import Flag as Flag
from stripewise.bench._robust import coverage_of as coverage_of
from stripewise.bench._robust import robust
from stripewise.bench._sample import CaseRun, Sample


def figures_of(campaign: Campaign, ceiling: Ceiling | None = None) -> tuple[CaseFigures, ...]:
    """Return the figures of every case and operation that has at least one good run.

    Args:
        campaign: With its runs.
        ceiling: What no bandwidth can exceed, where it is known; None: what the campaign knows.
    """
    found: list[CaseFigures] = []
    for case, runs in campaign.of_cases():
        good = good_of(runs)
        for operation in operations_of(good):
            rates = tuple(sample.rate for sample in samples_of(good, operation))
            found.append(CaseFigures(case, operation, rates, 0.0, 0.0))
    known = robust([one.rates for one in found], [one.of_data for one in found])
    found = [
        replace(one, low=float(low), high=float(high), outliers=outliers)
        for one, low, high, outliers in zip(
            found, known.low, known.high, known.outliers, strict=True
        )
    ]
    flags = flags_of_cases(campaign, found, ceiling)
    return tuple(replace(one, flags=each) for one, each in zip(found, flags, strict=True))


def good_of(runs: Iterable[CaseRun]) -> list[CaseRun]:
    """Return the runs that ended well."""
    return [run for run in runs if run.status == "ok"]


def operations_of(runs: Iterable[CaseRun]) -> list[str]:
    """Return the operations that runs have figures of, in their order."""
    return list(dict.fromkeys(sample.operation for run in runs for sample in run.samples))


def samples_of(runs: Iterable[CaseRun], operation: str) -> list[Sample]:
    """Return the figures of an operation, one for each run that has it."""
    return [one for run in runs for one in run.samples if one.operation == operation]
