# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names each dimension's distribution and the process grid if each rank has one box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from stripewise.evidence.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    Ints,
    classes,
    most_common,
    one_each,
    set_elements,
    set_ends,
    span_of,
)
from stripewise.evidence.patterns._generate import lattice_sets, rule_of, sets_of
from stripewise.evidence.patterns._pattern import BlockRule, Distribution, Pattern, PatternKind

Finding = Pattern
"""A pattern without its file, dataset and counts."""


def unnamed(kind: PatternKind, **known: Any) -> Finding:
    """Return a finding without a named pattern, with what is known of it."""
    return Pattern("", "", False, kind, **known)


def name_boxes(boxes: Boxes) -> Finding | None:
    """Name the pattern of boxes, at most one per rank; None if it has no name."""
    dimensions = name_dimensions(boxes) if one_each(boxes) else None
    if dimensions is None:
        return None
    found, coordinates = dimensions
    lie = find_grid(boxes.rank, coordinates, [named.parts for named in found])
    return None if lie is None else put_together(found, lie, boxes.rank.size)


def name_dimensions(boxes: Boxes) -> tuple[list[Named], list[Ints]] | None:
    """Name all dimensions, with (n,) int64 index of each box's part in each; None if irregular."""
    found, coordinates = [], []
    for sets in boxes.sets:
        table, part = classes(sets)
        named = name_dimension(table)
        if named is None:
            return None
        found.append(named)
        coordinates.append(part)
    return found, coordinates


def put_together(found: Sequence[Named], lie: Grid, n_active: int) -> Finding:
    """Return the finding for named dimensions and a grid."""
    parts = tuple(named.parts for named in found)
    halos = tuple(named.halo for named in found)
    return unnamed(
        _kind(parts, n_active),
        distributions=tuple(named.distribution for named in found),
        block=tuple(named.block for named in found),
        grid=parts,
        span=tuple(named.span for named in found),
        rank_order=lie.order,
        first_rank=lie.first_rank,
        rank_strides=lie.strides,
        halo=halos if any(halos) else (),
        uneven=any(named.uneven for named in found),
        notes=_notes(found, lie),
    )


def _kind(parts: Sequence[int], n_active: int) -> PatternKind:
    if any(n > 1 for n in parts):
        return PatternKind.DISTRIBUTED
    return PatternKind.SINGLE if n_active == 1 else PatternKind.REPLICATED


def _notes(found: Sequence[Named], lie: Grid) -> tuple[str, ...]:
    """Return notes on what the notation does not express."""
    notes = []
    if lie.copies > 1 and any(named.parts > 1 for named in found):
        notes.append(f"each block is moved by {lie.copies} ranks")
    for d, named in enumerate(found):
        below, above = named.distribution.ghost
        if below or above:
            notes.append(f"dimension {d}: blocks reach {below} below and {above} above their own")
        if named.distribution.lattice:
            stride, length = named.distribution.lattice
            notes.append(f"dimension {d}: {length} of every {stride} elements are moved")
        if named.distribution.rule == BlockRule.GENERAL:
            notes.append(f"dimension {d}: blocks of any lengths")
    return tuple(notes)


# Naming of the distribution of one dimension from the different sets that ranks have in it.


@dataclass(frozen=True)
class Named:
    """One dimension with its distribution.

    Attributes:
        distribution: Distribution of the dimension.
        span: First element and end of the moved region.
        parts: Different sets, in the order of their starts.
        block: Number of elements that most parts have.
    """

    distribution: Distribution
    span: tuple[int, int]
    parts: int
    block: int

    @classmethod
    def of(cls, distribution: Distribution, table: Ints) -> Named:
        """Name the sets (5, n_parts) of a distribution."""
        block = most_common(set_elements(table))
        return cls(distribution, span_of(table), table.shape[1], block)

    @property
    def halo(self) -> int:
        """Number of elements by which neighbours overlap."""
        return sum(self.distribution.ghost)

    @property
    def uneven(self) -> bool:
        """Whether parts differ in length."""
        if self.distribution.kind == "CYCLIC":
            return (self.span[1] - self.span[0]) % (self.distribution.width * self.parts) > 0
        return bool(self.distribution.rule)


def name_dimension(table: Ints) -> Named | None:
    """Name the distribution whose parts are `table` (5, n_parts), by start; None if irregular."""
    if table.shape[1] == 1:
        return _whole(table)
    if (table[BLOCKS] == 1).all():
        return _block(table) or _with_gaps(table)
    return _cyclic(table) or _in_lattice(table)


def _whole(table: Ints) -> Named | None:
    if table[LAST, 0] != table[LENGTH, 0]:
        return None
    lattice = () if table[BLOCKS, 0] == 1 else (int(table[STRIDE, 0]), int(table[LENGTH, 0]))
    return Named.of(Distribution("*", lattice=lattice), table)


