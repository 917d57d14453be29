# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether the I/O of a run took longer than that of earlier runs of the same program.

docs/reference/regressions.md has the definition.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_RUNS = 5
MOST_RUNS = 30
SIMILAR_FACTOR = 2.0
LEAST_FACTOR = 1.5
LEAST_SECONDS = 1.0
LEAST_DEVIATIONS = 4.0
"""A run is compared with up to `MOST_RUNS` and at least `LEAST_RUNS` earlier ones whose ranks and
bytes are within `SIMILAR_FACTOR`; it is slower if it takes `LEAST_FACTOR` times their median, at
least `LEAST_SECONDS` more, and more than `LEAST_DEVIATIONS` standard deviations (chosen).
"""
_SHORTEST = 1e-3
_NORMAL = 1.4826
"""Standard deviation of normal values as a multiple of the MAD (Rousseeuw and Croux, 1993)."""


@dataclass(frozen=True)
class PastRun:
    """One run, as far as it matters here.

    Attributes:
        io_seconds: I/O time.
        moved_bytes: Bytes read and written; None if unknown.
        rank_count: Number of ranks; None if unknown, or without MPI.
    """

    io_seconds: float | None
    moved_bytes: float | None = None
    rank_count: int | None = None


@dataclass(frozen=True)
class Slowdown:
    """How much longer a run's I/O took than usual.

    Attributes:
        usual_seconds: Median I/O time of the earlier runs.
        deviation_seconds: Median absolute deviation of them from the median.
        run_count: Number of earlier runs that it was compared with.
        factor: I/O time of the run / `usual_seconds`.
    """

    usual_seconds: float
    deviation_seconds: float
    run_count: int
    factor: float


def slowdown(run: PastRun, earlier: Iterable[PastRun]) -> Slowdown | None:
    """Return how much slower a run was than its history; None if it was not, or if too few are.

    Args:
        run: The run to judge.
        earlier: Runs before it of the same program by the same user, the latest last.
    """
    if run.io_seconds is None:
        return None
    alike = [
        one.io_seconds for one in earlier if one.io_seconds is not None and are_alike(run, one)
    ]
    times = alike[-MOST_RUNS:]
    if len(times) < LEAST_RUNS:
        return None
    usual = statistics.median(times)
    deviation = statistics.median(abs(one - usual) for one in times)
    more = run.io_seconds - usual
    if (
        more < LEAST_SECONDS
        or more < (LEAST_FACTOR - 1) * usual
        or more <= LEAST_DEVIATIONS * _NORMAL * deviation
    ):
        return None
    return Slowdown(usual, deviation, len(times), run.io_seconds / max(usual, _SHORTEST))


def are_alike(run: PastRun, other: PastRun) -> bool:
    """Return whether two runs moved about as much with about as many ranks."""
    return all(
        _within(one, two)
        for one, two in (
            (run.moved_bytes, other.moved_bytes),
            (run.rank_count, other.rank_count),
        )
    )


def _within(one: float | None, two: float | None) -> bool:
    """Return whether two amounts are within the factor; unknown ones are alike."""
    if one is None or two is None:
        return one is two
    low, high = sorted((one, two))
    return high <= SIMILAR_FACTOR * low
