# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Boxes: what ranks move, each the product of one regular set of indices per dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Selections

START, STRIDE, BLOCKS, LENGTH, LAST = range(5)
"""Columns of a set: blocks of `LENGTH` elements, `STRIDE` apart (0: one block), of which the
last one may be shorter (`LAST`)."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of all ranks.

    Attributes:
        rank: (n,) int64, not decreasing.
        order: (n,) int64, the rank's own order.
        sets: (n_dims, 5, n) int64.
    """

    rank: Ints
    order: Ints
    sets: Ints

    @property
    def n_dims(self) -> int:
        """Dimensions."""
        return int(self.sets.shape[0])

    def take(self, index: NDArray[np.generic]) -> Boxes:
        """Return some of them, or all in another order."""
        return Boxes(self.rank[index], self.order[index], self.sets[:, :, index])


def boxes_of(selections: Selections) -> Boxes:
    """Return the boxes of hyperslabs; those of no element are left out."""
    starts, strides = selections.start.T, selections.stride.T
    counts, blocks = selections.count.T, selections.block.T
    sets = np.empty((starts.shape[0], 5, starts.shape[1]), np.int64)
    for d in range(sets.shape[0]):
        sets[d, START] = starts[d]
        sets[d, LENGTH] = blocks[d]
        joined = (strides[d] == blocks[d]) | (counts[d] == 1)
        if joined.all():
            sets[d, LENGTH] *= counts[d]
            sets[d, STRIDE], sets[d, BLOCKS] = 0, 1
        else:
            sets[d, LENGTH] *= np.where(joined, counts[d], 1)
            sets[d, STRIDE] = np.where(joined, 0, strides[d])
            sets[d, BLOCKS] = np.where(joined, 1, counts[d])
        sets[d, LAST] = sets[d, LENGTH]
    something = np.logical_and.reduce((counts > 0) & (blocks > 0), axis=0)
    boxes = Boxes(selections.rank.astype(np.int64), selections.order, sets)
    return by_rank(boxes if something.all() else boxes.take(something))


def by_rank(boxes: Boxes) -> Boxes:
    """Return them ordered by rank and the rank's order."""
    steps = np.diff(boxes.rank)
    if (steps > 0).all():
        return boxes
    if (steps >= 0).all() and (np.diff(boxes.order)[steps == 0] >= 0).all():
        return boxes
    return boxes.take(np.lexsort((boxes.order, boxes.rank)))


def set_elements(sets: Ints) -> Ints:
    """Elements of sets (5, n)."""
    counted: Ints = (sets[BLOCKS] - 1) * sets[LENGTH] + sets[LAST]
    return counted


def set_ends(sets: Ints) -> Ints:
    """One past the last element of sets (5, n)."""
    ends: Ints = sets[START] + (sets[BLOCKS] - 1) * sets[STRIDE] + sets[LAST]
    return ends


def elements(boxes: Boxes) -> NDArray[np.float64]:
    """Elements of each box; in floating point, since products may be large."""
    found = np.ones(boxes.rank.size)
    for d in range(boxes.n_dims):
        found *= set_elements(boxes.sets[d])
    return found


def mixed(*columns: Ints) -> NDArray[np.uint64]:
    """Return a number per place that differs where any of the columns (n,) differs.

    Only numbers of one call can be compared.  They are 64 well mixed bits: among 10^6 different
    columns two collide with a probability of 10^-8.
    """
    found = np.full(columns[0].size, 0x9E3779B97F4A7C15, np.uint64)
    for row in columns:
        if row.size and row[0] == row[-1] and (row == row[0]).all():
            continue  # tells nothing
        found ^= row.view(np.uint64) if row.flags.c_contiguous else row.astype(np.uint64)
        found *= np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(29)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(32)
    return found


def classes(sets: Ints) -> tuple[Ints, Ints]:
    """Return the different ones among sets (5, n), by start and end, and which one each is.

    Returns:
        (5, n_classes) and (n,) int64.
    """
    same = all((sets[i] == sets[i, 0]).all() for i in (STRIDE, BLOCKS, LENGTH, LAST))
    key = sets[START] if same else mixed(*sets)
    if same and (np.diff(key) > 0).all():
        return sets, np.arange(key.size)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    table = sets[:, first]
    order = np.lexsort((set_ends(table), table[START]))
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    return table[:, order], position[inverse]


def most_common(values: Ints, weights: Ints | None = None) -> int:
    """Return the most common value; of equally common ones the largest."""
    kinds, counts = np.unique(values, return_counts=True)
    if weights is not None:
        counts = np.bincount(np.searchsorted(kinds, values), weights)
    return int(kinds[np.flatnonzero(counts == counts.max())[-1]])
