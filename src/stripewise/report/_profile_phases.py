# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""When the phases of a run begin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from stripewise.diagnosis import Periodicity
from stripewise.diagnosis.heat_cells import Floats


def phase_marks(
    rates: Mapping[str, Floats], column_seconds: float, phases: Sequence[Periodicity]
) -> dict[str, tuple[float, ...]]:
    """Find when the phases of each periodic direction begin, in seconds.

    Args:
        rates: Direction ("write", "read") to (n_columns,) float64.
        column_seconds: Width of a column.
        phases: What was found of each direction.
    """
    return {
        phase.direction: tuple(
            column * column_seconds
            for column in _marks(rates[phase.direction], phase.period_seconds / column_seconds)
        )
        for phase in phases
        if phase.periodic and phase.period_seconds > 0 and phase.direction in rates
    }


def _marks(series: Floats, period: float) -> tuple[float, ...]:
    """Columns where phases begin: the comb of that period under which most is moved."""
    n = len(series)
    if not 2 <= period <= n or n / period > 100:
        return ()
    rising = np.maximum(np.diff(series, prepend=0.0), 0)
    combs = [np.arange(shift, n, period) for shift in range(math.ceil(period))]
    best = max(combs, key=lambda teeth: float(rising[teeth.astype(np.int64)].sum()))
    active = np.flatnonzero(series)
    return tuple(float(at) for at in best if active[0] - 1 <= at <= active[-1])
