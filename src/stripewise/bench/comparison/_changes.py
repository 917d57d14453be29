# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds lasting changes in series of nights, one night after another.

Each night the last 3, 4, ... 28 nights are compared with those before.  Noise, its correlation
from night to night and the effect of each weekday are estimated from the nights before; single
bad nights are clipped, so that several in a row are needed.  The threshold is Student's t for the
effective number of nights, at a level that is shared by all nights of a year, all series and all
windows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import exp, inf, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from stripewise.bench.comparison._cells import Floats, student

LEVEL = 0.05
"""Probability of any false alarm in a year of nights, over all series together."""
NIGHTS_A_YEAR = 365
LEAST_NIGHTS = 21
"""Number of nights to learn from before the first verdict."""
LEAST_CHANGE = 0.02
"""Least change of the log of a rate that is reported (chosen)."""
WINDOWS = (3, 4, 5, 7, 10, 14, 21, 28)
_LONGEST = WINDOWS[-1]
_MEMORY = 180
_BLOCK = 7
_CLIP = 2.5
_USUAL_CORRELATION = 0.2
_BELIEF = 20.0
_MEDIAN_VARIANCE = 1.57

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Change:
    """Lasting change of one series.

    Attributes:
        series: Column of the series.
        found: Index of the night at which the change was certain.
        since: Index of the first night after the change.
        earliest / latest: Interval of 95 % of `since`.
        ratio: Rate after the change relative to the rate before.
        low / high: Interval of 95 % of the ratio.
    """

    series: int
    found: int
    since: int
    earliest: int
    latest: int
    ratio: float
    low: float
    high: float


def changes(values: Floats, weekdays: Integers, level: float = LEVEL) -> list[Change]:
    """Return all changes, ordered by the night at which they were found.

    Args:
        values: Natural logs of rates, NaN for a night without one: `(nights, series)`.
        weekdays: Day of the week of each night, 0 to 6: `(nights,)`.
        level: Probability of any false alarm in a year.
    """
    nights, series = values.shape
    if nights <= LEAST_NIGHTS or not series:
        return []
    limit = _limit(series, level)
    found: list[Change] = []
    for column, alarm in enumerate(_first_alarms(values, weekdays, limit)):
        start = 0
        own, days = values[:, column : column + 1], weekdays
        while alarm >= 0:
            change = _dated(own[start : alarm + 1, 0], days[start : alarm + 1])
            change = _moved(change, start, column)
            found.append(change)
            start = change.since
            rest = _first_alarms(own[start:], days[start:], limit)[0]
            alarm = -1 if rest < 0 else start + rest
    return sorted(found, key=lambda one: (one.found, one.series))


def _limit(series: int, level: float) -> float:
    """Return the normal deviate that the tests of all nights exceed by chance with `level`."""
    tests = NIGHTS_A_YEAR * series * len(WINDOWS)
    return NormalDist().inv_cdf(1 - level / tests / 2)


def _first_alarms(values: Floats, weekdays: Integers, limit: float) -> list[int]:
    """Return the night of the first alarm of each column; -1 if there is none."""
    nights, series = values.shape
    found = np.full(series, -1)
    for begin in range(LEAST_NIGHTS, nights, _BLOCK):
        open_ = np.flatnonzero(found < 0)
        if not open_.size:
            break
        end = min(begin + _BLOCK, nights)
        alarmed = _alarms(values[:end, open_], weekdays[:end], begin, limit)
        sure = alarmed.any(axis=0)
        found[open_[sure]] = begin + np.argmax(alarmed[:, sure], axis=0)
    return [int(one) for one in found]


