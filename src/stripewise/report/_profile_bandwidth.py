# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth over time with the period of its phases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis import Periodicity
from stripewise.report._text import format_bandwidth, format_bytes, format_seconds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """Bandwidth of one direction over time: points of a step line in percent, y downwards."""

    direction: str
    points: str
    peak: float
    total_bytes: float


@dataclass(frozen=True)
class Bandwidth:
    """Bandwidth of both directions under one axis."""

    bands: tuple[Band, ...]
    top: float
    marks: tuple[float, ...]
    period: str
    description: str


def bandwidth_of(
    moved: Mapping[str, Floats], column_seconds: float, phases: Sequence[Periodicity]
) -> Bandwidth | None:
    """Prepare the curves of what moved.

    Args:
        moved: Direction ("write", "read") to (n_columns,) float64, bytes.
        column_seconds: Width of a column.
        phases: What was found of each direction.
    """
    rates = {name: values / column_seconds for name, values in moved.items()}
    top = max(float(values.max(initial=0.0)) for values in rates.values())
    if top <= 0:
        return None
    bands = tuple(
        Band(name, _steps(values, top), float(values.max()), float(moved[name].sum()))
        for name, values in rates.items()
        if values.any()
    )
    leading = max(bands, key=lambda band: band.total_bytes).direction
    claimed = [phase for phase in phases if phase.periodic and phase.period_seconds > 0]
    claimed.sort(key=lambda phase: phase.direction != leading)
    marks: tuple[float, ...] = ()
    period = ""
    if claimed:
        phase = claimed[0]
        marks = _marks(rates[phase.direction], phase.period_seconds / column_seconds)
        period = f"{phase.direction}s come every {format_seconds(phase.period_seconds)}"
    words = "; ".join(
        f"{band.direction}: {format_bytes(band.total_bytes)} in all, "
        f"at most {format_bandwidth(band.peak)}"
        for band in bands
    )
    description = f"Bandwidth over time: {words}{'. ' + period if period else ''}."
    return Bandwidth(bands, top, marks, period, description)


def _steps(values: Floats, top: float) -> str:
    """Points of the area below a step line, in a box of 1000 x 100; runs of equals are one."""
    n = len(values)
    heights = 100 - 100 * values / top
    points = ["0,100"]
    for start, height in enumerate(heights):
        if start and height == heights[start - 1]:
            continue
        end = start + 1
        while end < n and heights[end] == height:
            end += 1
        points += [f"{1000 * start / n:.6g},{height:.4g}", f"{1000 * end / n:.6g},{height:.4g}"]
    return " ".join([*points, "1000,100"])


def _marks(series: Floats, period: float) -> tuple[float, ...]:
    """Where phases begin, percent: the comb of that period under which most is moved."""
    n = len(series)
    if not 2 <= period <= n or n / period > 100:
        return ()
    best, best_sum = 0, -1.0
    rising = np.maximum(np.diff(series, prepend=0.0), 0)
    for shift in range(math.ceil(period)):
        teeth = np.arange(shift, n, period).astype(np.int64)
        found = float(rising[teeth].sum())
        if found > best_sum:
            best, best_sum = shift, found
    active = np.flatnonzero(series)
    shown = [at for at in np.arange(best, n, period) if active[0] - 1 <= at <= active[-1]]
    return tuple(float(100 * at / n) for at in shown)


def phase_words(phase: Periodicity) -> str:
    """Say what was found of the phases of one direction."""
    verb = {"write": "Writes", "read": "Reads"}.get(phase.direction, phase.direction)
    burst = f"{format_seconds(phase.phase_seconds)} and {format_bytes(phase.phase_bytes)}"
    if phase.periodic:
        return (
            f"{verb} come every {format_seconds(phase.period_seconds)} "
            f"(confidence {100 * phase.confidence:.0f} %): {phase.n_phases} phases of {burst} "
            "each (medians)."
        )
    if phase.n_phases <= 1:
        return f"{verb}: one phase of {burst}." if phase.n_phases else f"{verb}: no phases."
    return (
        f"{verb}: {phase.n_phases} phases of {burst} each (medians), at no regular period. "
        f"Spans shorter than {format_seconds(phase.resolution_seconds)} cannot be told apart."
    )
