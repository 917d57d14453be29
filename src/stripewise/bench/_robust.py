# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Medians, their intervals, spread and outliers of many short series of rates at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

_PARTS = 20
"""One in so many intervals may miss its median: 95 % hold it."""
LEAST_FOR_OUTLIERS = 5
_NORMAL = 1.4826
"""Standard deviation of normal noise, in median distances from the median."""
_NORMAL_MEAN = 1.2533
"""The same in mean distances; for series of which half is the same."""
_FAR = 3.5
"""Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993: modified z-score."""
_NEAR = 0.05
"""No outlier is nearer to the median than that, relatively: where noise is nearly 0, any
difference would be one.  Assumed."""


@dataclass(frozen=True)
class Robust:
    """What is known of each of some series.

    Attributes:
        low / high: (n_series) float64, interval of the median.
        outliers: Of each series, places of its outliers.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outliers: tuple[tuple[int, ...], ...]


def robust(series: Sequence[Sequence[float]]) -> Robust:
    """Return intervals and outliers; series of the same length are looked at together.

    Args:
        series: Rates, greater than 0; each has at least one.
    """
    low, high = np.empty(len(series)), np.empty(len(series))
    outliers: list[tuple[int, ...]] = [()] * len(series)
    lengths = np.array([len(one) for one in series])
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        rates = np.array([series[int(place)] for place in places], np.float64)
        ordered = np.sort(rates, axis=1)
        rank = order_of(int(length))
        low[places], high[places] = ordered[:, rank], ordered[:, length - 1 - rank]
        if length >= LEAST_FOR_OUTLIERS:
            for place, far in zip(places, _far(rates), strict=True):
                outliers[place] = tuple(np.flatnonzero(far).tolist())
    return Robust(low, high, tuple(outliers))


@cache
def order_of(number: int) -> int:
    """Return the place, from 0, of the order statistic at which the median's interval begins.

    The interval from there to the same place from the end holds the median of any distribution
    with at least 95 %; with fewer than 6 values none does, and all of them are taken.
    """
    below, place = 1, 0
    while 2 * (below + comb(number, place + 1)) * _PARTS <= 2**number:
        place += 1
        below += comb(number, place)
    return place


def coverage_of(number: int) -> float:
    """Return with which probability the interval of so many runs holds the median."""
    below = sum(comb(number, place) for place in range(order_of(number) + 1))
    return float(max(1 - 2 * below / 2**number, 0.0))


def log_spread(rates: Sequence[float]) -> float:
    """Return how far rates lie from their median, relatively; 0 for one alone."""
    logs = np.log(np.asarray(rates, float))
    return float(_NORMAL * np.median(np.abs(logs - np.median(logs))))


def _far(rates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rates are outliers of their row: ratios count, not differences."""
    logs = np.log(rates)
    away = np.abs(logs - np.median(logs, axis=1, keepdims=True))
    width = _NORMAL * np.median(away, axis=1, keepdims=True)
    mean = _NORMAL_MEAN * away.mean(axis=1, keepdims=True)
    width = np.where(width > 0, width, mean)
    return np.asarray(away > np.maximum(_FAR * width, np.log1p(_NEAR)))