def _alarms(values: Floats, weekdays: Integers, begin: int, limit: float) -> NDArray[np.bool_]:
    """Return which columns have changed, for each night from `begin`: `(nights, series)`.

    The habit is learned only once for all of these nights.
    """
    guard = _guard(begin + 1)
    first = begin + 1 - guard
    habit = Habit.of(
        values[max(0, first - _MEMORY) : first], weekdays[max(0, first - _MEMORY) : first]
    )
    limits = np.array([student(limit, max(one, 3.0)) for one in habit.degrees])
    # With few nights the limit is higher, but as many bad nights in a row must still not reach it.
    scores = habit.scores(values[first:], weekdays[first:], _CLIP * limits / limit)
    kept = np.isfinite(scores)
    none = np.zeros((1, values.shape[1]))
    sums = np.vstack([none, np.cumsum(np.where(kept, scores, 0.0), axis=0)])
    counts = np.vstack([none, np.cumsum(kept, axis=0)])
    ends = np.arange(guard, len(scores) + 1)
    alarmed = np.zeros((len(ends), values.shape[1]), dtype=bool)
    for window in (one for one in WINDOWS if one <= guard):
        number = counts[ends] - counts[ends - window]
        mean = (sums[ends] - sums[ends - window]) / np.maximum(number, 1)
        error = np.sqrt(habit.inflation(number) / np.maximum(number, 1) + 1 / habit.effective)
        large = np.abs(mean) > LEAST_CHANGE / habit.deviation
        alarmed |= (np.abs(mean) > limits * error) & (number >= 3) & large
    return alarmed


