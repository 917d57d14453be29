# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a campaign with its runs, and computes medians, intervals, spread and outliers."""

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
        name: Of its directory, or under which it was imported.
        suite: With the cases that were asked for.
        runs: In the order in which they were made; failed ones too.
        storage: What it ran on, for people: "archer2-hdd@1/64, 4 ranks a node", "/work (lustre)".
        machine: Description that the storage was emulated or simulated from, as `--on` takes it;
            "": a real one.
        started_unix_seconds: When it began.
        ended_because: "all runs are made", "the budget of 2 h is used up"; "": it has not ended.
        about: What else is known: "launcher", "system", "versions" (name -> version),
            "memory_bytes" (of a node), "stack" (of MPI-IO), "targets", "stripewise".
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
        """Whether real programs ran, on a storage that was played by a description."""
        return bool(self.machine) and self.about.get("launcher") != "simulated"

    @cached_property
    def by_case(self) -> dict[str, tuple[CaseRun, ...]]:
        """Key of a case -> its runs, by repeat."""
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
    """A reason to doubt a figure.

    Attributes:
        name: "caching", "outlier", "interference", "few-repeats", "failed-runs", "stonewall",
            "partly-alone".
        text: The reason, in a sentence with its figures.
    """

    name: str
    text: str


DATA = ("write", "read")
"""Operations whose rates are bytes a second; those of all others are operations a second."""


class OfOperation:
    """What is told of one operation: "write", "read", "create", ..."""

    operation: str

    @property
    def of_data(self) -> bool:
        """Whether rates are bytes a second, otherwise operations a second."""
        return self.operation in DATA


@dataclass(frozen=True)
class CaseRates(OfOperation):
    """One operation of one case, with its good runs.

    Attributes:
        case: Cell of the campaign.
        operation: As samples have it: "write", "read", "create", ...
        rates: Bytes, or operations, a second of each run that ended well, by repeat.
    """

    case: Case
    operation: str
    rates: tuple[float, ...]

    @cached_property
    def median(self) -> float:
        """The middle rate."""
        return median(self.rates)

    @property
    def best(self) -> float:
        """The highest rate."""
        return max(self.rates)

    def text(self, rate: float) -> str:
        """Return a rate of this operation for people, with its unit."""
        return throughput_text(rate, of_data=self.of_data)


@dataclass(frozen=True)
class CaseFigures(CaseRates):
    """What all repeats of a case gave for one operation; outliers are among the rates.

    Attributes:
        low / high: Interval of 95 % of the median; of fewer than 6 runs, the least and the
            greatest, which hold less (`stripewise.bench.campaign.coverage_of`).
        outliers: Places in `rates`.
        flags: Reasons to doubt.
    """

    low: float
    high: float
    outliers: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()

    @cached_property
    def spread(self) -> float:
        """How far rates lie from the median, relatively; a few outliers do not change it.

        1.4826 times the median distance of the logarithms: of normal noise, the coefficient of
        variation.
        """
        return log_spread(self.rates)


# Medians, their intervals, spread and outliers of many short series of rates at once.

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
