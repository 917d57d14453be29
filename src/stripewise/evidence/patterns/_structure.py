# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Summarizes patterns by structure, classifies them, and measures how they differ."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from stripewise.core import PatternSummary
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns._pattern import (
    Distribution,
    Pattern,
    PatternKind,
    all_bytes,
    block_bytes,
    run_bytes,
)

MOST_SUMMARIES = 8
_MOST_DIMENSIONS = 32
_MOST = 1 << 62
_WIDTH = re.compile(r"CYCLIC\((\d{1,18})\)")


def moved_bytes(pattern: Pattern) -> int:
    """Return the bytes that all ranks moved, as far as the pattern determines them."""
    return all_bytes(pattern) * pattern.steps


def summaries(
    patterns: Sequence[Pattern],
    moved: Callable[[Pattern], int] = moved_bytes,
    file_class: Callable[[Pattern], int] = lambda pattern: 0,
) -> tuple[PatternSummary, ...]:
    """Summarize datasets of one structure, most bytes first; return at most eight.

    Args:
        patterns: Patterns of a run.
        moved: Function that returns the bytes that all ranks moved with a pattern.
        file_class: Function that returns the number of a pattern's file class; 0 without one.
    """
    sizes: Counter[PatternSummary] = Counter()
    datasets: Counter[PatternSummary] = Counter()
    for pattern in patterns:
        alike = replace(_summary(pattern), file_class=file_class(pattern))
        sizes[alike] += moved(pattern)
        datasets[alike] += 1
    whole = max(1, sizes.total())
    return tuple(
        replace(one, datasets=datasets[one], share=round(size / whole, 4), bytes=size)
        for one, size in sizes.most_common(MOST_SUMMARIES)
    )


def _summary(pattern: Pattern) -> PatternSummary:
    return PatternSummary(
        pattern.writing,
        tuple(map(str, pattern.distributions)),
        pattern.grid,
        pattern.block,
        pattern.element_bytes,
        pattern.steps,
        round(pattern.collective, 2),
        kind=str(pattern.kind),
        extents=pattern.extents,
        halo=pattern.halo,
        active_ranks=pattern.active_ranks,
    )


@lru_cache(512)
def pattern_of(summary: PatternSummary, n_ranks: int, dataset: str = "") -> Pattern:
    """Return the pattern of a summary; places and order of ranks are assumed.

    The overlap of neighbours is divided between both sides; an array of unknown extents is as
    large as all blocks together.

    Args:
        summary: Summary of a pattern of a run.
        n_ranks: Number of ranks of that run.
        dataset: Name that the pattern gets.

    Raises:
        ConfigurationError: The summary contradicts itself.
    """
    _check(summary)
    kind = PatternKind(summary.kind)
    return Pattern(
        file="",
        dataset=dataset,
        writing=summary.writing,
        kind=kind,
        distributions=_distributions(summary),
        block=summary.block,
        grid=summary.grid,
        extents=summary.extents or _extents(summary),
        element_bytes=summary.element_bytes,
        n_ranks=n_ranks,
        active_ranks=summary.active_ranks or prod(summary.grid),
        rank_order="other" if kind == PatternKind.MULTIPARTITION else "C",
        steps=summary.steps,
        halo=summary.halo,
        collective=summary.collective,
    )


def _distributions(summary: PatternSummary) -> tuple[Distribution, ...]:
    halo = summary.halo or (0,) * len(summary.distributions)
    return tuple(map(_distribution, summary.distributions, halo))


