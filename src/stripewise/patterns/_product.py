# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several boxes of one rank, cut in any way, that together are one box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stripewise.patterns._boxes import BLOCKS, LAST, LENGTH, START, STRIDE, Boxes, Ints, by_rank
from stripewise.patterns._merge import both, in_groups, one_each, regular, single_blocks

MOST_BLOCKS = 1 << 21

_Words = NDArray[np.uint64]


def as_product(boxes: Boxes) -> Boxes:
    """Replace the boxes of each rank by one, where they fill it and do not overlap.

    A rank's boxes lie in the product of what they select in each dimension.  They are equal to
    it if every sum over the elements is.
    """
    several = in_groups(boxes.rank)
    if boxes.n_dims < 2 or not several.any():
        return boxes
    chosen = boxes.take(several)
    unions = []
    for d in range(boxes.n_dims):
        union = _union(chosen, d)
        if union is None:
            return boxes
        unions.append(union)
    ranks = np.unique(chosen.rank)
    known = [np.isin(ranks, union.rank[~in_groups(union.rank)]) for union in unions]
    whole = ranks[np.logical_and.reduce(known)]
    if not whole.size:
        return boxes
    sets = np.concatenate([u.sets[:, :, np.isin(u.rank, whole)] for u in unions])
    first = np.searchsorted(chosen.rank, whole)
    joined = Boxes(whole, chosen.order[first], sets)
    parts = chosen.take(np.isin(chosen.rank, whole))
    begin = np.searchsorted(parts.rank, whole)
    filled = _sums(joined) == np.add.reduceat(_sums(parts), begin)
    joined = joined.take(filled)
    return both(boxes.take(~np.isin(boxes.rank, joined.rank)), joined)


def _union(boxes: Boxes, d: int) -> Boxes | None:
    """Return what each rank selects in one dimension, one-dimensional; None: too much."""
    if boxes.sets[d, BLOCKS].sum() > MOST_BLOCKS:
        return None
    line = single_blocks(Boxes(boxes.rank, boxes.order, boxes.sets[d : d + 1]), 0)
    line = line.take(np.lexsort((line.sets[0, START], line.rank)))
    before = line.rank.size + 1
    while line.rank.size < before:
        before = line.rank.size
        line = _overlapping(line)
    if one_each(line):
        return line
    return by_rank(regular(line, line.rank.astype(np.uint64), 0)[0])


def _overlapping(line: Boxes) -> Boxes:
    """Join blocks with the next one of the rank if that begins before they end."""
    start, end = line.sets[0, START], line.sets[0, START] + line.sets[0, LENGTH]
    goes_on = (line.rank[1:] == line.rank[:-1]) & (start[1:] <= end[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    ends = np.maximum.reduceat(end, first)
    joined = line.take(first)
    joined.sets[0, LENGTH] = joined.sets[0, LAST] = ends - start[first]
    return joined


def _sums(boxes: Boxes) -> _Words:
    """Sum over the elements of each box of a product of numbers, one per index; modulo 2^64."""
    total = np.ones(boxes.rank.size, np.uint64)
    seed = np.random.default_rng(0)
    for sets in boxes.sets:
        slope, level = seed.integers(1, 1 << 62, 2).astype(np.uint64)
        number, indices = _count_and_sum(sets)
        total *= slope * indices + level * number
    return total


def _count_and_sum(sets: Ints) -> tuple[_Words, _Words]:
    """How many indices sets (5, n) have, and their sum; modulo 2^64."""
    start, full = sets[START].astype(np.uint64), (sets[BLOCKS] - 1).astype(np.uint64)
    stride, length = sets[STRIDE].astype(np.uint64), sets[LENGTH].astype(np.uint64)
    last = sets[LAST].astype(np.uint64)
    number = full * length + last
    begins = full * start + stride * _below(full)
    indices = length * begins + full * _below(length)
    return number, indices + last * (start + full * stride) + _below(last)


def _below(n: _Words) -> _Words:
    """Sum of the numbers below n; modulo 2^64."""
    odd = n & np.uint64(1)
    half = n // np.uint64(2)
    found: _Words = np.where(odd == 1, n * half, half * (n - np.uint64(1)))
    return found
