# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines a campaign with its runs, and computes medians, intervals, spread and outliers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import comb
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.bench._case import Case, CaseRun
from stripewise.bench.campaign._suite import Suite
from stripewise.present import throughput_text


@dataclass(frozen=True)
class Campaign:
    """All runs of a suite on one storage.

    Attributes:
        name: Name of its directory, or under which it was imported.
        suite: Suite with the requested cases.
        runs: All runs in the order in which they were made, including failed ones.
        storage: Storage in words for users: "archer2-hdd@1/64, 4 ranks a node", "/work (lustre)".
        machine: Description from which the storage was emulated or simulated, as in `--on`; empty
            for a real one.
        started_unix_seconds: Start of the campaign.
        ended_because: "all runs are made", "the budget of 2 h is used up"; empty if it has not
            ended.
        about: Other facts: "launcher", "system", "versions" (name to version), "memory_bytes" (of
            a node), "stack" (of MPI-IO), "targets", "stripewise".
    """

    name: str
    suite: Suite
    runs: tuple[CaseRun, ...]
    storage: str = ""
    machine: str = ""
    started_unix_seconds: float = 0.0
    ended_because: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_emulated(self) -> bool:
        """Whether real programs ran on a storage that was emulated from a description."""
        return bool(self.machine) and self.about.get("launcher") != "simulated"

    @cached_property
    def by_case(self) -> dict[str, tuple[CaseRun, ...]]:
        """Key of a case to its runs, by repeat."""
        found: dict[str, list[CaseRun]] = {case.key: [] for case in self.suite.cases}
        for run in sorted(self.runs, key=lambda one: one.repeat):
            found.setdefault(run.key, []).append(run)
        return {key: tuple(runs) for key, runs in found.items()}

    def of_cases(self) -> Iterator[tuple[Case, tuple[CaseRun, ...]]]:
        """Yield each case with its runs, in the order of the suite."""
        for case in self.suite.cases:
            yield case, self.by_case[case.key]


# The figures of a case, and reasons to doubt them.


@dataclass(frozen=True)
class Flag:
    """Reason to doubt a figure.

    Attributes:
        name: "caching", "outlier", "interference", "few-repeats", "failed-runs", "stonewall",
            "partly-alone".
        text: Reason in a sentence with its figures.
    """

    name: str
    text: str


DATA = ("write", "read")
"""Operations whose rates are bytes per second; those of others are operations per second."""


class OfOperation:
    """Figures about one operation: "write", "read", "create", ..."""

    operation: str

    @property
    def of_data(self) -> bool:
        """Whether rates are bytes per second, not operations per second."""
        return self.operation in DATA


@dataclass(frozen=True)
class CaseRates(OfOperation):
    """Rates of one operation of one case, from its good runs.

    Attributes:
        case: Cell of the campaign.
        operation: Name as in samples: "write", "read", "create", ...
        rates: Bytes or operations per second of each successful run, by repeat.
    """

    case: Case
    operation: str
    rates: tuple[float, ...]

    @cached_property
    def median(self) -> float:
        """Median rate."""
        return median(self.rates)

    @property
    def best(self) -> float:
        """Highest rate."""
        return max(self.rates)

    def text(self, rate: float) -> str:
        """Return a rate of this operation in words, with its unit."""
        return throughput_text(rate, of_data=self.of_data)


@dataclass(frozen=True)
class CaseFigures(CaseRates):
    """Figures of one operation over all repeats of a case; outliers are among the rates.

    Attributes:
        low / high: Interval of 95 % of the median; with fewer than 6 runs the range of all rates,
            which covers less (`stripewise.bench.campaign.coverage_of`).
        outliers: Indices in `rates`.
        flags: Reasons to doubt the figures.
    """

    low: float
    high: float
    outliers: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()

    @cached_property
    def spread(self) -> float:
        """Relative deviation of rates from the median, not affected by a few outliers.

        It is 1.4826 times the median distance of the logarithms, which for normal noise is the
        coefficient of variation.
        """
        return log_spread(self.rates)


# Medians, their intervals, spread and outliers of many short series of rates at once.

_PARTS = 20
"""Reciprocal of the share of intervals that may miss their median: 95 % cover it."""
LEAST_FOR_OUTLIERS = 5
_NORMAL = 1.4826
"""Standard deviation of normal noise relative to its median distance from the median."""
_FAR = (
    (5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60),
    (18.5, 10.1, 10.7, 8.0, 8.2, 6.9, 6.3, 5.9, 5.25, 4.8, 4.4),
)
"""Number of runs, and the standard deviations beyond which one of them is an outlier: by chance,
1 in 100 series of normal noise has one.  Found with 400,000 draws for each number; the usual 3.5
(of Iglewicz and Hoaglin, 1993) is for long series.
"""
_FAR_OF_ALL = 4.4
"""The same if the standard deviation is that of many series."""
_NEAR = 0.10
"""Least relative distance of an outlier from the median: if most runs are equal, any difference
would be an outlier otherwise.  Assumed.
"""
_MOST, _NORMAL_MOST = 0.9, 1.645
"""Quantile of all distances from medians, and its value in standard deviations of normal noise."""
_LEAST_SERIES = 5


@dataclass(frozen=True)
class Robust:
    """Robust statistics of some series.

    Attributes:
        low / high: (n_series) float64, interval of the median.
        outliers: Indices of the outliers of each series.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outliers: tuple[tuple[int, ...], ...]


def robust(series: Sequence[Sequence[float]], kinds: Sequence[bool]) -> Robust:
    """Return intervals and outliers; series of the same length are computed together.

    Storage has a sharp upper limit and a long tail below it: often half of the runs are equal, and
    their median distance says nothing.  So an outlier must also be far by the usual deviation of
    all series of its kind, if there are enough of them.

    Args:
        series: Rates greater than 0; each series has at least one.
        kinds: Kind of each series, such as whether its rates are of data.
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
    """Return the distance of each rate from the median of its row, as the log of their ratio."""
    logs = np.log(rates)
    return np.asarray(np.abs(logs - np.median(logs, axis=1, keepdims=True)))


def _usual(
    away: dict[int, NDArray[np.float64]], lengths: NDArray[np.int64], kind: NDArray[np.bool_]
) -> dict[bool, float]:
    """Return the standard deviation that covers most runs of a kind; 0 with too few series."""
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
    """Return the index, from 0, of the order statistic at which the median's interval begins.

    The interval from there to the same index from the end contains the median of any distribution
    with at least 95 %; with fewer than 6 values none does, and all of them are taken.
    """
    below, place = 1, 0
    while 2 * (below + comb(number, place + 1)) * _PARTS <= 2**number:
        place += 1
        below += comb(number, place)
    return place


def coverage_of(number: int) -> float:
    """Return the probability that the interval of a number of runs contains the median."""
    below = sum(comb(number, place) for place in range(order_of(number) + 1))
    return float(max(1 - 2 * below / 2**number, 0.0))


def log_spread(rates: Sequence[float]) -> float:
    """Return the relative deviation of rates from their median; 0 for a single one."""
    logs = np.log(np.asarray(rates, float))
    return float(_NORMAL * np.median(np.abs(logs - np.median(logs))))


def _far(away: NDArray[np.float64], floor: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which distances are those of outliers of their row."""
    far = float(np.interp(away.shape[1], *_FAR))
    own = far * _NORMAL * np.median(away, axis=1)
    least = np.maximum(_FAR_OF_ALL * floor, np.log1p(_NEAR))
    return np.asarray(away > np.maximum(own, least)[:, None])