def _distribution(text: str, halo: int) -> Distribution:
    match = _WIDTH.fullmatch(text)
    if match:
        return Distribution("CYCLIC", int(match[1]))
    if text == "CYCLIC":
        return Distribution(text, 1)
    return Distribution(text, ghost=(halo // 2, halo - halo // 2) if text == "BLOCK" else (0, 0))


def _extents(summary: PatternSummary) -> tuple[int, ...]:
    if not summary.distributions:  # an irregular pattern
        return summary.block
    parts = zip(summary.block, summary.grid, summary.distributions, strict=True)
    return tuple(size if name == "*" else size * places for size, places, name in parts)


def _most(summary: PatternSummary) -> int:
    """Return the largest of the numbers that follow from a summary."""
    block = prod(summary.block) * summary.element_bytes
    ranks = max(prod(summary.grid), summary.active_ranks)
    return max(block, ranks, prod(summary.extents), summary.steps, summary.datasets, summary.bytes)


def _check(summary: PatternSummary) -> None:
    """Raise ConfigurationError unless the dimensions agree and all values are possible."""
    if summary.kind not in list(PatternKind):
        raise ConfigurationError(f"pattern: {summary.kind!r} is not a kind of pattern")
    known = (summary.distributions, summary.grid, summary.block, summary.extents, summary.halo)
    dimensions = {len(part) for part in known if part}
    if len(dimensions) > 1 or (summary.distributions and not (summary.grid and summary.block)):
        lengths = ", ".join(str(len(part)) for part in known)
        raise ConfigurationError(
            "pattern: distributions, grid, block, extents and halo differ in their number of "
            f"dimensions ({lengths})"
        )
    for text in summary.distributions:
        if text not in ("BLOCK", "CYCLIC", "*") and not _WIDTH.fullmatch(text):
            raise ConfigurationError(f"pattern: {text!r} is not a distribution")
    least = (*summary.grid, summary.element_bytes, summary.steps, summary.datasets)
    if max(dimensions, default=0) > _MOST_DIMENSIONS or _most(summary) > _MOST:
        raise ConfigurationError("pattern: it has too many dimensions, or moves more than 4 EiB")
    sizes = (summary.active_ranks, summary.bytes, summary.file_class)
    if min(least) < 1 or min((*sizes, *(size for part in known[2:] for size in part))) < 0:
        raise ConfigurationError("pattern: a size is negative, or a number of processes is 0")


# Difference between two patterns, from 0 to 1.

SIZE_OCTAVES = 20.0
RANK_OCTAVES = 10.0
ELEMENT_OCTAVES = 4.0
"""Octaves (factors of two) that count as a complete difference."""

_STAR = "*"


def distance(a: Pattern, b: Pattern) -> float:
    """Return the distance between two patterns: 0 for equal ones, at most 1.

    The distance is symmetric. Names of files and datasets, extents, steps and notes do not count.
    """
    return distances([a], [b])[0][0]


def distances(ones: Iterable[Pattern], others: Iterable[Pattern]) -> list[list[float]]:
    """Return the distances from each of some patterns to each of others; see `distance`."""
    measured = [_Measures(other) for other in others]
    return [[_whole(one, other) for other in measured] for one in map(_Measures, ones)]


def distance_parts(a: Pattern, b: Pattern) -> dict[str, float]:
    """Return each difference separately, from 0 to 1."""
    one, other = _Measures(a), _Measures(b)
    return {name: min(1.0, difference(one, other)) for name, (_, difference) in _PARTS.items()}


def distance_weights() -> dict[str, tuple[float, float]]:
    """Return the weight of each difference, and the octaves of a complete one (0 if none)."""
    octaves = {
        "run": SIZE_OCTAVES,
        "size": SIZE_OCTAVES,
        "ranks": RANK_OCTAVES,
        "element": ELEMENT_OCTAVES,
    }
    return {name: (share, octaves.get(name, 0.0)) for name, (share, _) in _PARTS.items()}


class _Measures:
    """Quantities of a pattern that are compared.

    Adjacent dimensions that are not cut count as one.
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
    """Return a ratio of numbers from 1 on in octaves, as a share of `whole` octaves."""
    return abs(math.log2(one / other)) / whole


def _dimensions(a: _Measures, b: _Measures) -> float:
    return abs(a.dimensions - b.dimensions) / max(a.dimensions, b.dimensions, 1)


def _distribution_distance(a: _Measures, b: _Measures) -> float:
    """Return the least cost of turning one distribution into the other, as a share."""
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
    "distribution": (0.03, _distribution_distance),
    "run": (0.12, lambda a, b: _octaves(a.run, b.run, SIZE_OCTAVES)),
    "size": (0.28, lambda a, b: _octaves(a.size, b.size, SIZE_OCTAVES)),
    "ranks": (0.02, lambda a, b: _octaves(a.ranks, b.ranks, RANK_OCTAVES)),
    "dimensions": (0.06, _dimensions),
    "direction": (0.17, lambda a, b: float(a.pattern.writing != b.pattern.writing)),
    "collective": (0.19, lambda a, b: abs(a.pattern.collective - b.pattern.collective)),
    "halo": (0.03, lambda a, b: abs(a.halo - b.halo)),
    "element": (0.10, lambda a, b: _octaves(a.element, b.element, ELEMENT_OCTAVES)),
}
"""Each difference and its weight, fitted by benchmarks/likeness.py to the loss of settings that
are transferred (docs/design/memory.md has the intervals); that of halos is assumed.
"""


# Classes of patterns, each of which can have one performance model.

DIRECTIONS = ("write", "read")
WAYS = ("collective", "independent", "posix")
SHAPES = ("contiguous", "interleaved", "irregular")


@dataclass(frozen=True)
class PatternClass:
    """A class of patterns; `str` returns e.g. "write collective interleaved".

    Attributes:
        direction: One of `DIRECTIONS`.
        way: One of `WAYS`: how most calls of the pattern are made.
        shape: "contiguous": a rank's part of a dataset is one piece in the file; "interleaved":
            several pieces between those of other ranks; "irregular": no regular pieces.
    """

    direction: str = "write"
    way: str = "collective"
    shape: str = "contiguous"

    def __str__(self) -> str:
        return f"{self.direction} {self.way} {self.shape}"


def class_of(summary: PatternSummary, *, mpiio: bool = True) -> PatternClass:
    """Return the class of a pattern.

    Args:
        summary: Summary of the pattern.
        mpiio: Whether the program moves its data through MPI-IO; otherwise through POSIX calls.
    """
    way = "collective" if summary.collective >= 0.5 else "independent"
    return PatternClass(
        "write" if summary.writing else "read", way if mpiio else "posix", _shape(summary)
    )


def _shape(summary: PatternSummary) -> str:
    kind = summary.kind
    if kind == PatternKind.MULTIPARTITION:
        return "interleaved"
    if kind == PatternKind.IRREGULAR or not summary.distributions:
        return (
            "irregular"
            if kind in (PatternKind.IRREGULAR, PatternKind.DISTRIBUTED)
            else "contiguous"
        )
    first = moved_in_steps(summary)
    cut = [d for d in range(first, len(summary.grid)) if summary.grid[d] > 1]
    if not cut:
        return "contiguous"
    if any(
        name.startswith("CYCLIC") and size > _width(name)
        for name, size in zip(summary.distributions[first:], summary.block[first:], strict=True)
    ):
        return "interleaved"
    return "contiguous" if prod(summary.block[first : cut[-1]]) == 1 else "interleaved"


def moved_in_steps(summary: PatternSummary) -> int:
    """Return the number of leading dimensions of which each call moves one element.

    Without names, consecutive datasets appear as one more dimension.
    """
    length = 1
    for place, name in enumerate(summary.distributions):
        if name != "*":
            return 0
        length *= summary.block[place]
        if length > 1 and length == summary.steps:
            return place + 1
    return 0


def _width(name: str) -> int:
    return int(name[7:-1]) if name.startswith("CYCLIC(") else 1
