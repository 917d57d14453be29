# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a pattern back to what each rank moves."""

from __future__ import annotations

import itertools
import math

import numpy as np

from stripewise._folded import expanded_index
from stripewise.errors import UsageError
from stripewise.model import Distribution, Pattern, PatternKind, Selections
from stripewise.patterns._boxes import BLOCKS, LAST, LENGTH, START, STRIDE, Ints
from stripewise.patterns._dimension import cyclic_parts
from stripewise.patterns._rules import cut


def generate(pattern: Pattern, rank: int | None = None) -> Selections:
    """Return what a rank moves according to the pattern, or all ranks do.

    Deviating ranks are taken for regular ones.  Where the rank is no linear function of the
    place in the grid, and in multipartitions, ranks are numbered in C order from the first one.

    Raises:
        UsageError: The pattern is irregular, or has too many blocks of any lengths.
    """
    if pattern.kind == PatternKind.EMPTY:
        return _selections(pattern, np.zeros(0, np.int64), np.zeros((1, 5, 0), np.int64))
    if not pattern.distributions:
        raise UsageError(
            f"a pattern that is {pattern.kind} cannot be generated; replay its trace instead"
        )
    tables = [part_sets(pattern, d) for d in range(len(pattern.distributions))]
    if pattern.kind == PatternKind.MULTIPARTITION:
        owner, coordinates = _diagonals(pattern)
    else:
        owner, coordinates = _grid(pattern)
    if rank is not None:
        chosen = owner == rank
        owner, coordinates = owner[chosen], coordinates[:, chosen]
    sets = [table[:, c] for table, c in zip(tables, coordinates, strict=True)]
    return _with_tails(pattern, owner, np.stack(sets))


def members(column: Ints) -> Ints:
    """Return the indices in one set (5,)."""
    starts = column[START] + np.arange(column[BLOCKS]) * column[STRIDE]
    lengths = np.full(starts.size, column[LENGTH])
    lengths[-1:] = column[LAST]
    block, within = expanded_index(lengths)
    found: Ints = starts[block] + within
    return found


def part_sets(pattern: Pattern, d: int) -> Ints:
    """Return the sets (5, n_parts) of dimension `d`."""
    distribution, n_parts = pattern.distributions[d], pattern.grid[d]
    first, end = pattern.span[d] if pattern.span else (0, pattern.extents[d])
    if distribution.kind == "CYCLIC":
        table = cyclic_parts(end - first, n_parts, distribution.width)
        table[START] += first
        return table
    if distribution.lattice:
        return _lattice(distribution, first, end, n_parts)
    cuts = first + _cuts(distribution, end - first, n_parts)
    below, above = distribution.ghost
    low, high = np.maximum(cuts[:-1] - below, first), np.minimum(cuts[1:] + above, end)
    return _plain(low, high - low)


def _cuts(distribution: Distribution, n_elements: int, n_parts: int) -> Ints:
    if distribution.rule == "general" and len(distribution.lengths) != n_parts:
        raise UsageError("there are too many blocks of any lengths: they were not kept")
    return cut(distribution.rule, n_elements, n_parts, distribution.lengths)


def _plain(starts: Ints, lengths: Ints) -> Ints:
    ones, zeros = np.ones_like(starts), np.zeros_like(starts)
    return np.stack((starts, zeros, ones, lengths, lengths))


def _lattice(distribution: Distribution, first: int, end: int, n_parts: int) -> Ints:
    stride, length = distribution.lattice
    n_cells = -(-(end - first) // stride)
    cuts = _cuts(distribution, n_cells, n_parts)
    blocks = np.diff(cuts)
    table = _plain(first + cuts[:-1] * stride, np.full(n_parts, length, np.int64))
    table[BLOCKS] = blocks
    table[STRIDE] = np.where(blocks > 1, stride, 0)
    return table


def _grid(pattern: Pattern) -> tuple[Ints, Ints]:
    """Return the rank at every place of the grid, and its coordinates (n_dims, n)."""
    grid, strides = pattern.grid, pattern.rank_strides
    n_places = math.prod(grid)
    copies = max(pattern.active_ranks // n_places, 1)
    coordinates = np.stack(np.unravel_index(np.arange(n_places), grid))
    if copies > 1:
        return _shared(pattern, copies)
    if not strides:
        return pattern.first_rank + np.arange(n_places), coordinates
    return pattern.first_rank + np.asarray(strides) @ coordinates, coordinates


def _shared(pattern: Pattern, copies: int) -> tuple[Ints, Ints]:
    """The same where `copies` ranks share each place."""
    n_active = pattern.active_ranks
    step = _step(pattern)
    number = np.arange(n_active) * step
    if pattern.rank_strides:
        found = [
            number // max(stride, 1) % n_parts
            for stride, n_parts in zip(pattern.rank_strides, pattern.grid, strict=True)
        ]
        return pattern.first_rank + number, np.stack(found)
    place = np.arange(n_active) // copies
    return pattern.first_rank + number, np.stack(np.unravel_index(place, pattern.grid))


def _step(pattern: Pattern) -> int:
    """By how much the active ranks differ, where they share places."""
    used = [stride for stride in pattern.rank_strides if stride]
    step = math.gcd(*used) if used else 1
    return step if step * (pattern.active_ranks - 1) + pattern.first_rank < pattern.n_ranks else 1


def _diagonals(pattern: Pattern) -> tuple[Ints, Ints]:
    """Deal out cells so that each rank has as many in every slab, diagonal by diagonal."""
    coordinates = np.stack(np.unravel_index(np.arange(math.prod(pattern.grid)), pattern.grid))
    cut_ = [d for d, n_parts in enumerate(pattern.grid) if n_parts > 1]
    diagonal = np.zeros(coordinates.shape[1], np.int64)
    for one, other in itertools.pairwise(cut_):
        n_parts = pattern.grid[other]
        diagonal = diagonal * n_parts + (coordinates[one] + coordinates[other]) % n_parts
    owner = diagonal % pattern.active_ranks
    order = np.argsort(owner, kind="stable")
    return pattern.first_rank + owner[order], coordinates[:, order]


def _with_tails(pattern: Pattern, owner: Ints, sets: Ints) -> Selections:
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
    return _selections(pattern, owner[order], sets[:, :, order])


def _selections(pattern: Pattern, owner: Ints, sets: Ints) -> Selections:
    single = sets[:, BLOCKS] == 1
    first = np.searchsorted(owner, owner)
    return Selections(
        file=pattern.file, dataset=pattern.dataset, extents=pattern.extents,
        element_bytes=pattern.element_bytes, writing=pattern.writing, rank=owner,
        start=sets[:, START].T, stride=np.where(single, sets[:, LENGTH], sets[:, STRIDE]).T,
        count=sets[:, BLOCKS].T, block=sets[:, LENGTH].T,
        order=np.arange(owner.size) - first,
        collective=np.full(owner.size, pattern.collective > 0.5), n_ranks=pattern.n_ranks,
        source=pattern.source if pattern.source in ("hdf5", "pnetcdf") else "hdf5",
    )  # fmt: skip
