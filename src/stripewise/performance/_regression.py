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
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from stripewise.performance._records import BASES, Term

MOST_TERMS = 6
"""Terms besides the constant, as in the longest of the published models."""
_INDEPENDENT = 1e-6
"""Share of a term that others do not have, from which it is a term of its own."""
CANDIDATES = tuple(
    dict(zip(BASES, powers, strict=True)) for powers in itertools.product((0, -1, 1), repeat=4)
)
"""Exponents of all terms, the constant first."""

Floats = NDArray[np.float64]


def fit_terms(rows: Sequence[Mapping[str, float]], seconds: Sequence[float]) -> tuple[Term, ...]:
    """Select terms one after another and fit their coefficients.

    A term is taken while it improves Schwarz's criterion.

    Args:
        rows: Features of each sample.
        seconds: The least I/O time of each.
    """
    columns, aim = _weighted(CANDIDATES, rows, seconds)
    varied = {name for name in BASES if len({row[name] for row in rows}) > 1}
    usable = [n for n, one in enumerate(CANDIDATES) if _used(one) <= varied]
    chosen = [usable[n] for n in _selected(columns[:, usable], aim)]
    return fit_coefficients([_without_zeros(CANDIDATES[n]) for n in chosen], rows, seconds)


def fit_coefficients(
    powers: Sequence[Mapping[str, int]],
    rows: Sequence[Mapping[str, float]],
    seconds: Sequence[float],
    weights: Sequence[float] = (),
) -> tuple[Term, ...]:
    """Fit the coefficients of given terms.

    Args:
        powers: Of each term.
        rows: Features of each sample.
        seconds: The least I/O time of each.
        weights: How much each sample counts; empty: all alike.
    """
    columns, aim = _weighted(powers, rows, seconds, weights)
    scale = np.linalg.norm(columns, axis=0)
    scale[scale == 0] = 1.0
    found = np.linalg.lstsq(columns / scale, aim, rcond=None)[0] / scale
    return tuple(Term(one, float(value)) for one, value in zip(powers, found, strict=True))


def _without_zeros(powers: Mapping[str, int]) -> dict[str, int]:
    return {name: power for name, power in powers.items() if power}


def _used(powers: Mapping[str, int]) -> set[str]:
    return {name for name, power in powers.items() if power}


def _weighted(
    powers: Sequence[Mapping[str, int]],
    rows: Sequence[Mapping[str, float]],
    seconds: Sequence[float],
    weights: Sequence[float] = (),
) -> tuple[Floats, Floats]:
    """Return the terms' columns and the times.

    Errors count in relation to the root of the time: between absolute ones, of which the largest
    file would have nearly all, and relative ones, which would fit fast points at the cost of all
    others.  Of the three this predicts left-out scales and patterns best (docs/models.md).
    """
    times = np.asarray(seconds, dtype=np.float64)
    factor = np.sqrt(np.asarray(weights, dtype=np.float64) if weights else np.ones(len(times)))
    factor = factor / np.sqrt(times)
    terms = [Term(_without_zeros(one), 1.0) for one in powers]
    columns = np.array([[one.of(row) for one in terms] for row in rows])
    return columns * factor[:, None], times * factor


def _selected(columns: Floats, aim: Floats) -> list[int]:
    """Return the columns that forward selection takes, the first one always.

    The columns that are left are kept orthogonal to those that were taken, so that the gain of
    each is known at once.
    """
    n = len(aim)
    whole = np.sum(columns**2, axis=0)
    rest, left, chosen = columns.copy(), aim.copy(), list[int]()
    best = np.inf
    while len(chosen) <= min(MOST_TERMS, n // 4):
        lengths = np.sum(rest**2, axis=0)
        usable = (lengths > _INDEPENDENT * whole) & (lengths > 0)
        usable[chosen] = False
        gains = np.where(usable, (rest.T @ left) ** 2 / np.where(usable, lengths, 1.0), -1.0)
        taken = int(np.argmax(gains)) if chosen else 0
        error = max(float(left @ left) - float(gains[taken]), 1e-12 * float(aim @ aim)) / n
        criterion = n * log(error) + (len(chosen) + 1) * log(n)
        if gains[taken] < 0 or criterion >= best:
            break
        best, unit = criterion, rest[:, taken] / sqrt(lengths[taken])
        chosen.append(taken)
        left = left - unit * (unit @ left)
        rest = rest - np.outer(unit, unit @ rest)
    return chosen
