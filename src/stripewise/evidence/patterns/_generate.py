# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cuts a dimension into parts, and generates from a pattern what each rank moves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Ints,
    plain_sets,
)
from stripewise.evidence.patterns._pattern import BlockRule, Distribution, Pattern, PatternKind
from stripewise.evidence.trace import Selections


def generate(pattern: Pattern, rank: int | None = None) -> Selections:
    """Return what a rank, or all ranks, move according to the pattern.

    Deviating ranks are treated as regular ones. If the rank is not a linear function of the place
    in the grid, and in multipartitions, ranks are numbered in C order from the first one.

    Raises:
        UsageError: The pattern is irregular, or has too many blocks of any lengths.
    """
    if pattern.kind == PatternKind.EMPTY:
        return _hyperslabs(pattern, np.zeros(0, np.int64), np.zeros((1, 5, 0), np.int64))
    if not pattern.distributions:
        raise UsageError(
            f"a pattern that is {pattern.kind} cannot be generated; replay its trace instead"
        )
    tables = map(sets_of, pattern.distributions, pattern.spans, pattern.grid)
    if pattern.kind == PatternKind.MULTIPARTITION:
        owner, coordinates = _diagonals(pattern)
    else:
        owner, coordinates = _grid(pattern)
    if rank is not None:
        chosen = owner == rank
        owner, coordinates = owner[chosen], coordinates[:, chosen]
    sets = [table[:, c] for table, c in zip(tables, coordinates, strict=True)]
    return _hyperslabs(pattern, owner, np.stack(sets))


