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
_FAR = (
    (5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60),
    (18.5, 10.1, 10.7, 8.0, 8.2, 6.9, 6.3, 5.9, 5.25, 4.8, 4.4),
)
"""Runs, and from how many standard deviations on one of them is an outlier: by chance alone, 1 in
100 series of normal noise has one.  Found by 400,000 draws for each number; the usual 3.5 (of
Iglewicz and Hoaglin, 1993) is for long series."""
_FAR_OF_ALL = 4.4
"""The same where the standard deviation is that of many series."""
_NEAR = 0.10
"""No outlier is nearer to the median than that, relatively: where most runs are the same, any
difference would be one.  Assumed."""
_MOST, _NORMAL_MOST = 0.9, 1.645
"""A share of all distances from medians, and what it is in standard deviations of normal noise."""
_LEAST_SERIES = 5


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


def robust(series: Sequence[Sequence[float]], kinds: Sequence[bool]) -> Robust:
    """Return intervals and outliers; series of the same length are looked at together.

    Storage has a sharp upper edge and a long tail below it: often half of the runs are the same,
    and their median distance says nothing.  So an outlier is far also from what all series of its
    kind usually have, where there are enough of them.

    Args:
        series: Rates, greater than 0; each has at least one.
        kinds: Of each series, such as whether its rates are of data.
    """
    low, high = np.empty(len(series)), np.empty(len(series))
    outliers: list[tuple[int, ...]] = [()] * len(series)
    lengths, kind = np.array([len(one) for one in series]), np.array(kinds, bool)
    away: dict[int, NDArray[np.float64]] = {}
    for length in map(int, np.unique(lengths)):
        places = np.flatnonzero(lengths == length)
        rates = np.array([series[int(place)] for place in places], np.float64)
        ordered, rank = np.sort(rates, axis=1), order_of(length)
        low[places], high[places] = ordered[:, rank], ordered[:, length - 1 - rank]
        away[length] = _distances(rates)
    usual = _usual(away, lengths, kind)
    for length in away:
        if length >= LEAST_FOR_OUTLIERS:
            places = np.flatnonzero(lengths == length)
            floor = np.where(kind[places], usual[True], usual[False])
            for place, far in zip(places, _far(away[length], floor), strict=True):
                outliers[place] = tuple(np.flatnonzero(far).tolist())
    return Robust(low, high, tuple(outliers))


def _distances(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each rate is from the median of its row: ratios count, not differences."""
    logs = np.log(rates)
    return np.asarray(np.abs(logs - np.median(logs, axis=1, keepdims=True)))


def _usual(
    away: dict[int, NDArray[np.float64]], lengths: NDArray[np.int64], kind: NDArray[np.bool_]
) -> dict[bool, float]:
    """Return the standard deviation that most runs of a kind stay within; 0: too few series."""
    usual = {}
    for one in (True, False):
        each = [
            rows[kind[lengths == length] == one]
            for length, rows in away.items()
            if length >= LEAST_FOR_OUTLIERS
        ]
        enough = sum(len(rows) for rows in each) >= _LEAST_SERIES
        every = np.concatenate([rows.ravel() for rows in each]) if enough else np.zeros(1)
        usual[one] = float(np.quantile(every, _MOST)) / _NORMAL_MOST
    return usual


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


def _far(away: NDArray[np.float64], floor: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which distances are those of outliers of their row."""
    far = float(np.interp(away.shape[1], *_FAR))
    own = far * _NORMAL * np.median(away, axis=1)
    least = np.maximum(_FAR_OF_ALL * floor, np.log1p(_NEAR))
    return np.asarray(away > np.maximum(own, least)[:, None])
