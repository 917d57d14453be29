# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What ran beside a case, and for how much of the case's time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from stripewise.bench._sample import CaseRun
from stripewise.bench.runners import Printed, Span

RATES, SHARES = "beside", "beside_share"
"""Of a run's circumstances: rates of the other workload; share of each operation's time in which
the other was at work."""
LEAST_SHARE = 0.8
"""Of an operation's time, below which its figure is partly that of the workload alone (chosen)."""


def seen_beside(own: Printed, other: Printed) -> dict[str, Any]:
    """Return what a run's circumstances say about the workload beside it.

    Args:
        own: Of the case.
        other: Of the case beside it.
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
    """Yield why a figure is not wholly that of two workloads at once.

    Args:
        operation: Of the figure.
        runs: Of its case.
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
            f"The other workload was at work for {median(shares):.0%} of its time only: give that "
            "one more to do, or this one less."
        )


def _shares(circumstances: Mapping[str, Any]) -> Mapping[str, Any]:
    found = circumstances.get(SHARES)
    return found if isinstance(found, Mapping) else {}


def _covered(span: Span, others: Sequence[Span]) -> float:
    """Return the share of a span that lies in any of the others, which are sorted."""
    begin, end = span
    covered, reached = 0.0, begin
    for first, last in others:
        first, last = max(first, reached), min(last, end)
        if last > first:
            covered += last - first
            reached = last
    return covered / (end - begin)