def _grid(pattern: Pattern) -> tuple[Ints, Ints]:
    """Return the ranks at each place of the grid, and their coordinates (n_dims, n)."""
    n_places, strides = math.prod(pattern.grid), pattern.rank_strides
    copies = max(pattern.active_ranks // n_places, 1)
    place = np.arange(n_places * copies) // copies
    coordinates = np.stack(np.unravel_index(place, pattern.grid))
    if copies == 1 and strides:
        return pattern.first_rank + np.asarray(strides) @ coordinates, coordinates
    step = math.gcd(*strides) or 1
    if pattern.first_rank + step * (place.size - 1) >= pattern.n_ranks:
        step = 1
    number = np.arange(place.size) * step
    if strides:
        every = [number // max(stride, 1) for stride in strides]
        coordinates = np.stack(every) % np.reshape(pattern.grid, (-1, 1))
    return pattern.first_rank + number, coordinates


def _diagonals(pattern: Pattern) -> tuple[Ints, Ints]:
    """Assign cells so that each rank has the same number in every slab, diagonal by diagonal.

    The diagonals are numbered as in BT-IO: those of the first dimension with each other one.
    """
    coordinates = np.stack(np.unravel_index(np.arange(math.prod(pattern.grid)), pattern.grid))
    cut_ = [d for d, n_parts in enumerate(pattern.grid) if n_parts > 1]
    diagonal = np.zeros(coordinates.shape[1], np.int64)
    for other in cut_[1:]:
        n_parts = pattern.grid[other]
        diagonal = diagonal * n_parts + (coordinates[cut_[0]] + coordinates[other]) % n_parts
    owner = diagonal % pattern.active_ranks
    order = np.argsort(owner, kind="stable")
    return pattern.first_rank + owner[order], coordinates[:, order]


def _hyperslabs(pattern: Pattern, owner: Ints, sets: Ints) -> Selections:
    """Return hyperslabs; a set whose last block is shorter becomes two."""
    keep = (sets[:, BLOCKS] > 0).all(axis=0)
    owner, sets = owner[keep], sets[:, :, keep]
    for d in range(sets.shape[0]):
        uneven = sets[d, LAST] != sets[d, LENGTH]
        if not uneven.any():
            continue
        tail = sets[:, :, uneven].copy()
        tail[d, START] += (tail[d, BLOCKS] - 1) * tail[d, STRIDE]
        tail[d, LENGTH], tail[d, BLOCKS], tail[d, STRIDE] = tail[d, LAST], 1, 0
        sets = sets.copy()
        sets[d, BLOCKS, uneven] -= 1
        sets[d, LAST] = sets[d, LENGTH]
        owner, sets = np.append(owner, owner[uneven]), np.concatenate((sets, tail), axis=2)
    order = np.argsort(owner, kind="stable")
    owner, sets = owner[order], sets[:, :, order]
    single = sets[:, BLOCKS] == 1
    return Selections(
        file=pattern.file, dataset=pattern.dataset, extents=pattern.extents,
        element_bytes=pattern.element_bytes, writing=pattern.writing, rank=owner,
        start=sets[:, START].T, stride=np.where(single, sets[:, LENGTH], sets[:, STRIDE]).T,
        count=sets[:, BLOCKS].T, block=sets[:, LENGTH].T,
        order=np.arange(owner.size) - np.searchsorted(owner, owner),
        collective=np.full(owner.size, pattern.collective > 0.5), n_ranks=pattern.n_ranks,
        source=pattern.source if pattern.source in ("hdf5", "pnetcdf") else "hdf5",
    )  # fmt: skip


# How a dimension is cut into parts: from a distribution to the set of each part, and back.

MOST_LENGTHS = 4096
"""Maximum number of blocks whose lengths are kept; for more, only the range is kept."""

_BEGINS: dict[str, Callable[[Ints, int, int], Ints]] = {
    BlockRule.CEIL: lambda i, n, parts: np.minimum(i * -(-n // parts), n),
    BlockRule.EVEN: lambda i, n, parts: i * (n // parts) + np.minimum(i, n % parts),
    BlockRule.EVEN_LAST: lambda i, n, parts: (
        i * (n // parts) + np.maximum(i - (parts - n % parts), 0)
    ),
    # i n / parts rounded down, without overflow
    BlockRule.SPREAD: lambda i, n, parts: i * (n // parts) + i * (n % parts) // parts,
    BlockRule.REST_LAST: lambda i, n, parts: np.where(i < parts, i * (n // parts), n),
}
"""First index of block i of n elements, by rules that need no length; the simpler ones first."""


def cut(rule: str, n_elements: int, n_parts: int, lengths: tuple[int, ...] = ()) -> Ints:
    """Return the first element of every part and, last, the end: (n_parts + 1,) int64."""
    index = np.arange(n_parts + 1, dtype=np.int64)
    if rule == BlockRule.GENERAL:
        return np.concatenate(([0], np.cumsum(np.asarray(lengths, np.int64))))
    if rule == BlockRule.FIXED:
        return np.minimum(index * lengths[0], n_elements)
    return _BEGINS[rule or BlockRule.CEIL](index, n_elements, n_parts)


def rule_of(lengths: Ints) -> tuple[str, tuple[int, ...]]:
    """Return the rule that makes blocks of these lengths, and its numbers."""
    if (lengths == lengths[0]).all():
        return "", ()
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    for rule in _BEGINS:
        if (cut(rule, total, lengths.size)[1:] == ends).all():
            return rule, ()
    if (lengths[:-1] == lengths[0]).all() and lengths[-1] < lengths[0]:
        return BlockRule.FIXED, (int(lengths[0]),)
    return BlockRule.GENERAL, tuple(lengths.tolist()) if lengths.size <= MOST_LENGTHS else ()


def sets_of(distribution: Distribution, span: tuple[int, int], n_parts: int) -> Ints:
    """Return the sets (5, n_parts) of a dimension; a part may be empty (`BLOCKS` 0).

    Args:
        distribution: Distribution of the dimension.
        span: First element and end of the moved region.
        n_parts: Number of parts.

    Raises:
        UsageError: There are too many blocks of any lengths.
    """
    first, end = span
    if distribution.kind == "CYCLIC":
        return _cyclic_sets(first, end, n_parts, distribution.width)
    stride, _ = distribution.lattice or (1, 1)
    if distribution.rule == BlockRule.GENERAL and len(distribution.lengths) != n_parts:
        raise UsageError("there are too many blocks of any lengths: they were not kept")
    cuts = cut(distribution.rule, -(-(end - first) // stride), n_parts, distribution.lengths)
    if distribution.lattice:
        return lattice_sets(first, cuts, distribution.lattice)
    below, above = distribution.ghost
    low = np.maximum(first + cuts[:-1] - below, first)
    return plain_sets(low, np.minimum(first + cuts[1:] + above, end) - low)


def lattice_sets(first: int, cuts: Ints, lattice: tuple[int, ...]) -> Ints:
    """Return the sets of blocks in which `lattice[1]` of every `lattice[0]` elements are moved.

    Args:
        first: First element of all parts.
        cuts: (n_parts + 1,) int64, beginnings and ends of parts, counted in strides.
        lattice: Same as in `Distribution`.
    """
    stride, length = lattice
    blocks = np.diff(cuts)
    table = plain_sets(first + cuts[:-1] * stride, np.full(blocks.size, length, np.int64))
    table[BLOCKS] = blocks
    table[STRIDE] = np.where(blocks > 1, stride, 0)
    return table


def _cyclic_sets(first: int, end: int, n_parts: int, width: int) -> Ints:
    """Return the sets of blocks of `width` elements that are assigned to parts cyclically."""
    starts = first + np.arange(n_parts, dtype=np.int64) * width
    round_ = width * n_parts
    rest = end - starts
    blocks = np.where(rest > 0, -(-rest // round_), 0)
    last = np.minimum(width, rest - (blocks - 1) * round_)
    several = blocks > 1
    table = plain_sets(starts, np.where(several, width, last))
    table[STRIDE] = np.where(several, round_, 0)
    table[BLOCKS], table[LAST] = blocks, last
    table[:, blocks == 0] = 0
    return table
