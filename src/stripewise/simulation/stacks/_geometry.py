# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pattern in closed form: what all ranks have together, and classes of equal ranks."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

from stripewise.errors import UsageError
from stripewise.model import Pattern, PatternKind
from stripewise.simulation.stacks._parts import Parts, parts_of
from stripewise.simulation.stacks._regular import Regular


@dataclass(frozen=True)
class RankClass:
    """Ranks that have sets of bytes of the same form.

    Attributes:
        ranks: How many.
        shape: What one of them has (another one has the same elsewhere).
        sets: Such sets that each of them has, more than 1 in multipartitions.
    """

    ranks: int
    shape: Regular
    sets: float = 1.0


@dataclass(frozen=True)
class Geometry:
    """A pattern, relative to where its dataset begins.

    Attributes:
        pattern: The pattern.
        ranks: That move something.
        union: What all of them have together.
        classes: Classes of equal ranks.
        bytes: That all of them move; more than those of the union where they overlap.
        extent: Bytes of the dataset.
        interleaved: Whether the ranges of neighbouring ranks overlap, as ROMIO asks.
        neighbour: Distance of the ranks that share a border between pieces.
    """

    pattern: Pattern
    ranks: int
    union: Regular
    classes: tuple[RankClass, ...]
    bytes: int
    extent: int
    interleaved: bool
    neighbour: int


@lru_cache(maxsize=4096)
def geometry_of(pattern: Pattern) -> Geometry | None:
    """Return a pattern in closed form; None: nothing is moved.

    Raises:
        UsageError: The pattern is irregular.
    """
    if pattern.kind == PatternKind.EMPTY:
        return None
    if not pattern.distributions:
        raise UsageError(
            f"a pattern that is {pattern.kind} cannot be simulated; replay its trace instead"
        )
    parts = tuple(map(parts_of, pattern.distributions, pattern.spans, pattern.grid))
    if not all(part.classes for part in parts):
        return None
    extents = pattern.sizes
    places = math.prod(pattern.grid)
    split = pattern.kind == PatternKind.MULTIPARTITION
    copies = 1 if split else max(pattern.active_ranks // places, 1)
    classes = tuple(_classes(pattern, parts, extents, copies, places if split else 0))
    union = Regular.of([part.union for part in parts], extents, pattern.element_bytes)
    return Geometry(
        pattern=pattern,
        ranks=pattern.active_ranks if split else sum(one.ranks for one in classes),
        union=union,
        classes=classes,
        bytes=round(sum(one.ranks * one.sets * one.shape.size for one in classes)),
        extent=math.prod(extents) * pattern.element_bytes,
        interleaved=_interleaved(pattern, parts, union, extents, copies, split),
        neighbour=_neighbour(pattern),
    )


def _classes(
    pattern: Pattern, parts: tuple[Parts, ...], extents: tuple[int, ...], copies: int, cells: int
) -> list[RankClass]:
    found = []
    for chosen in itertools.product(*(part.classes for part in parts)):
        ranks = math.prod(count for count, _ in chosen) * copies
        shape = Regular.of([one for _, one in chosen], extents, pattern.element_bytes)
        if cells:
            found.append(RankClass(pattern.active_ranks, shape, ranks / pattern.active_ranks))
        else:
            found.append(RankClass(ranks, shape))
    return found


def strides_of(pattern: Pattern) -> tuple[int, ...]:
    """Return by how much the rank grows per dimension; C order where it is not linear."""
    if pattern.rank_strides:
        return pattern.rank_strides
    grid = pattern.grid
    return tuple(math.prod(grid[d + 1 :]) if n > 1 else 0 for d, n in enumerate(grid))


def _interleaved(
    pattern: Pattern,
    parts: tuple[Parts, ...],
    union: Regular,
    extents: tuple[int, ...],
    copies: int,
    split: bool,
) -> bool:
    """Tell whether a rank begins before the last byte of the rank before it.

    Source: ROMIO, adio/common/ad_write_coll.c: st_offsets[i] < end_offsets[i - 1].  Ranks in
    the order of the grid step in one dimension, and back to 0 in those that count faster.
    """
    if split:
        return pattern.active_ranks > 1
    if copies > 1:
        return union.size > 1
    strides = strides_of(pattern)
    pitches = [math.prod(extents[d + 1 :]) * pattern.element_bytes for d in range(len(extents))]
    cut = sorted((d for d, n in enumerate(pattern.grid) if n > 1), key=lambda d: -abs(strides[d]))
    whole = [d for d in range(len(parts)) if d not in cut]
    fixed = sum(parts[d].own * pitches[d] for d in whole) - (pattern.element_bytes - 1)
    for place, d in enumerate(cut):
        if not all(parts[faster].full for faster in cut[place + 1 :]):
            continue
        between = fixed + parts[d].apart * pitches[d]
        between += sum(parts[slower].own * pitches[slower] for slower in cut[:place])
        between += sum(parts[faster].wrap * pitches[faster] for faster in cut[place + 1 :])
        if between < 0:
            return True
    return False


def _neighbour(pattern: Pattern) -> int:
    """Return how far apart ranks are whose pieces touch: those of the innermost cut dimension."""
    strides = strides_of(pattern)
    cut = [abs(strides[d]) for d, n in enumerate(pattern.grid) if n > 1]
    return max(cut[-1], 1) if cut else 1