def _block(table: Ints) -> Named | None:
    starts, ends = table[START], set_ends(table)
    overlap = int(ends[0] - starts[1])
    if overlap < 0 or (ends[:-1] - starts[1:] != overlap).any() or (np.diff(starts) <= 0).any():
        return None
    # Possible causes of the overlap, the likelier first.
    halves = [(overlap // 2, overlap // 2)] if overlap % 2 == 0 else []
    found = []
    for ghost in dict.fromkeys([*halves, (0, overlap), (overlap, 0)]):
        # Each block moves `ghost` elements more than it was cut, except at the outer ends.
        lengths = np.diff(np.concatenate((starts[:1], starts[1:] + ghost[0], ends[-1:])))
        if (lengths > 0).all():
            rule, numbers = rule_of(lengths)
            found.append(Distribution("BLOCK", rule=rule, lengths=numbers, ghost=ghost))
    # Equal blocks before those of a rule, and these before blocks of any lengths.
    plainest = min(found, key=lambda d: (d.rule != "", d.rule == BlockRule.GENERAL), default=None)
    return None if plainest is None else Named.of(plainest, table)


def _with_gaps(table: Ints) -> Named | None:
    """Name equal blocks at equal distances with gaps between them."""
    length, steps = int(table[LENGTH, 0]), np.diff(table[START])
    step = int(steps[0])
    if step <= length or (steps != step).any() or (table[LENGTH] != length).any():
        return None
    return Named.of(Distribution("BLOCK", lattice=(step, length)), table)


def _cyclic(table: Ints) -> Named | None:
    distribution = Distribution("CYCLIC", int(table[LENGTH, 0]))
    expected = sets_of(distribution, span_of(table), table.shape[1])
    return Named.of(distribution, table) if (expected == table).all() else None


def _in_lattice(table: Ints) -> Named | None:
    """Name blocks in which only every n-th element is moved."""
    many = int(np.argmax(table[BLOCKS]))
    lattice = int(table[STRIDE, many]), int(table[LENGTH, many])
    cuts = np.concatenate(([0], np.cumsum(table[BLOCKS])))
    if (lattice_sets(int(table[START, 0]), cuts, lattice) != table).any():
        return None
    rule, numbers = rule_of(table[BLOCKS])
    return Named.of(Distribution("BLOCK", rule=rule, lengths=numbers, lattice=lattice), table)


# Arrangement of the ranks in the grid of processes.


@dataclass(frozen=True)
class Grid:
    """A grid of processes.

    Attributes:
        copies: Number of ranks that share each place.
        order: "C", "F" or "other".
        first_rank / strides: Same as in `Pattern`; empty if the rank is not linear.
    """

    copies: int = 1
    order: str = "C"
    first_rank: int = 0
    strides: tuple[int, ...] = ()


def find_grid(rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int]) -> Grid | None:
    """Return the grid that ranks with these coordinates fill; None if they do not.

    Args:
        rank: (n,) int64, ascending.
        coordinates: For each dimension, (n,) int64 index of each rank's part.
        parts: Number of parts per dimension.
    """
    n_places = math.prod(parts)
    if n_places > rank.size or rank.size % n_places:
        return None
    copies = rank.size // n_places
    place = linear(coordinates, c_strides(parts))
    if (np.bincount(place, minlength=n_places) != copies).any():
        return None
    if n_places == 1:
        return Grid(copies, "C", int(rank[0]), (0,) * len(parts))
    if copies == 1:
        strides = _linear(rank, coordinates, parts, place)
    else:
        strides = _cyclic_strides(rank, coordinates, parts)
    if strides is None:
        return Grid(copies, "other", int(rank[0]))
    first = int(rank[np.argmin(place)])
    return Grid(copies, order_of(strides, parts), first, strides)


def _linear(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int], place: Ints
) -> tuple[int, ...] | None:
    """Return by how much the rank grows per dimension, if it is the same everywhere."""
    by_place = np.empty(rank.size, np.int64)
    by_place[place] = rank
    strides = tuple(int(by_place[next_] - by_place[0]) for next_ in c_strides(parts))
    return strides if (by_place[0] + linear(coordinates, strides) == rank).all() else None


def _cyclic_strides(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int]
) -> tuple[int, ...] | None:
    """Return strides if several ranks share a place: coordinate = rank / stride mod parts."""
    strides = []
    for coordinate, n_parts in zip(coordinates, parts, strict=True):
        stride = int(rank[np.argmax(coordinate != coordinate[0])] - rank[0])
        if stride and ((rank - rank[0]) // stride % n_parts != coordinate).any():
            return None
        strides.append(stride)
    return tuple(strides)


def linear(coordinates: Sequence[Ints], strides: Sequence[int]) -> Ints:
    """Return the sum of coordinate x stride: (n,) int64."""
    steps = [c * stride for c, stride in zip(coordinates, strides, strict=True)]
    return reduce(np.add, steps)


def c_strides(parts: Sequence[int]) -> tuple[int, ...]:
    """Return the stride of ranks per dimension, the last one fastest; 0 if it is not cut."""
    return tuple(math.prod(parts[d + 1 :]) if n > 1 else 0 for d, n in enumerate(parts))


def order_of(strides: Sequence[int], parts: Sequence[int]) -> str:
    """Return "C" if neighbours in the last dimension are consecutive ranks, "F" in the first."""
    used = [stride for stride, n_parts in zip(strides, parts, strict=True) if n_parts > 1]
    if any(stride <= 0 for stride in used):
        return "other"
    if used == sorted(used, reverse=True):
        return "C"
    return "F" if used == sorted(used) else "other"
