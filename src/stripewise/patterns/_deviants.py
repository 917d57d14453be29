# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pattern that all ranks but a few have: what it is, and who those few are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stripewise.model import BlockRule, Distribution
from stripewise.patterns._boxes import (
    BLOCKS,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    classes,
    set_ends,
)
from stripewise.patterns._columns import Flags, Ints, alike, most_common, runs
from stripewise.patterns._dimension import Named, name_dimension
from stripewise.patterns._grid import Grid, c_strides, linear, order_of
from stripewise.patterns._name import Finding, put_together
from stripewise.patterns._parts import sets_of

FEWEST_RANKS = 8
MOST_NAMED = 16

_OUTSIDE = -1
_Guess = tuple[Named, Ints]


def most_ranks(n_ranks: int) -> int:
    """Return how many of so many ranks may deviate: one, or 1 %."""
    return max(1, n_ranks // 100) if n_ranks >= FEWEST_RANKS else 0


def name_most(boxes: Boxes, n_ranks: int, extents: Sequence[int]) -> Finding | None:
    """Name what all ranks do but at most 1 % (or one, of at least 8 ranks).

    Args:
        boxes: Of all ranks, ordered by rank.
        n_ranks: Ranks of the run.
        extents: Of the dataset; 0: not known.
    """
    first, counts = runs(alike(boxes.rank))
    ranks = boxes.rank[first]
    most = most_ranks(ranks.size)
    plain = counts == 1
    if not most or (~plain).sum() > most:
        return None
    single = boxes if plain.all() else boxes.take(first[plain])
    guesses: list[_Guess] = []
    for sets, extent in zip(single.sets, extents, strict=True):
        guess = _guess(sets, n_ranks, extent, most)
        if guess is None:
            return None
        guesses.append(guess)
    return _judge(single, ranks, guesses, most)


def _guess(sets: Ints, n_ranks: int, extent: int, most: int) -> _Guess | None:
    """Name a dimension by what nearly all ranks have in it; which part each rank has, or -1."""
    table, part = classes(sets)
    frequency = np.bincount(part)
    usual = frequency * 2 > np.median(frequency)
    if frequency[~usual].sum() <= most:
        named = name_dimension(table[:, usual])
        if named is not None:
            position = np.where(usual, np.cumsum(usual) - 1, _OUTSIDE)
            return named, position[part]
    if np.median(frequency) > 2:
        return None
    for distribution, span, n_parts in _tries(sets, n_ranks, extent):
        if n_parts > sets.shape[1] + 2 * most:
            continue  # more than may be missing
        table = sets_of(distribution, span, n_parts)
        part = np.clip(np.searchsorted(table[START], sets[START], "right") - 1, 0, n_parts - 1)
        fits = (table.take(part, axis=1) == sets).all(axis=0)
        if (~fits).sum() <= most:
            return Named.of(distribution, table), np.where(fits, part, _OUTSIDE)
    return None


def _tries(
    sets: Ints, n_ranks: int, extent: int
) -> Iterator[tuple[Distribution, tuple[int, int], int]]:
    """Guess distribution, span and parts, where each rank has a part of its own."""
    known = extent or int(set_ends(sets).max())
    if (sets[BLOCKS] == 1).mean() > 0.5:
        yield from _equal(sets)
        for rule in (BlockRule.EVEN, BlockRule.EVEN_LAST, BlockRule.SPREAD, BlockRule.REST_LAST):
            for n_parts in dict.fromkeys((n_ranks, sets.shape[1])):
                low = known // n_parts
                near = (sets[LENGTH] >= low) & (sets[LENGTH] <= low + 1)
                if low and near.mean() > 0.5:
                    yield Distribution("BLOCK", rule=rule), (0, known), n_parts
    else:
        width, stride = most_common(sets[LENGTH]), most_common(sets[STRIDE])
        if stride and stride % width == 0:
            for end in dict.fromkeys((known, int(set_ends(sets).max()))):
                yield Distribution("CYCLIC", width), (0, end), stride // width


def _equal(sets: Ints) -> Iterator[tuple[Distribution, tuple[int, int], int]]:
    """Guess equal blocks next to each other; the last one may be shorter."""
    length = most_common(sets[LENGTH])
    shift = most_common(sets[START] % length)
    cell = (sets[START] - shift) // length
    fits = (sets[BLOCKS] == 1) & ((sets[START] - shift) % length == 0)
    full = fits & (sets[LENGTH] == length)
    if not full.any():
        return
    first, end = int(cell[full].min()), int(cell[full].max()) + 1
    short = fits & (sets[LENGTH] < length) & (cell == end)
    n_elements, n_parts = (end - first) * length, end - first
    distribution = Distribution("BLOCK")
    if short.any():
        n_elements, n_parts = n_elements + int(sets[LENGTH, short].max()), n_parts + 1
        distribution = Distribution("BLOCK", rule=BlockRule.FIXED, lengths=(length,))
        if -(-n_elements // n_parts) == length:
            distribution = Distribution("BLOCK", rule=BlockRule.CEIL)
    begin = first * length + shift
    yield distribution, (begin, begin + n_elements), n_parts


def _judge(boxes: Boxes, ranks: Ints, guesses: Sequence[_Guess], most: int) -> Finding | None:
    """Put the dimensions together and find out who deviates."""
    found = [named for named, _ in guesses]
    parts = [named.parts for named in found]
    coordinates = [part for _, part in guesses]
    inside = np.logical_and.reduce([part != _OUTSIDE for part in coordinates])
    n_places = math.prod(parts)
    if n_places < 2 or abs(n_places - ranks.size) > most or not inside.any():
        return None
    lie, expected = _lie(boxes.rank[inside], [part[inside] for part in coordinates], parts, most)
    if lie is None or not expected.any():
        return None
    deviating = np.setdiff1d(ranks, boxes.rank[inside][expected], assume_unique=True)
    if lie.strides:  # those that have a place in the grid and move nothing
        in_grid = lie.first_rank + np.arange(n_places)
        deviating = np.union1d(deviating, np.setdiff1d(in_grid, ranks, assume_unique=True))
    if not 0 < deviating.size <= most + max(n_places - ranks.size, 0):
        return None
    finding = put_together(found, lie, ranks.size)
    named = tuple(deviating[:MOST_NAMED].tolist())
    return replace(finding, deviating_ranks=named, n_deviating=int(deviating.size))


def _lie(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int], most: int
) -> tuple[Grid | None, Flags]:
    """Return how most ranks lie in the grid, and which ones do."""
    for strides in (c_strides(parts), c_strides(parts[::-1])[::-1]):
        shift = rank - linear(coordinates, strides)
        first = most_common(shift)
        as_expected = shift == first
        if (~as_expected).sum() <= most:
            return Grid(1, order_of(strides, parts), first, strides), as_expected
    place = linear(coordinates, c_strides(parts))
    alone = np.bincount(place, minlength=math.prod(parts))[place] == 1
    if (~alone).sum() > 2 * most:
        return None, alone
    return Grid(1, "other", int(rank[0])), alone
