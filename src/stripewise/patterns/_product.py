# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several boxes of one rank, cut in any way, that together are one box."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from stripewise.patterns._boxes import BLOCKS, LAST, LENGTH, START, STRIDE, Boxes
from stripewise.patterns._columns import Ints, Keys, alike, runs
from stripewise.patterns._merge import (
    MOST_BLOCKS,
    both,
    in_groups,
    regular,
    single_blocks,
)


def as_product(boxes: Boxes) -> Boxes:
    """Replace the boxes of each rank by one, where they fill it and do not overlap.

    A rank's boxes lie in the product of what they select in each dimension.  They are equal to
    it if every sum over the elements is.
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
    """Return what each rank selects in one dimension, one-dimensional."""
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
    """Sum over the elements of each box of a product of numbers, one per index; modulo 2^64."""
    total = np.ones(boxes.rank.size, np.uint64)
    seed = np.random.default_rng(0)
    for sets in boxes.sets:
        slope, level = seed.integers(1, 1 << 62, 2).astype(np.uint64)
        number, indices = _count_and_sum(sets)
        total *= slope * indices + level * number
    return total


def _count_and_sum(sets: Ints) -> tuple[Keys, Keys]:
    """How many indices sets (5, n) have, and their sum; modulo 2^64."""
    start, full = sets[START].astype(np.uint64), (sets[BLOCKS] - 1).astype(np.uint64)
    stride, length = sets[STRIDE].astype(np.uint64), sets[LENGTH].astype(np.uint64)
    last = sets[LAST].astype(np.uint64)
    number = full * length + last
    begins = full * start + stride * _below(full)
    indices = length * begins + full * _below(length)
    return number, indices + last * (start + full * stride) + _below(last)


def _below(n: Keys) -> Keys:
    """Sum of the numbers below n; modulo 2^64."""
    odd = n & np.uint64(1)
    half = n // np.uint64(2)
    found: Keys = np.where(odd == 1, n * half, half * (n - np.uint64(1)))
    return found
