# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether the load of a file system is periodic, bursty, steady or random over days."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from stripewise.centre.database.queries._patterns import kept
from stripewise.centre.database.queries._series import (
    METADATA,
    READ,
    WRITE,
    Curve,
    curve,
    for_whole,
    parts_of,
    width_for,
)
from stripewise.centre.database.store._samples import DAY

# Decides whether a rate is periodic, bursty, steady or random.  A straight line is subtracted,
# then the periodogram is compared with that of noise that remembers one step (a first-order
# autoregression): Mann and Lees, Climatic Change 33 (1996); Torrence and Compo, Bull. Amer.
# Meteor. Soc. 79 (1998). Under that noise, the ratios of its powers to the expected ones are
# exponentially distributed, so that the greatest of m exceeds -ln(1 - (1 - p)^(1/m)) with
# probability p. A period is reported if the autocorrelation agrees (Vlachos and others, SIAM Data
# Mining 2005).
#
# Short bursts spread their power over many harmonics, each of which may lie within the noise: if
# bursts come at even intervals, that interval is the period, if the autocorrelation agrees.

SIGNIFICANCE = 0.01
"""Probability of finding a period in mere noise (chosen)."""
FEWEST_VALUES = 48
"""Minimum number of values for a result (chosen)."""
LEAST_KNOWN = 0.8
"""Minimum share of known values (chosen)."""
FEWEST_PERIODS = 4
"""Minimum number of times that a period must occur (chosen)."""
LEAST_STRENGTH = 0.2
"""Minimum autocorrelation at a period that is reported (chosen)."""
STEADY_VARIATION = 0.2
"""Maximum ratio of standard deviation to mean of a steady rate (chosen)."""
PEAK_SHARE = 0.1
"""Bursts are searched for in this busiest share of the values."""
BURSTY_SHARE = 0.5
"""A rate is bursty if that share accounts for at least half of it (chosen)."""
BURSTY = 0.3
"""A rate is also bursty if the times between bursts are so irregular, by the measure of Goh and
Barabasi, EPL 81 (2008), corrected for small numbers after Kim and Jo, Phys. Rev. E 94 (2016): 0
stands for chance."""
REGULAR = -0.7
"""By the same measure, bursts are even up to this value: the times vary by less than a fifth
(chosen); -1 is exactly even."""
_FEWEST_BURSTS = 10
_BURST_FACTOR = 2.0
"""A burst is a run of values above so many times the mean (chosen)."""
_MOST_MEMORY = 0.99999
Values = NDArray[np.float64]


class Tempo(StrEnum):
    """How a rate behaves over time."""

    UNKNOWN = "unknown"
    IDLE = "idle"
    STEADY = "steady"
    PERIODIC = "periodic"
    BURSTY = "bursty"
    RANDOM = "random"


@dataclass(frozen=True)
class TemporalPattern:
    """How a rate behaves over time, with the evidence.

    Attributes:
        tempo: Kind of behaviour.
        reason: Why it is unknown; "" if it is known.
        known_share: Share of the values that are known.
        period_seconds / strength: Period of a periodic rate, accurate to one interval, and the
            autocorrelation at that lag, at most 1.
        variation: Standard deviation divided by the mean; None if unknown, or if the mean is zero.
        peak_share: Share of the total that the busiest tenth of the values accounts for.
        burstiness: Irregularity of the times between bursts, from -1 (regular) to 1; None for too
            few bursts.
    """

    tempo: Tempo
    reason: str = ""
    known_share: float = 0.0
    period_seconds: float | None = None
    strength: float | None = None
    variation: float | None = None
    peak_share: float | None = None
    burstiness: float | None = None


def temporal_pattern(values: Sequence[float | None], width_seconds: float) -> TemporalPattern:
    """Return how a rate behaves over time.

    Args:
        values: Rates in consecutive intervals, none negative; None if unknown.
        width_seconds: Width of the intervals.
    """
    rates = np.array([math.nan if one is None else one for one in values], np.float64)
    is_known = np.isfinite(rates)
    share = float(is_known.mean()) if len(rates) else 0.0
    if len(rates) < FEWEST_VALUES:
        return TemporalPattern(Tempo.UNKNOWN, "too short", share)
    if share < LEAST_KNOWN:
        return TemporalPattern(Tempo.UNKNOWN, "too many gaps", share)
    known = rates[is_known]
    mean = float(known.mean())
    if mean <= 0 or not math.isfinite(mean):
        tempo = Tempo.IDLE if mean == 0 else Tempo.UNKNOWN
        return TemporalPattern(tempo, "" if mean == 0 else "no rates", share)
    variation, peak = float(known.std()) / mean, _peak_share(known)
    times = _burst_times(rates, mean)
    bursts = _burstiness(times)
    period = _period(rates) or _even(rates, times, bursts)
    found = _kind_of(variation, peak, bursts, period is not None)
    seconds, strength = (None, None) if found is not Tempo.PERIODIC or period is None else period
    return TemporalPattern(
        found, "", share, None if seconds is None else seconds * width_seconds, strength,
        variation, peak, bursts,
    )  # fmt: skip


