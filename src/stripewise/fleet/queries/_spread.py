# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Medians, spread and concurrency of many jobs.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LOW, HIGH = 0.1, 0.9
"""Shares of the jobs that lie below the ends of a spread."""


@dataclass(frozen=True)
class Spread:
    """A figure over many jobs.

    Attributes:
        median: Half of the jobs have less.
        low / high: A tenth of the jobs has less than `low`, a tenth more than `high`.
        count: Jobs of which the figure is known.
    """

    median: float
    low: float
    high: float
    count: int


def spread(values: NDArray[np.float64]) -> Spread | None:
    """Return the spread of values; None: none of them is known.

    Args:
        values: (n,) float64; NaN: not known.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, median, high = np.quantile(known, (LOW, 0.5, HIGH)).tolist()
    return Spread(median, low, high, len(known))


def at_once(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return how many jobs run at the same time: typically, and at most.

    The typical number is the median over the time in which at least one of them runs.  A job
    that ends in the second in which another starts does not run beside it.

    Args:
        starts: (n,) float64, seconds; NaN: not known.
        ends: (n,) likewise.
    """
    known = ends > starts
    if not known.any():
        return None
    times = np.concatenate([starts[known], ends[known]])
    steps = np.repeat([1, -1], known.sum())
    order = np.lexsort((steps, times))
    running = np.cumsum(steps[order])[:-1]
    seconds = np.diff(times[order])
    busy = running > 0
    running, seconds = running[busy], seconds[busy]
    by_number = np.argsort(running, kind="stable")
    passed = np.cumsum(seconds[by_number])
    typical = running[by_number][np.searchsorted(passed, passed[-1] / 2)]
    return int(typical), int(running.max())
