# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How unlike two patterns are, from 0 to 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from stripewise.model import Distribution, Pattern
from stripewise.patterns._contiguous import block_bytes, run_bytes

SIZE_OCTAVES = 20.0
RANK_OCTAVES = 10.0
ELEMENT_OCTAVES = 4.0
"""Octaves (factors of two) that make a difference whole."""

_STAR = "*"


def distance(a: Pattern, b: Pattern) -> float:
    """Return how unlike two patterns are: 0 for equal ones, at most 1.

    Symmetric.  Names of files and datasets, extents, steps and notes do not count.
    """
    return sum(_PARTS[name][0] * part for name, part in distance_parts(a, b).items())


def distance_parts(a: Pattern, b: Pattern) -> dict[str, float]:
    """Return each difference by itself, from 0 to 1."""
    return {name: min(1.0, difference(a, b)) for name, (_, difference) in _PARTS.items()}


def distance_weights() -> dict[str, tuple[float, float]]:
    """Return the share of each difference, and by how many octaves it is whole; 0: no octaves."""
    octaves = {
        "run": SIZE_OCTAVES,
        "size": SIZE_OCTAVES,
        "ranks": RANK_OCTAVES,
        "element": ELEMENT_OCTAVES,
    }
    return {name: (share, octaves.get(name, 0.0)) for name, (share, _) in _PARTS.items()}


def _octaves(one: float, other: float, whole: float) -> float:
    """Return a ratio in octaves, as a share of so many."""
    return abs(math.log2(max(one, 1) / max(other, 1))) / whole


def _dimensions(a: Pattern, b: Pattern) -> float:
    return abs(len(a.block) - len(b.block)) / max(len(a.block), len(b.block), 1)


def _distribution(a: Pattern, b: Pattern) -> float:
    """Least cost of turning one's distribution into the other's, as a share of the most."""
    if a.kind != b.kind or not a.distributions or not b.distributions:
        return float(a.kind != b.kind or bool(a.distributions) != bool(b.distributions))
    one, other = _essential(a), _essential(b)
    most = sum(map(_missing, one)) + sum(map(_missing, other))
    return _turning(one, other) / most if most else 0.0


def _essential(pattern: Pattern) -> list[Distribution]:
    """Return the dimensions that matter: neighbours that are both not cut count as one."""
    parts = [
        part
        for part, size in zip(pattern.distributions, pattern.block, strict=True)
        if part.kind != _STAR or size > 1
    ]
    return [
        part
        for before, part in itertools.pairwise([Distribution(""), *parts])
        if not before.kind == part.kind == _STAR
    ]


def _missing(part: Distribution) -> float:
    return 0.5 if part.kind == _STAR else 1.0


def _changed(one: Distribution, other: Distribution) -> float:
    if one.kind != other.kind:
        return 1.0 if _STAR in (one.kind, other.kind) else 0.7
    return min(1.0, _octaves(one.width, other.width, SIZE_OCTAVES))


def _turning(one: list[Distribution], other: list[Distribution]) -> float:
    """Return the cost of turning one sequence into the other (Levenshtein)."""
    costs = list(itertools.accumulate((_missing(part) for part in other), initial=0.0))
    for part in one:
        before, costs = costs, [costs[0] + _missing(part)]
        for place, target in enumerate(other):
            costs.append(
                min(
                    before[place + 1] + _missing(part),
                    costs[place] + _missing(target),
                    before[place] + _changed(part, target),
                )
            )
    return costs[-1]


def _halo(a: Pattern, b: Pattern) -> float:
    share = [
        max((h / max(n, 1) for h, n in zip(p.halo, p.block, strict=False)), default=0.0)
        for p in (a, b)
    ]
    return abs(share[0] - share[1])


_PARTS: dict[str, tuple[float, Callable[[Pattern, Pattern], float]]] = {
    "distribution": (0.03, _distribution),
    "run": (0.12, lambda a, b: _octaves(run_bytes(a), run_bytes(b), SIZE_OCTAVES)),
    "size": (0.28, lambda a, b: _octaves(block_bytes(a), block_bytes(b), SIZE_OCTAVES)),
    "ranks": (0.02, lambda a, b: _octaves(a.active_ranks, b.active_ranks, RANK_OCTAVES)),
    "dimensions": (0.06, _dimensions),
    "direction": (0.17, lambda a, b: float(a.writing != b.writing)),
    "collective": (0.19, lambda a, b: abs(a.collective - b.collective)),
    "halo": (0.03, _halo),
    "element": (0.10, lambda a, b: _octaves(a.element_bytes, b.element_bytes, ELEMENT_OCTAVES)),
}
"""Each difference and its share, as fitted by benchmarks/likeness.py on what settings lose that
are carried over (docs/design/memory.md has the intervals); that of halos is assumed."""
