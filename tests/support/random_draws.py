# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far a choice is from a surface's optimum, and what blind luck gives on it.

Luck is without noise and without any run but the draws, a lower bound that no study can reach:
one run a configuration, each of them exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, inf, isfinite

from surfaces import Landscape

from stripewise.core import Value


def regret_of(scene: Landscape, settings: Mapping[str, Value]) -> float:
    """Return the true median over the optimum, minus 1; infinite if it is not known."""
    spot = scene.find(settings)
    return spot.io_seconds / scene.best.io_seconds - 1 if spot else inf


def expected_runs(scene: Landscape) -> float:
    """Return the mean number of draws without replacement until one is near the optimum.

    (N + 1) / (K + 1) with K near ones among N; 0 if the default is near.
    """
    n_points, n_near = _counts(scene)
    return (n_points + 1) / (n_near + 1) if n_near else 0.0


def quantile_runs(scene: Landscape, share: float = 0.9) -> int:
    """Return the number of draws after which so many of all orders have met a near one."""
    n_points, n_near = _counts(scene)
    if not n_near:
        return 0
    for n_draws in range(1, n_points + 1):
        if 1 - comb(n_points - n_near, n_draws) / comb(n_points, n_draws) >= share:
            return n_draws
    return n_points


def expected_regret(scene: Landscape, n_draws: int) -> float:
    """Return the mean regret of the best of the default and so many draws."""
    best = scene.best.io_seconds
    default = scene.default.io_seconds
    others = [s.io_seconds for s in scene.spots if s is not scene.default]
    n_draws = min(n_draws, len(others))
    total, ways = 0.0, comb(len(others), n_draws)
    for place, seconds in enumerate(others):  # the fastest drawn one stands at this place
        share = comb(len(others) - place - 1, n_draws - 1) / ways if n_draws else 0.0
        least = min(seconds, default)
        total += share * ((least if isfinite(least) else default) / best - 1)
    return total if n_draws else default / best - 1


def _counts(scene: Landscape) -> tuple[int, int]:
    """Return the number of points besides the default, and of near ones among them."""
    near = scene.near()
    if scene.default in near:
        return len(scene.spots) - 1, 0
    return len(scene.spots) - 1, len(near)
