# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents what each rank moves as boxes, and merges boxes of a rank that form one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import Selections, expanded_index

# Columns of numbers with one entry for each access: runs, repetitions, most common values.

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Columns:
    """Arrays with a common last axis: n accesses of all ranks."""

    def take(self, index: NDArray[np.generic]) -> Self:
        """Return a selection of the accesses, or all in another order."""
        return replace(self, **{name: column[..., index] for name, column in vars(self).items()})


Table = TypeVar("Table", bound=Columns)


def joined(*parts: Table) -> Table:
    """Return the concatenation of several tables."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in vars(parts[0])
    }
    return replace(parts[0], **columns)


def runs(goes_on: Flags) -> tuple[Ints, Ints]:
    """Return where each run of accesses begins, and how many accesses it contains.

    Args:
        goes_on: (n - 1,) whether each access except the first continues the run of the previous
            one.
    """
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    return first, np.diff(np.append(first, goes_on.size + 1))


def alike(column: Ints | Keys) -> Flags:
    """Return (n - 1,) whether each entry except the first equals the previous one."""
    same: Flags = column[1:] == column[:-1]
    return same


def mixed(*columns: Ints) -> Keys:
    """Return a number per place that differs if any of the columns (n,) differs.

    Only numbers from one call can be compared. They are 64 well-mixed bits: among 10^6 different
    columns two collide with a probability of 10^-8.
    """
    found = np.full(columns[0].size, 0x9E3779B97F4A7C15, np.uint64)
    for row in columns:
        if row.size and row[0] == row[-1] and (row == row[0]).all():
            continue  # a constant column distinguishes nothing
        found ^= row.view(np.uint64) if row.flags.c_contiguous else row.astype(np.uint64)
        found *= np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(29)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(32)
    return found


def without_equals(table: Table, key: Keys) -> Table:
    """Return the entries whose key no earlier entry has, in the same order."""
    if not alike(np.sort(key)).any():
        return table
    return table.take(np.sort(np.unique(key, return_index=True)[1]))


def most_common(values: Ints) -> int:
    """Return the most common value; the largest of equally common ones."""
    if (values == values[0]).all():  # fast path without sorting
        return int(values[0])
    kinds, counts = np.unique(values, return_counts=True)
    return int(kinds[np.flatnonzero(counts == counts.max())[-1]])


# Boxes: regions that ranks move, each the product of one regular index set per dimension.

START, STRIDE, BLOCKS, LENGTH, LAST = range(5)
"""Columns of a set: blocks of `LENGTH` elements, `STRIDE` apart (0 for one block), of which the
last one may be shorter (`LAST`).
"""


@dataclass(frozen=True, eq=False)
class Boxes(Columns):
    """Boxes of all ranks.

    Attributes:
        rank: (n,) int64, not decreasing.
        order: (n,) int64, place in the rank's own order.
        sets: (n_dims, 5, n) int64, index sets per dimension.
    """

    rank: Ints
    order: Ints
    sets: Ints

    @property
    def n_dims(self) -> int:
        """Number of dimensions."""
        return int(self.sets.shape[0])


def boxes_of(selections: Selections) -> Boxes:
    """Return the boxes of hyperslabs; empty ones are left out."""
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
    """Return the boxes ordered by rank and the rank's order."""
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
    """Return the number of elements of sets (5, n)."""
    counted: Ints = (sets[BLOCKS] - 1) * sets[LENGTH] + sets[LAST]
    return counted


def set_ends(sets: Ints) -> Ints:
    """Return the end (exclusive) of each of the sets (5, n)."""
    ends: Ints = sets[START] + (sets[BLOCKS] - 1) * sets[STRIDE] + sets[LAST]
    return ends


def span_of(sets: Ints) -> tuple[int, int]:
    """Return the first element and the end (exclusive) of all sets (5, n)."""
    return int(sets[START].min()), int(set_ends(sets).max())


