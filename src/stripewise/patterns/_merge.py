# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several accesses of one rank that together are one box: chunks, time steps, tails."""

from __future__ import annotations

import numpy as np

from stripewise._folded import expanded_index
from stripewise.patterns._boxes import BLOCKS, LAST, LENGTH, START, STRIDE, Boxes
from stripewise.patterns._columns import (
    Flags,
    Ints,
    Keys,
    alike,
    joined,
    mixed,
    runs,
    without_equals,
)

MOST_BLOCKS = 1 << 21
"""Blocks up to which boxes that interlock are joined."""


def one_each(boxes: Boxes) -> bool:
    """Whether no rank has more than one box."""
    return bool((np.diff(boxes.rank) > 0).all())


def distinct(boxes: Boxes) -> Boxes:
    """Return the boxes without those that a rank moves again; the first ones stay."""
    if one_each(boxes):
        return boxes
    return without_equals(boxes, mixed(boxes.rank, *boxes.sets.reshape(-1, boxes.rank.size)))


def merge(boxes: Boxes) -> Boxes:
    """Join the boxes of each rank along each dimension, as long as that makes them fewer."""
    before = boxes.rank.size + 1
    while boxes.rank.size < before and not one_each(boxes):
        before = boxes.rank.size
        for d in reversed(range(boxes.n_dims)):
            boxes = _join(boxes, d)
    return boxes


def _join(boxes: Boxes, d: int) -> Boxes:
    """Join boxes that are alike in all dimensions but `d`."""
    if one_each(boxes):
        return boxes
    others = [column for e in range(boxes.n_dims) if e != d for column in boxes.sets[e]]
    like = mixed(boxes.rank, *others)
    if not alike(np.sort(like)).any():
        return boxes
    boxes, like = _ordered(boxes, like, d)
    boxes, like = regular(*_touching(boxes, like, d), d)
    several = in_groups(like)
    blocks = boxes.sets[d, BLOCKS]
    if several.any() and blocks[several].max() > 1 and blocks[several].sum() <= MOST_BLOCKS:
        boxes = _apart(boxes, like, several, d)
    return boxes


def _ordered(boxes: Boxes, like: Keys, d: int) -> tuple[Boxes, Keys]:
    """Order boxes by rank, those which are alike together, by their start in dimension `d`."""
    same, start = alike(like), boxes.sets[d, START]
    if (same == alike(boxes.rank)).all() and (~same | (np.diff(start) >= 0)).all():
        return boxes, like
    order = np.lexsort((start, like, boxes.rank))
    return boxes.take(order), like[order]


def in_groups(like: Keys | Ints) -> Flags:
    """Which ones have a neighbour that is alike."""
    same = alike(like)
    several: Flags = np.append(same, False) | np.append(False, same)
    return several


def _apart(boxes: Boxes, like: Keys, several: Flags, d: int) -> Boxes:
    """Join those that interlock, block by block; where that is not one box, leave them."""
    chosen = boxes.take(several)
    key = np.repeat(like[several], chosen.sets[d, BLOCKS])
    blocks = single_blocks(chosen, d)
    order = np.lexsort((blocks.sets[d, START], key))
    blocks, group = regular(*_touching(blocks.take(order), key[order], d), d)
    alone = ~in_groups(group)
    settled = np.isin(like, group[alone])
    return both(boxes.take(~settled), blocks.take(alone))


def single_blocks(boxes: Boxes, d: int) -> Boxes:
    """Write out the blocks that boxes have in dimension `d`."""
    count = boxes.sets[d, BLOCKS]
    index, number = expanded_index(count)
    blocks = boxes.take(index)
    sets = blocks.sets[d]
    sets[START] += number * sets[STRIDE]
    sets[LENGTH] = np.where(number == count[index] - 1, sets[LAST], sets[LENGTH])
    sets[LAST], sets[STRIDE], sets[BLOCKS] = sets[LENGTH], 0, 1
    return blocks


def both(one: Boxes, other: Boxes) -> Boxes:
    """Return the boxes of two, ordered by rank."""
    boxes = joined(one, other)
    return boxes.take(np.argsort(boxes.rank, kind="stable"))


def _touching(boxes: Boxes, like: Keys, d: int) -> tuple[Boxes, Keys]:
    """Join blocks that end where the next one begins."""
    sets = boxes.sets[d]
    ends = sets[START] + sets[LENGTH]
    plain = sets[BLOCKS] == 1
    goes_on = alike(like) & plain[1:] & plain[:-1] & (ends[:-1] == sets[START, 1:])
    if not goes_on.any():
        return boxes, like
    first, number = runs(goes_on)
    last = first + number - 1
    length = np.where(plain[first], ends[last] - sets[START, first], sets[LENGTH, first])
    boxes = boxes.take(first)
    boxes.sets[d, LAST] = np.where(plain[first], length, boxes.sets[d, LAST])
    boxes.sets[d, LENGTH] = length
    return boxes, like[first]


def regular(boxes: Boxes, like: Keys, d: int) -> tuple[Boxes, Keys]:
    """Join blocks at a regular distance, of which the very last may be shorter."""
    goes_on = alike(like)
    if not goes_on.any():
        return boxes, like
    first, number = runs(goes_on)
    last = first + number - 1
    group = np.repeat(np.arange(first.size), number)
    fits, stride = _in_step(boxes.sets[d], group, first, last)
    blocks = np.add.reduceat(boxes.sets[d, BLOCKS], first)
    tail = boxes.sets[d, LAST, last]
    keep = ~fits[group]
    keep[first] = True
    changed = boxes.sets.copy()
    several = fits & (last > first)
    where = first[several]
    changed[d, STRIDE, where] = stride[several]
    changed[d, BLOCKS, where] = blocks[several]
    changed[d, LAST, where] = tail[several]
    return Boxes(boxes.rank, boxes.order, changed).take(keep), like[keep]


def _in_step(sets: Ints, group: Ints, first: Ints, last: Ints) -> tuple[Flags, Ints]:
    """Return per group whether its blocks go on in equal steps, and by how much."""
    after = np.minimum(first + 1, sets.shape[1] - 1)
    stride = np.where(
        sets[BLOCKS, first] > 1, sets[STRIDE, first], sets[START, after] - sets[START, first]
    )
    step, length = stride[group], sets[LENGTH, first][group]
    single = sets[BLOCKS] == 1
    at_end = np.zeros(group.size, bool)
    at_end[last] = True
    fits = (single | (sets[STRIDE] == step)) & (step > length)
    fits &= (sets[LENGTH] == length) | (at_end & single & (sets[LENGTH] < length))
    fits &= at_end | (sets[LAST] == sets[LENGTH])
    goes_on = sets[START, :-1] + sets[BLOCKS, :-1] * step[:-1] == sets[START, 1:]
    fits[:-1] &= at_end[:-1] | goes_on
    return np.logical_and.reduceat(fits, first), stride
