# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether I/O comes in phases, and how often.

The signal is bytes per time bin.  Its autocorrelation (by FFT, unbiased, of the signal with its
mean taken off and smoothed by a Gaussian, so that a phase that comes a little early still
counts) has peaks at the multiples of the period; the first that is nearly as high as the highest
is the period, its height the confidence.  A single burst, a trend and noise have none.

Source: Oppenheim and Schafer, "Discrete-Time Signal Processing" (autocorrelation by FFT); the
idea of a period of I/O phases: Tarraf et al., "Capturing Periodic I/O Using Frequency
Techniques" (IPDPS 2024).  Thresholds are assumed; tests/diagnosis/test_phases.py holds them
against synthetic signals.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._records import Periodicity
from stripewise.diagnosis.heat_cells import moving_rows
from stripewise.model import RunProfile

LEAST_CONFIDENCE = 0.5
LEAST_PHASES = 4
_LEAST_BINS = 8
_NEARLY = 0.75
_BLUR = 1 / 6
_BLUR_REACH = 4  # deviations
_AGREEING = (0.7, 1.5)
_MOST_UNEVEN = 0.2
_CLOSE = 0.1
_BURST_LEVEL = 0.3
_MOST_BINS = 1 << 16


def phases(profile: RunProfile) -> tuple[Periodicity, ...]:
    """One record for each direction that moved data."""
    rows = moving_rows(profile)
    width = profile.heat_bin_seconds
    if not len(rows) or width <= 0:
        return ()
    n_bins = int(rows["bin"].max()) + 1
    if profile.elapsed_seconds > 0:
        n_bins = max(n_bins, min(math.ceil(profile.elapsed_seconds / width), 4 * n_bins))
    merged = math.ceil(n_bins / _MOST_BINS)
    found = []
    for direction in ("read", "write"):
        moved = np.bincount(
            rows["bin"] // merged, weights=rows[f"{direction}_bytes"], minlength=n_bins // merged
        )
        if moved.any():
            found.append(find_period(moved.astype(np.float64), width * merged, direction))
    return tuple(found)


def find_period(
    values: NDArray[np.float64], bin_seconds: float, direction: str = "write"
) -> Periodicity:
    """Period of a signal.

    Args:
        values: (n,) float64, bytes per bin.
        bin_seconds: Width of a bin.
        direction: "read" or "write", for the record.
    """
    values = np.trim_zeros(values)
    lag, confidence = _lag(values)
    bursts = _bursts(values, lag)
    periodic = confidence >= LEAST_CONFIDENCE and _agree(bursts, lag)
    lengths = [high - low for low, high in bursts]
    moved = [float(values[low:high].sum()) for low, high in bursts]
    return Periodicity(
        direction=direction,
        periodic=periodic,
        period_seconds=_period(bursts, lag) * bin_seconds if periodic else math.nan,
        confidence=confidence,
        n_phases=len(bursts),
        phase_seconds=float(np.median(lengths)) * bin_seconds if bursts else 0.0,
        phase_bytes=float(np.median(moved)) if bursts else 0.0,
        resolution_seconds=bin_seconds,
    )


def _agree(bursts: list[tuple[int, int]], lag: float) -> bool:
    """Whether there are as many bursts as the period asks for, and enough of them."""
    if len(bursts) < LEAST_PHASES:
        return False
    gaps = np.diff([low for low, _ in bursts])
    expected = 1 + gaps.sum() / lag
    even = float(np.std(gaps)) <= _MOST_UNEVEN * float(np.mean(gaps))
    return bool(even and _AGREEING[0] <= len(bursts) / expected <= _AGREEING[1])


def _period(bursts: list[tuple[int, int]], lag: float) -> float:
    """Mean distance of the bursts where none is missing or split, otherwise the lag; in bins."""
    mean = (bursts[-1][0] - bursts[0][0]) / (len(bursts) - 1)
    return mean if abs(mean / lag - 1) < _CLOSE else lag


def _lag(values: NDArray[np.float64]) -> tuple[float, float]:
    """Lag of the first high peak of the autocorrelation, in bins, and its height."""
    n = len(values)
    if n < _LEAST_BINS or np.ptp(values) == 0:
        return 0.0, 0.0
    part = _autocorrelation(_detrended(_smooth(values)))[: n // (LEAST_PHASES - 2) + 1]
    peaks = _peaks(part)
    peaks = peaks[(peaks >= 2) & (part[peaks] >= LEAST_CONFIDENCE / 2)]
    if not len(peaks):
        return 0.0, 0.0
    first = int(peaks[part[peaks] >= _NEARLY * part[peaks].max()][0])
    return _refined(part, first), float(np.clip(part[first], 0.0, 1.0))


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blur by a sixth of the typical distance of bursts; short distances stay as they are."""
    starts = [low for low, _ in _bursts(values, 0.0)]
    gap = float(np.median(np.diff(starts))) if len(starts) > 2 else 0.0
    if gap < 4:
        return values
    reach = int(_BLUR_REACH * gap * _BLUR + 0.5)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (gap * _BLUR)) ** 2)
    return np.convolve(values, bell / bell.sum(), mode="same")


def _detrended(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take the line of least squares off."""
    place = np.arange(len(values)) - (len(values) - 1) / 2
    slope = (place @ values) / (place @ place)
    detrended: NDArray[np.float64] = values - values.mean() - slope * place
    return detrended


def _peaks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places higher than both neighbours; of a flat top, where it begins."""
    starts = np.flatnonzero(np.diff(values, prepend=np.nan))
    tops = values[starts]
    return starts[1:-1][(tops[1:-1] > tops[:-2]) & (tops[1:-1] > tops[2:])]


def _autocorrelation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n = len(values)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(values, size)) ** 2
    full = np.fft.irfft(power, size)[:n] / np.arange(n, 0, -1)
    result: NDArray[np.float64] = full / full[0] if full[0] > 0 else np.zeros(n)
    return result


def _refined(values: NDArray[np.float64], peak: int) -> float:
    """Place of a peak between bins, by the parabola through its three points."""
    left, middle, right = values[peak - 1 : peak + 2]
    return float(peak + 0.5 * (left - right) / (left - 2 * middle + right))


def _bursts(values: NDArray[np.float64], lag: float) -> list[tuple[int, int]]:
    """Spans of bins above a third of the way to the high level.

    Gaps below an eighth of the period are bridged.
    """
    if not values.any():
        return []
    low = float(np.quantile(values, 0.1))
    level = low + _BURST_LEVEL * (float(np.quantile(values[values > 0], 0.9)) - low)
    busy = np.flatnonzero(values > level)
    if not len(busy):
        return [(0, len(values))]
    bridge = max(1, int(lag / 8))
    breaks = np.flatnonzero(np.diff(busy) > bridge)
    starts = busy[np.concatenate(([0], breaks + 1))]
    ends = busy[np.concatenate((breaks, [len(busy) - 1]))] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