def classes(sets: Ints) -> tuple[Ints, Ints]:
    """Return the distinct sets among (5, n), by start and end, and the index of each.

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


# Several accesses of one rank that together form one box: chunks, time steps, tails.

MOST_BLOCKS = 1 << 21
"""Maximum number of blocks for which interlocking boxes are joined."""


def one_each(boxes: Boxes) -> bool:
    """Return whether no rank has more than one box."""
    return bool((np.diff(boxes.rank) > 0).all())


def distinct(boxes: Boxes) -> Boxes:
    """Return the boxes without those that a rank moves again; the first ones remain."""
    if one_each(boxes):
        return boxes
    return without_equals(boxes, mixed(boxes.rank, *boxes.sets.reshape(-1, boxes.rank.size)))


def merge(boxes: Boxes) -> Boxes:
    """Join the boxes of each rank along each dimension, as long as that reduces their number."""
    before = boxes.rank.size + 1
    while boxes.rank.size < before and not one_each(boxes):
        before = boxes.rank.size
        for d in reversed(range(boxes.n_dims)):
            boxes = _join(boxes, d)
    return boxes


def _join(boxes: Boxes, d: int) -> Boxes:
    """Join boxes that are equal in all dimensions except `d`."""
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
        boxes = _join_interlocking(boxes, like, several, d)
    return boxes


def _ordered(boxes: Boxes, like: Keys, d: int) -> tuple[Boxes, Keys]:
    """Order boxes by rank, then equal ones together, then by their start in dimension `d`."""
    same, start = alike(like), boxes.sets[d, START]
    if (same == alike(boxes.rank)).all() and (~same | (np.diff(start) >= 0)).all():
        return boxes, like
    order = np.lexsort((start, like, boxes.rank))
    return boxes.take(order), like[order]


def in_groups(like: Keys | Ints) -> Flags:
    """Return which entries have an equal neighbour."""
    same = alike(like)
    several: Flags = np.append(same, False) | np.append(False, same)
    return several


def _join_interlocking(boxes: Boxes, like: Keys, several: Flags, d: int) -> Boxes:
    """Join interlocking boxes block by block; leave them unchanged if they do not form one box."""
    chosen = boxes.take(several)
    key = np.repeat(like[several], chosen.sets[d, BLOCKS])
    blocks = single_blocks(chosen, d)
    order = np.lexsort((blocks.sets[d, START], key))
    blocks, group = regular(*_touching(blocks.take(order), key[order], d), d)
    alone = ~in_groups(group)
    settled = np.isin(like, group[alone])
    return both(boxes.take(~settled), blocks.take(alone))


def single_blocks(boxes: Boxes, d: int) -> Boxes:
    """Split boxes into the blocks that they have in dimension `d`."""
    count = boxes.sets[d, BLOCKS]
    index, number = expanded_index(count)
    blocks = boxes.take(index)
    sets = blocks.sets[d]
    sets[START] += number * sets[STRIDE]
    sets[LENGTH] = np.where(number == count[index] - 1, sets[LAST], sets[LENGTH])
    sets[LAST], sets[STRIDE], sets[BLOCKS] = sets[LENGTH], 0, 1
    return blocks


def both(one: Boxes, other: Boxes) -> Boxes:
    """Return the boxes of both, ordered by rank."""
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
    """Join blocks at a regular distance; the last one may be shorter."""
    goes_on = alike(like)
    if not goes_on.any():
        return boxes, like
    first, number = runs(goes_on)
    last = first + number - 1
    group = np.repeat(np.arange(first.size), number)
    fits, stride = _equal_steps(boxes.sets[d], group, first, last)
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


def _equal_steps(sets: Ints, group: Ints, first: Ints, last: Ints) -> tuple[Flags, Ints]:
    """Return whether the blocks of each group have equal steps, and the step."""
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


# Several boxes of one rank, cut in any way, that together form one box.


def as_product(boxes: Boxes) -> Boxes:
    """Replace the boxes of each rank by one, if they fill it and do not overlap.

    The boxes of a rank are inside the product of their selections in each dimension. They are
    equal to it if sums of any function over the elements are equal.
    """
    several = in_groups(boxes.rank)
    if boxes.n_dims < 2 or not several.any():
        return boxes
    chosen = boxes.take(several)
    if chosen.sets[:, BLOCKS].sum(axis=1).max() > MOST_BLOCKS:
        return boxes
    unions = [_union(chosen, d) for d in range(boxes.n_dims)]
    once = [union.rank[~in_groups(union.rank)] for union in unions]
    whole = reduce(np.intersect1d, once)
    if not whole.size:
        return boxes
    parts = chosen.take(np.isin(chosen.rank, whole))
    first, _ = runs(alike(parts.rank))
    sets = np.concatenate([u.sets[:, :, np.isin(u.rank, whole)] for u in unions])
    product = Boxes(whole, parts.order[first], sets)
    filled = _sums(product) == np.add.reduceat(_sums(parts), first)
    product = product.take(filled)
    return both(boxes.take(~np.isin(boxes.rank, product.rank)), product)


def _union(boxes: Boxes, d: int) -> Boxes:
    """Return what each rank selects in one dimension, as one-dimensional boxes."""
    line = single_blocks(replace(boxes, sets=boxes.sets[d : d + 1]), 0)
    line = line.take(np.lexsort((line.sets[0, START], line.rank)))
    before = line.rank.size + 1
    while line.rank.size < before:
        before = line.rank.size
        line = _overlapping(line)
    return regular(line, line.rank.astype(np.uint64), 0)[0]


def _overlapping(line: Boxes) -> Boxes:
    """Join blocks with the next one of the rank if that begins before they end."""
    start, end = line.sets[0, START], line.sets[0, START] + line.sets[0, LENGTH]
    first, _ = runs(alike(line.rank) & (start[1:] <= end[:-1]))
    ends = np.maximum.reduceat(end, first)
    line = line.take(first)
    line.sets[0, LENGTH] = line.sets[0, LAST] = ends - start[first]
    return line


def _sums(boxes: Boxes) -> Keys:
    """Sum, over the elements of each box, a product of numbers, one per index; modulo 2^64."""
    total = np.ones(boxes.rank.size, np.uint64)
    seed = np.random.default_rng(0)
    for sets in boxes.sets:
        slope, level = seed.integers(1, 1 << 62, 2).astype(np.uint64)
        number, indices = _count_and_sum(sets)
        total *= slope * indices + level * number
    return total


def _count_and_sum(sets: Ints) -> tuple[Keys, Keys]:
    """Return the number of indices in sets (5, n), and their sum; modulo 2^64."""
    start, full = sets[START].astype(np.uint64), (sets[BLOCKS] - 1).astype(np.uint64)
    stride, length = sets[STRIDE].astype(np.uint64), sets[LENGTH].astype(np.uint64)
    last = sets[LAST].astype(np.uint64)
    number = full * length + last
    begins = full * start + stride * _below(full)
    indices = length * begins + full * _below(length)
    return number, indices + last * (start + full * stride) + _below(last)


def _below(n: Keys) -> Keys:
    """Return the sum of the numbers below n; modulo 2^64."""
    odd = n & np.uint64(1)
    half = n // np.uint64(2)
    found: Keys = np.where(odd == 1, n * half, half * (n - np.uint64(1)))
    return found