def _kind_of(variation: float, peak: float, bursts: float | None, is_periodic: bool) -> Tempo:
    if is_periodic:
        return Tempo.PERIODIC
    if variation <= STEADY_VARIATION:
        return Tempo.STEADY
    if peak >= BURSTY_SHARE or (bursts is not None and bursts >= BURSTY):
        return Tempo.BURSTY
    return Tempo.RANDOM


def _peak_share(known: Values) -> float:
    number = max(round(PEAK_SHARE * len(known)), 1)
    return float(np.sort(known)[-number:].sum() / known.sum())


def _level(rates: Values) -> Values:
    """Return rates without their linear trend, scaled; unknown values become 0, the mean."""
    at = np.arange(len(rates), dtype=np.float64)
    is_known = np.isfinite(rates)
    line = np.polyfit(at[is_known], rates[is_known], 1)
    left = np.where(is_known, rates - np.polyval(line, at), 0.0)
    deviation = float(np.sqrt(np.mean(left[is_known] ** 2)))
    scale = float(np.abs(rates[is_known]).max())
    return left / deviation if deviation > 1e-9 * scale else np.zeros(len(rates))


def _correlation(level: Values, is_known: NDArray[np.bool_]) -> Values:
    """Return the autocorrelation by lag, each over the pairs whose values are both known."""
    size = 1 << (2 * len(level) - 1).bit_length()
    spectrum, mask = np.fft.rfft(level, size), np.fft.rfft(is_known.astype(np.float64), size)
    products = np.fft.irfft(np.abs(spectrum) ** 2, size)[: len(level)]
    pairs = np.fft.irfft(np.abs(mask) ** 2, size)[: len(level)]
    found = np.where(pairs > 0.5, products / np.maximum(pairs, 1.0), 0.0)
    return np.asarray(found / found[0] if found[0] > 0 else np.zeros(len(level)))


def _period(rates: Values) -> tuple[float, float] | None:
    """Return period (in intervals) and strength, or None if the peak may be due to chance."""
    level = _level(rates)
    if not level.any():
        return None
    n = len(level)
    is_known = np.isfinite(rates)
    correlation = _correlation(level, is_known)
    memory = _memory(level, is_known)
    ratios = _above_noise(_filled(level, is_known, memory), memory)
    m = len(ratios)
    least = -math.log(-math.expm1(math.log1p(-SIGNIFICANCE) / m))
    places = np.flatnonzero(ratios >= least)
    best: tuple[float, float] | None = None
    for place in places[np.argsort(-ratios[places])][:32]:
        cycles = place + FEWEST_PERIODS
        lag = _peak_near(correlation, n / cycles, cycles)
        if lag is not None and (best is None or correlation[lag] > best[1] + 0.05):
            best = (_length(n, cycles, lag), float(correlation[lag]))
    if best is None or best[1] < LEAST_STRENGTH:
        return None
    return best[0], min(best[1], 1.0)  # its pairs may vary more than all values do


def _memory(level: Values, is_known: NDArray[np.bool_]) -> float:
    """Return the correlation of neighbours from their differences, which is exact across gaps."""
    both = is_known[1:] & is_known[:-1]
    if not both.any():
        return 0.0
    change = float(np.mean(np.diff(level)[both] ** 2))
    return min(max(1.0 - change / (2 * float(np.mean(level[is_known] ** 2))), 0.0), _MOST_MEMORY)


def _filled(level: Values, is_known: NDArray[np.bool_], memory: float) -> Values:
    """Return values with gaps filled by noise of the same memory, only for the spectrum.

    With zeros in the gaps, noise with a long memory would have jumps that look like periods.
    """
    at = np.arange(len(level))
    known = at[is_known]
    place = np.searchsorted(known, at)
    before = at - known[np.maximum(place - 1, 0)]
    after = known[np.minimum(place, len(known) - 1)] - at
    away = np.where(is_known, 0, np.minimum(np.abs(before), np.abs(after)))
    return np.asarray(np.interp(at, known, level[is_known]) * memory**away)


