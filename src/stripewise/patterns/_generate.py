# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a pattern back to what each rank moves."""

from __future__ import annotations

import math

import numpy as np

from stripewise.errors import UsageError
from stripewise.model import Pattern, PatternKind, Selections
from stripewise.patterns._boxes import BLOCKS, LAST, LENGTH, START, STRIDE
from stripewise.patterns._columns import Ints
from stripewise.patterns._parts import sets_of


def generate(pattern: Pattern, rank: int | None = None) -> Selections:
    """Return what a rank moves according to the pattern, or all ranks do.

    Deviating ranks are taken for regular ones.  Where the rank is no linear function of the
    place in the grid, and in multipartitions, ranks are numbered in C order from the first one.

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
    """Deal out cells so that each rank has as many in every slab, diagonal by diagonal.

    The diagonals are numbered as BT-IO does it: those of the first dimension with each other one.
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
