# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The published regression: products of powers of the settings and the size of the file.

Source: Behzad et al., "Dynamic Model-driven Parallel I/O Performance Tuning", IEEE Cluster 2015;
"Optimizing I/O Performance of HPC Applications with Autotuning", ACM TOPC 5(4):15, 2019, doi
10.1145/3309205: 81 candidates, forward selection, least squares on the minimum over repeats.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from stripewise.performance._records import Term

BASES = ("c", "s", "a", "f")
MOST_TERMS = 8
"""Terms besides the constant (the published models have 4 to 6)."""
CANDIDATES = tuple(
    dict(zip(BASES, powers, strict=True)) for powers in itertools.product((0, -1, 1), repeat=4)
)
"""Exponents of all terms, the constant first."""

Floats = NDArray[np.float64]


def fit_terms(rows: Sequence[Mapping[str, float]], seconds: Sequence[float]) -> tuple[Term, ...]:
    """Select terms one after another and fit their coefficients.

    Least squares on relative errors, so that small files count as large ones.  A term is taken
    while it improves Schwarz's criterion.

    Args:
        rows: Features of each sample.
        seconds: The least I/O time of each.
    """
    times = np.asarray(seconds, dtype=np.float64)
    columns = (
        np.array([[value_of(term, row) for term in CANDIDATES] for row in rows]) / times[:, None]
    )
    aim = np.ones(len(times))
    varied = _varied(rows)
    open_terms = [n for n, one in enumerate(CANDIDATES) if n and _used(one) <= varied]
    chosen, best = [0], _criterion(columns[:, [0]], aim)
    while open_terms and len(chosen) <= min(MOST_TERMS, len(times) // 4):
        value, term = min((_criterion(columns[:, [*chosen, n]], aim), n) for n in open_terms)
        if value >= best:
            break
        chosen, best = [*chosen, term], value
        open_terms.remove(term)
    found = _solve(columns[:, chosen], aim)
    return tuple(
        Term({name: power for name, power in CANDIDATES[n].items() if power}, float(value))
        for n, value in zip(chosen, found, strict=True)
    )


def value_of(powers: Mapping[str, int], row: Mapping[str, float]) -> float:
    """Return the product of the powers of features."""
    value = 1.0
    for name, power in powers.items():
        if power:
            value = value * row[name] if power > 0 else value / row[name]
    return value


def regressed(terms: Sequence[Term], row: Mapping[str, float]) -> float:
    """Return the seconds that a regression predicts."""
    return sum(term.coefficient * value_of(term.powers, row) for term in terms)


def _varied(rows: Sequence[Mapping[str, float]]) -> set[str]:
    return {name for name in BASES if len({row[name] for row in rows}) > 1}


def _used(powers: Mapping[str, int]) -> set[str]:
    return {name for name, power in powers.items() if power}


def _solve(columns: Floats, aim: Floats) -> Floats:
    scale = np.linalg.norm(columns, axis=0)
    found: Floats = np.linalg.lstsq(columns / scale, aim, rcond=None)[0] / scale
    return found


def _criterion(columns: Floats, aim: Floats) -> float:
    """Return Schwarz's criterion (BIC) of a least-squares fit."""
    left = aim - columns @ _solve(columns, aim)
    n, k = columns.shape
    rest = max(float(left @ left) / n, 1e-12)
    return float(n * log(rest) + k * log(n))
