# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Noise of a shared storage: a sharp upper edge, and a long tail below it."""

from __future__ import annotations

from functools import lru_cache
from math import erf, exp, sqrt
from random import Random

from stripewise.errors import UsageError

_WIDEST = 20.0


def noise_factor(rng: Random, cv: float) -> float:
    """Draw the share of its bandwidth that a run gets: min(1, lognormal).

    Half of the runs get all of it.

    Args:
        rng: To draw with.
        cv: Coefficient of variation of the factor, 0 to 0.9; published: 0.03 to 0.5.

    Raises:
        UsageError: Such a factor cannot vary that much.
    """
    if not 0 <= cv <= 0.9:
        raise UsageError(f"a coefficient of variation of {cv:g} is impossible: give 0 to 0.9")
    return min(1.0, exp(rng.gauss(0.0, _sigma(cv)))) if cv else 1.0


@lru_cache(maxsize=64)
def _sigma(cv: float) -> float:
    """Return the lognormal's sigma for which min(1, lognormal) varies by `cv`, by bisection."""
    low, high = 0.0, _WIDEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _cv(middle) < cv else (low, middle)
    return (low + high) / 2


def _cv(sigma: float) -> float:
    """Coefficient of variation of min(1, X), where log X is normal with mean 0."""
    first = 0.5 + exp(sigma**2 / 2) * _phi(-sigma)
    second = 0.5 + exp(2 * sigma**2) * _phi(-2 * sigma)
    return sqrt(max(second - first**2, 0.0)) / first


def _phi(x: float) -> float:
    return 0.5 * (1 + erf(x / sqrt(2)))
