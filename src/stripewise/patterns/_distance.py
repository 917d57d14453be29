# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How unlike two patterns are, from 0 to 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

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
    return distances([a], [b])[0][0]


def distances(ones: Iterable[Pattern], others: Iterable[Pattern]) -> list[list[float]]:
    """Return for each of some patterns the distance to each of others; see `distance`."""
    measured = [_Measures(other) for other in others]
    return [[_whole(one, other) for other in measured] for one in map(_Measures, ones)]


def distance_parts(a: Pattern, b: Pattern) -> dict[str, float]:
    """Return each difference by itself, from 0 to 1."""
    one, other = _Measures(a), _Measures(b)
    return {name: min(1.0, difference(one, other)) for name, (_, difference) in _PARTS.items()}


def distance_weights() -> dict[str, tuple[float, float]]:
    """Return the share of each difference, and by how many octaves it is whole; 0: no octaves."""
    octaves = {
        "run": SIZE_OCTAVES,
        "size": SIZE_OCTAVES,
        "ranks": RANK_OCTAVES,
        "element": ELEMENT_OCTAVES,
    }
    return {name: (share, octaves.get(name, 0.0)) for name, (share, _) in _PARTS.items()}


class _Measures:
    """What is compared of a pattern.

    Of its dimensions those that matter: neighbours that are both not cut count as one.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.run = max(run_bytes(pattern), 1)
        self.size = max(block_bytes(pattern), 1)
        self.ranks = max(pattern.active_ranks, 1)
        self.element = max(pattern.element_bytes, 1)
        self.dimensions = len(pattern.block)
        self.halo = max(
            (h / max(n, 1) for h, n in zip(pattern.halo, pattern.block, strict=False)),
            default=0.0,
        )
        self.essential = _essential(pattern) if pattern.distributions else []
        self.missing = sum(map(_missing, self.essential))


def _whole(a: _Measures, b: _Measures) -> float:
    return sum(share * min(1.0, difference(a, b)) for share, difference in _PARTS.values())


def _octaves(one: float, other: float, whole: float) -> float:
    """Return a ratio of numbers from 1 on in octaves, as a share of so many."""
    return abs(math.log2(one / other)) / whole


def _dimensions(a: _Measures, b: _Measures) -> float:
    return abs(a.dimensions - b.dimensions) / max(a.dimensions, b.dimensions, 1)


def _distribution(a: _Measures, b: _Measures) -> float:
    """Least cost of turning one's distribution into the other's, as a share of the most."""
    one, other = a.pattern, b.pattern
    if one.kind != other.kind or not one.distributions or not other.distributions:
        return float(
            one.kind != other.kind or bool(one.distributions) != bool(other.distributions)
        )
    most = a.missing + b.missing
    return _turning(a.essential, b.essential) / most if most else 0.0


def _essential(pattern: Pattern) -> list[Distribution]:
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
    return min(1.0, _octaves(max(one.width, 1), max(other.width, 1), SIZE_OCTAVES))


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


_PARTS: dict[str, tuple[float, Callable[[_Measures, _Measures], float]]] = {
    "distribution": (0.03, _distribution),
    "run": (0.12, lambda a, b: _octaves(a.run, b.run, SIZE_OCTAVES)),
    "size": (0.28, lambda a, b: _octaves(a.size, b.size, SIZE_OCTAVES)),
    "ranks": (0.02, lambda a, b: _octaves(a.ranks, b.ranks, RANK_OCTAVES)),
    "dimensions": (0.06, _dimensions),
    "direction": (0.17, lambda a, b: float(a.pattern.writing != b.pattern.writing)),
    "collective": (0.19, lambda a, b: abs(a.pattern.collective - b.pattern.collective)),
    "halo": (0.03, lambda a, b: abs(a.halo - b.halo)),
    "element": (0.10, lambda a, b: _octaves(a.element, b.element, ELEMENT_OCTAVES)),
}
"""Each difference and its share, as fitted by benchmarks/likeness.py on what settings lose that
are carried over (docs/design/memory.md has the intervals); that of halos is assumed."""