def _above_noise(level: Values, memory: float) -> Values:
    """Return the ratio of power to expected noise at each frequency, from `FEWEST_PERIODS` on."""
    n = len(level)
    power = np.abs(np.fft.rfft(level)) ** 2
    cycles = np.arange(FEWEST_PERIODS, (n - 1) // 2 + 1)
    angle = 2 * math.pi * cycles / n
    expected = (1 - memory**2) / (1 + memory**2 - 2 * memory * np.cos(angle))
    return np.asarray(power[cycles] / (expected * float(np.sum(level**2))))


def _peak_near(correlation: Values, lag: float, cycles: int) -> int | None:
    """Return the lag of the largest autocorrelation near a period, or None if it is no maximum."""
    reach = max(lag / cycles, 1.0)
    low, high = max(int(lag - reach), 2), min(math.ceil(lag + reach), len(correlation) - 2)
    if low > high:
        return None
    found = low + int(correlation[low : high + 1].argmax())
    is_top = correlation[found] >= max(correlation[found - 1], correlation[found + 1])
    return found if is_top else None


def _length(n: int, cycles: int, lag: int) -> float:
    """Return a period from the spectrum if that is finer, otherwise from the autocorrelation."""
    return n / cycles if lag < cycles else float(lag)


def _even(
    rates: Values, times: NDArray[np.int64], bursts: float | None
) -> tuple[float, float] | None:
    """Return period (in intervals) and strength of even bursts, or None if they are not even."""
    if bursts is None or bursts > REGULAR:
        return None
    length = float(np.mean(times))
    correlation = _correlation(_level(rates), np.isfinite(rates))
    near = correlation[max(round(length) - 1, 1) : round(length) + 2]
    strength = float(near.max()) if len(near) else 0.0
    return (length, min(strength, 1.0)) if strength >= LEAST_STRENGTH else None


def _burst_times(rates: Values, mean: float) -> NDArray[np.int64]:
    """Return the times between the starts of bursts, leaving out those across a gap."""
    is_known = np.isfinite(rates)
    is_high = np.where(is_known, rates, 0.0) > _BURST_FACTOR * mean
    begins = np.flatnonzero(is_high & ~np.r_[False, is_high[:-1]] & np.r_[True, is_known[:-1]])
    gaps = np.r_[0, np.cumsum(~is_known)]
    return np.asarray(np.diff(begins)[gaps[begins[1:]] == gaps[begins[:-1]]], np.int64)


def _burstiness(times: NDArray[np.int64]) -> float | None:
    """Return how irregular the times between starts of bursts are, or None for too few bursts."""
    n = len(times)
    if n < _FEWEST_BURSTS:
        return None
    ratio = float(np.std(times) / np.mean(times))
    more, less = math.sqrt(n + 1), math.sqrt(n - 1)
    return (more * ratio - less) / ((more - 2) * ratio + less)


# Behaviour of a file system's load over days: periodic, bursty, steady or random.

TEMPO_DAYS = (7, 28)
TEMPO_METRICS = (READ, WRITE, METADATA)
_HOUR = 3600
_MOST_MINUTES = 3_000_000
"""Maximum number of roll-ups of minutes for one page, which is cached for an hour (chosen)."""


@dataclass(frozen=True)
class DayTempo:
    """One day (UTC), or the part of it that has passed.

    Attributes:
        at: Start of the day.
        patterns: Behaviour of the rates per minute, by metric.
    """

    at: int
    patterns: Mapping[str, TemporalPattern]


@dataclass(frozen=True)
class StorageTempo:
    """Behaviour of a file system's load over some days.

    Attributes:
        moments: Starts of the hours.
        curves: Hourly means, by metric.
        patterns: Behaviour of the hours of all days together, by metric.
        days: Days, newest first; () if there are too many series to read their minutes.
    """

    moments: Sequence[int]
    curves: Mapping[str, Curve]
    patterns: Mapping[str, TemporalPattern]
    days: Sequence[DayTempo]


def storage_tempo(
    connection: Connection, file_system_id: int, days: int, now: float
) -> StorageTempo:
    """Return how the load of a whole file system behaves, cached for an hour for all viewers.

    Args:
        connection: Connection to the database.
        file_system_id: Key of the file system.
        days: Number of days up to now.
        now: Current time, in seconds since 1970.
    """
    name = ("tempo", file_system_id, days)
    return kept(connection, name, now, lambda: _tempo(connection, file_system_id, days, int(now)))


def _tempo(connection: Connection, file_system_id: int, days: int, now: int) -> StorageTempo:
    parts = parts_of(connection, file_system_id)
    ids = {metric: for_whole(parts, metric) for metric in TEMPO_METRICS}
    until = now - now % _HOUR
    moments = range(until - days * DAY, until, _HOUR)
    curves = {
        metric: curve(connection, some, moments[0], until, _HOUR) for metric, some in ids.items()
    }
    patterns = {metric: temporal_pattern(one.at(moments), _HOUR) for metric, one in curves.items()}
    minutes = sum(map(len, ids.values())) * days * DAY // 60
    found = _days(connection, ids, days, now) if minutes <= _MOST_MINUTES else []
    return StorageTempo(moments, curves, patterns, found)


def _days(
    connection: Connection, ids: Mapping[str, Sequence[int]], days: int, now: int
) -> list[DayTempo]:
    widths = {metric: width_for(connection, some, 60) for metric, some in ids.items()}
    today = now - now % DAY
    return [
        DayTempo(at, {
            metric: _day_tempo(connection, some, (at, min(at + DAY, now)), widths[metric])
            for metric, some in ids.items()
        })
        for at in range(today, today - days * DAY, -DAY)
    ]  # fmt: skip


def _day_tempo(
    connection: Connection, ids: Sequence[int], span: tuple[int, int], width: int
) -> TemporalPattern:
    begin = span[0] - span[0] % width
    moments = range(begin, span[1] - width + 1, width)
    found = curve(connection, ids, begin, span[1], 60, width=width)
    return temporal_pattern(found.at(moments), width)
