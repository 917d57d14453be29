# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds disturbances of a campaign: slow rounds, drift, other jobs, and concurrent load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import expm1, log, sqrt
from statistics import median
from typing import Any

import numpy as np

from stripewise.bench._case import CaseRun
from stripewise.bench.campaign._figures import Campaign, CaseFigures, Flag
from stripewise.bench.runners import Printed, Span
from stripewise.present import plural

_SHIFT = log(1.10)
"""Logarithm of the least shift of all cases that is mentioned.  Assumed."""
_SURE = 3.3
"""Standard deviations of a sign or rank test that occur by chance in 1 of 1,000."""
_LEAST_ROUNDS = 3
_LEAST_RUNS = 20


def flags_of_campaign(campaign: Campaign, figures: Sequence[CaseFigures]) -> tuple[Flag, ...]:
    """Return the reasons to doubt a whole campaign.

    Args:
        campaign: Campaign with its runs.
        figures: All figures of the campaign.
    """
    checks: tuple[Callable[[Campaign, Sequence[CaseFigures]], Iterator[str]], ...] = (
        _slow_rounds,
        _drift,
        _other_jobs,
    )
    return tuple(Flag("interference", text) for one in checks for text in one(campaign, figures))


def has_figure(run: CaseRun, operation: str) -> bool:
    """Return whether a run ended well and has a figure of an operation."""
    return run.status == "ok" and any(one.operation == operation for one in run.samples)


def jobs_of(run: CaseRun) -> float | None:
    """Return the number of other jobs during a run; None if unknown."""
    value = run.circumstances.get("other_jobs")
    if isinstance(value, list | tuple | dict):
        return float(len(value))
    return float(value) if isinstance(value, int | float) else None


def _distances(
    campaign: Campaign, figures: Sequence[CaseFigures]
) -> list[tuple[int, float, float]]:
    """Return for each run its repeat, its start, and its distance from the median of its case.

    The distance is the logarithm of rate to median; the mean if a run has several figures.
    """
    found: dict[tuple[str, int], tuple[CaseRun, list[float]]] = {}
    for one in figures:
        if len(one.rates) < _LEAST_ROUNDS:
            continue
        key = one.case.key
        runs = [run for run in campaign.by_case[key] if has_figure(run, one.operation)]
        for run, rate in zip(runs, one.rates, strict=True):
            found.setdefault((key, run.repeat), (run, []))[1].append(log(rate / one.median))
    return [
        (run.repeat, run.started_unix_seconds, sum(away) / len(away))
        for run, away in found.values()
    ]


def _slow_rounds(campaign: Campaign, figures: Sequence[CaseFigures]) -> Iterator[str]:
    """Yield slow rounds, in which more runs are below their medians than by chance."""
    by_round: dict[int, list[float]] = {}
    for repeat, _, away in _distances(campaign, figures):
        by_round.setdefault(repeat, []).append(away)
    if len(by_round) < _LEAST_ROUNDS:
        return
    for repeat, all_away in sorted(by_round.items()):
        number, middle = len(all_away), float(np.median(all_away))
        slower = sum(away < 0 for away in all_away)
        if middle < -_SHIFT and slower - number / 2 > _SURE * sqrt(number / 4) + 0.5:
            yield (
                f"In round {repeat}, {slower} of {plural(number, 'run')} were below the medians "
                f"of their cases, half of them by more than {-expm1(middle):.0%}: something else "
                "used the storage then; repeat that round."
            )


def _drift(campaign: Campaign, figures: Sequence[CaseFigures]) -> Iterator[str]:
    """Yield whether rates fall or rise from the first hour to the last."""
    found = [(begin, away) for _, begin, away in _distances(campaign, figures) if begin > 0]
    if len(found) < _LEAST_RUNS:
        return
    ordered = np.array([away for _, away in sorted(found)])
    if not np.ptp(ordered):
        return
    ranks = np.argsort(np.argsort(ordered, kind="stable"), kind="stable")
    together = float(np.corrcoef(np.arange(ranks.size), ranks)[0, 1])
    third = ranks.size // 3
    change = float(np.median(ordered[-third:]) - np.median(ordered[:third]))
    if abs(together) * sqrt(ranks.size - 1) > _SURE and abs(change) > _SHIFT:
        word = "fell" if change < 0 else "rose"
        yield (
            f"From the first to the last third of the runs, rates {word} by "
            f"{abs(expm1(change)):.0%} in all cases: the storage changed meanwhile (its load, or "
            "how full it is); compare cases of the same round only."
        )


def _other_jobs(campaign: Campaign, figures: Sequence[CaseFigures]) -> Iterator[str]:
    del figures
    known = [jobs for run in campaign.runs if (jobs := jobs_of(run)) is not None]
    busy = [jobs for jobs in known if jobs > 0]
    if busy:
        yield (
            f"Other jobs ran during {len(busy)} of {plural(len(known), 'run')}, up to "
            f"{round(max(busy))} at a time: the figures are what users see, not the limits of the "
            "hardware."
        )


# Workload beside a case, and its share of the case's time.

RATES, SHARES = "beside", "beside_share"
"""Keys of a run's circumstances: rates of the other workload; share of each operation's time in
which the other was active.
"""
LEAST_SHARE = 0.8
"""Share of an operation's time below which its figure is partly that of one workload (chosen)."""


def interference_circumstances(own: Printed, other: Printed) -> dict[str, Any]:
    """Return the circumstances of a run with another workload beside it.

    Args:
        own: Result of the case.
        other: Result of the case beside it.
    """
    busy = sorted(other.spans.values())
    shares = {
        operation: round(_covered(span, busy), 3)
        for operation, span in own.spans.items()
        if span[1] > span[0]
    }
    return {
        RATES: {one.operation: round(one.rate) for one in other.samples},
        **({SHARES: shares} if shares and busy else {}),
    }


def partly_alone(operation: str, runs: Iterable[CaseRun]) -> Iterator[str]:
    """Yield why a figure is not entirely that of two simultaneous workloads.

    Args:
        operation: Operation of the figure.
        runs: Runs of its case.
    """
    shares = [
        float(share)
        for run in runs
        if run.status == "ok"
        for share in [_shares(run.circumstances).get(operation)]
        if share is not None
    ]
    if shares and median(shares) < LEAST_SHARE:
        yield (
            f"The other workload was active for only {median(shares):.0%} of its time: give that "
            "one more to do, or this one less."
        )


def _shares(circumstances: Mapping[str, Any]) -> Mapping[str, Any]:
    found = circumstances.get(SHARES)
    return found if isinstance(found, Mapping) else {}


def _covered(span: Span, others: Sequence[Span]) -> float:
    """Return the share of a span that is covered by the others, which are sorted."""
    begin, end = span
    covered, reached = 0.0, begin
    for first, last in others:
        first, last = max(first, reached), min(last, end)
        if last > first:
            covered += last - first
            reached = last
    return covered / (end - begin)