def _guard(nights: int) -> int:
    """Return how many of the last nights may be after a change and are not learned from."""
    return int(min(_LONGEST, max(nights // 4, WINDOWS[0])))


@dataclass(frozen=True, eq=False)
class Habit:
    """Behaviour of series without changes; each array is `(series,)`.

    Attributes:
        middle: Median, after removing the effect of weekdays.
        of_day: Effect of each weekday: `(7, series)`.
        doubt: Factor of the deviation due to the uncertainty of `of_day`: `(7, series)`.
        deviation: Deviation of one night.
        correlation: Correlation from night to night.
        effective: Effective number of independent earlier nights, for a mean.
        degrees: Effective number of independent earlier nights, for a deviation.
    """

    middle: Floats
    of_day: Floats
    doubt: Floats
    deviation: Floats
    correlation: Floats
    effective: Floats
    degrees: Floats

    @classmethod
    def of(cls, values: Floats, weekdays: Integers) -> Habit:
        """Learn from nights: `(nights, series)`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # columns without a night
            middle = _median(values)
            of_day, doubt = _days(values - middle, weekdays)
            rest = values - middle - of_day[weekdays]
            deviation = _deviation(rest)
        number = np.isfinite(rest).sum(axis=0)
        correlation = _correlation(rest, deviation)
        shares = number / np.maximum(1, _inflation(correlation, number))
        degrees = number * (1 - correlation**2) / (1 + correlation**2) - 7
        return cls(middle, of_day, doubt, deviation, correlation, np.maximum(shares, 1.0), degrees)

    def scores(self, values: Floats, weekdays: Integers, most: Floats | float = _CLIP) -> Floats:
        """Return nights as deviations from the habit, clipped at `most`: `(nights, series)`."""
        rest = values - self.middle - self.of_day[weekdays]
        return np.asarray(np.clip(rest / (self.deviation * self.doubt[weekdays]), -most, most))

    def inflation(self, number: Floats | int) -> Floats:
        """Return the factor by which correlation increases the variance of a mean of nights."""
        return _inflation(self.correlation, number)


def _days(rest: Floats, weekdays: Integers) -> tuple[Floats, Floats]:
    """Return the effect of each weekday, and how its uncertainty increases the noise."""
    added, doubt = np.zeros((7, rest.shape[1])), np.ones((7, rest.shape[1]))
    for day in range(7):
        own = rest[weekdays == day]
        if len(own) >= 3:
            number = np.maximum(np.isfinite(own).sum(axis=0), 1)
            added[day] = np.nan_to_num(_median(own))
            doubt[day] = np.sqrt(1 + _MEDIAN_VARIANCE / number)
    return added, doubt


def _median(values: Floats) -> Floats:
    """Return medians of columns, faster than `nanmedian` if no value is missing."""
    missing = np.isnan(values).any()
    return np.asarray((np.nanmedian if missing else np.median)(values, axis=0))


def _deviation(rest: Floats) -> Floats:
    """Return a robust deviation of each column, with a minimum."""
    robust = 1.4826 * _median(np.abs(rest))
    clipped = np.clip(rest, -4 * robust, 4 * robust)
    number = np.maximum(np.isfinite(rest).sum(axis=0), 8)
    # Correction for the medians of seven weekdays that were subtracted from these nights.
    widened = np.sqrt(number / np.maximum(number - 7, 1)) * np.nanstd(clipped, axis=0)
    return np.asarray(np.maximum(np.nan_to_num(np.fmax(robust, widened), nan=inf), 1e-6))


def _correlation(rest: Floats, deviation: Floats) -> Floats:
    """Return the correlation of successive nights, shrunk to the usual one if there are few."""
    scores = np.clip(rest / deviation, -_CLIP, _CLIP)
    pairs = scores[1:] * scores[:-1]
    number = np.isfinite(pairs).sum(axis=0)
    both = np.nan_to_num(pairs).sum(axis=0)
    power = np.maximum(np.nan_to_num(scores**2).sum(axis=0), 1e-9)
    own = both / power * (len(scores) / np.maximum(len(pairs), 1))
    own = own + (1 + 4 * np.clip(own, 0, 1)) / np.maximum(number, 1)  # bias of small samples
    drawn = (number * own + _BELIEF * _USUAL_CORRELATION) / (number + _BELIEF)
    return np.asarray(np.clip(drawn, 0.0, 0.9))


def _inflation(correlation: Floats, number: Floats | Integers | int) -> Floats:
    """Return the variance of a mean of correlated nights relative to independent ones."""
    count = np.maximum(np.asarray(number, dtype=float), 1)
    rest = (1 - correlation**count) / (1 - correlation)
    return np.asarray(
        (1 + correlation) / (1 - correlation) - 2 * correlation / (1 - correlation) * rest / count
    )


# ---- dating ----------------------------------------------------------------------------------


def _dated(values: Floats, weekdays: Integers) -> Change:
    """Return the change that became certain in the last of these nights, with date and size."""
    nights = len(values)
    guard = _guard(nights)
    habit = Habit.of(values[: nights - guard, None], weekdays[: nights - guard])
    scores = habit.scores(values[:, None], weekdays)[:, 0]
    places = np.arange(max(LEAST_NIGHTS // 3, nights - 4 * _LONGEST), nights - 1)
    gains = np.array([_gain(scores, int(place)) for place in places])
    since = int(places[int(np.argmax(gains))])
    rest = values - habit.of_day[weekdays, 0]
    before, after = rest[max(0, since - _MEMORY) : since], rest[since:]
    middles = [float(np.nanmedian(one)) for one in (before, after)]
    around = np.concatenate([before - middles[0], after - middles[1]])
    noise, step = float(_deviation(around[:, None])[0]), middles[1] - middles[0]
    grown = [float(habit.inflation(len(one))[0]) for one in (before, after)]
    likely = places[gains >= gains.max() - 3.84 * float(habit.inflation(guard)[0])]
    half = (
        1.96
        * noise
        * sqrt(
            _MEDIAN_VARIANCE * sum(grown[at] / len(one) for at, one in enumerate((before, after)))
        )
    )
    return Change(
        0, nights - 1, since, int(likely.min()), int(likely.max()),
        exp(step), exp(step - half), exp(step + half),
    )  # fmt: skip


def _gain(values: Floats, place: int) -> float:
    """Return how much better two levels explain nights than one, as a sum of squares."""
    before, after = values[:place], values[place:]
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    if not before.size or not after.size:
        return -inf
    share = before.size * after.size / (before.size + after.size)
    return float(share * (after.mean() - before.mean()) ** 2)


def _moved(change: Change, start: int, column: int) -> Change:
    return Change(
        column, change.found + start, change.since + start, change.earliest + start,
        change.latest + start, change.ratio, change.low, change.high,
    )  # fmt: skip
