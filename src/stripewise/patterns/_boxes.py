# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Boxes: what ranks move, each the product of one regular set of indices per dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.model import Selections
from stripewise.patterns._columns import Columns, Ints, mixed

START, STRIDE, BLOCKS, LENGTH, LAST = range(5)
"""Columns of a set: blocks of `LENGTH` elements, `STRIDE` apart (0: one block), of which the
last one may be shorter (`LAST`)."""


@dataclass(frozen=True, eq=False)
class Boxes(Columns):
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


def boxes_of(selections: Selections) -> Boxes:
    """Return the boxes of hyperslabs; those of no element are left out."""
    sets = np.empty((selections.start.shape[1], 5, selections.rank.size), np.int64)
    start, stride, blocks, length, last = (sets[:, column] for column in range(5))
    start[:], stride[:] = selections.start.T, selections.stride.T
    blocks[:], length[:] = selections.count.T, selections.block.T
    something = np.logical_and.reduce((blocks > 0) & (length > 0), axis=0)
    in_one = (stride == length) | (blocks == 1)
    np.multiply(length, blocks, out=length, where=in_one)
    np.copyto(stride, 0, where=in_one)
    np.copyto(blocks, 1, where=in_one)
    last[:] = length
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


def plain_sets(starts: Ints, lengths: Ints) -> Ints:
    """Return sets (5, n) of one block each."""
    return np.stack((starts, np.zeros_like(starts), np.ones_like(starts), lengths, lengths))


def set_elements(sets: Ints) -> Ints:
    """Elements of sets (5, n)."""
    counted: Ints = (sets[BLOCKS] - 1) * sets[LENGTH] + sets[LAST]
    return counted


def set_ends(sets: Ints) -> Ints:
    """One past the last element of sets (5, n)."""
    ends: Ints = sets[START] + (sets[BLOCKS] - 1) * sets[STRIDE] + sets[LAST]
    return ends


def span_of(sets: Ints) -> tuple[int, int]:
    """First element and end of what sets (5, n) hold."""
    return int(sets[START].min()), int(set_ends(sets).max())


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
