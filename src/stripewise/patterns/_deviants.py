# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pattern that all ranks but a few have: what it is, and who those few are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stripewise.model import BlockRule, Distribution
from stripewise.patterns._boxes import (
    BLOCKS,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    Ints,
    classes,
    most_common,
    set_elements,
    set_ends,
)
from stripewise.patterns._dimension import Named, cyclic_parts, name_dimension
from stripewise.patterns._grid import Grid, order_of, places
from stripewise.patterns._name import Finding, put_together
from stripewise.patterns._rules import cut

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
    ranks, first, counts = np.unique(boxes.rank, return_index=True, return_counts=True)
    most = most_ranks(ranks.size)
    plain = counts == 1
    if not most or (~plain).sum() > most:
        return None
    single = boxes.take(first[plain])
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
    for named, found in _tries(sets, n_ranks, extent):
        if (found == _OUTSIDE).sum() <= most:
            return named, found
    return None


def _tries(sets: Ints, n_ranks: int, extent: int) -> Iterator[_Guess]:
    """Guess, where each rank has a part of its own."""
    ends = set_ends(sets)
    if (sets[BLOCKS] == 1).mean() > 0.5:
        yield _equal(sets)
        known = extent or int(ends.max())
        for rule in (BlockRule.EVEN, BlockRule.EVEN_LAST, BlockRule.SPREAD, BlockRule.REST_LAST):
            for n_parts in dict.fromkeys((n_ranks, sets.shape[1])):
                low = known // n_parts
                near = (sets[LENGTH] >= low) & (sets[LENGTH] <= low + 1)
                if low and near.mean() > 0.5:
                    yield _by_rule(sets, rule, known, n_parts)
    else:
        width, stride = most_common(sets[LENGTH]), most_common(sets[STRIDE])
        if width and stride % width == 0:
            for end in dict.fromkeys((extent or int(ends.max()), int(ends.max()))):
                yield _round_robin(sets, width, stride // width, end)


def _equal(sets: Ints) -> _Guess:
    """Equal blocks next to each other; the last one may be shorter."""
    length = most_common(sets[LENGTH])
    shift = most_common(sets[START] % length)
    cell = (sets[START] - shift) // length
    fits = (sets[BLOCKS] == 1) & ((sets[START] - shift) % length == 0)
    full = fits & (sets[LENGTH] == length)
    low, high = (int(cell[full].min()), int(cell[full].max())) if full.any() else (0, 0)
    short = fits & (sets[LENGTH] < length) & (cell == high + 1)
    fits = full | short
    parts = high + 1 - low + bool(short.any())
    end = int(set_ends(sets)[fits].max()) if fits.any() else length
    rule = _short_rule(length, end - low * length - shift, parts) if short.any() else ("", ())
    distribution = Distribution("BLOCK", rule=rule[0], lengths=rule[1])
    named = Named(distribution, (low * length + shift, end), parts, length, bool(rule[0]))
    return named, np.where(fits, cell - low, _OUTSIDE)


def _short_rule(length: int, total: int, parts: int) -> tuple[str, tuple[int, ...]]:
    if -(-total // parts) == length:
        return BlockRule.CEIL, ()
    return BlockRule.FIXED, (length,)


def _by_rule(sets: Ints, rule: str, extent: int, n_parts: int) -> _Guess:
    cuts = cut(rule, extent, n_parts)
    lengths = np.diff(cuts)
    part = np.clip(np.searchsorted(cuts, sets[START], "right") - 1, 0, n_parts - 1)
    fits = (cuts[part] == sets[START]) & (lengths[part] == sets[LENGTH]) & (sets[BLOCKS] == 1)
    distribution = Distribution("BLOCK", rule=rule)
    named = Named(distribution, (0, extent), n_parts, most_common(lengths), True)
    return named, np.where(fits, part, _OUTSIDE)


def _round_robin(sets: Ints, width: int, n_parts: int, extent: int) -> _Guess:
    table = cyclic_parts(extent, n_parts, width)
    part = np.clip(sets[START] // width, 0, n_parts - 1)
    fits = (table[:, part] == sets).all(axis=0)
    uneven = bool(extent % (width * n_parts))
    distribution = Distribution("CYCLIC", width)
    block = most_common(set_elements(table))
    return Named(distribution, (0, extent), n_parts, block, uneven), np.where(fits, part, _OUTSIDE)


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
    odd = ~_member(ranks, boxes.rank[inside][expected])
    missing = _missing(lie, parts, ranks)
    deviating = np.sort(np.concatenate((ranks[odd], missing)))
    if not 0 < deviating.size <= most + (n_places - ranks.size if n_places > ranks.size else 0):
        return None
    finding = put_together(found, lie, ranks.size)
    named = tuple(deviating[:MOST_NAMED].tolist())
    return replace(finding, deviating_ranks=named, n_deviating=int(deviating.size))


def _lie(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int], most: int
) -> tuple[Grid | None, NDArray[np.bool_]]:
    """Return how most ranks lie in the grid, and which ones do."""
    for strides in (_strides(parts), _strides(parts[::-1])[::-1]):
        shift = rank - sum(c * s for c, s in zip(coordinates, strides, strict=True))
        first = most_common(shift)
        as_expected = shift == first
        if (~as_expected).sum() <= most:
            return Grid(1, order_of(strides, parts), first, strides), as_expected
    place = places(coordinates, parts)
    alone = np.bincount(place, minlength=math.prod(parts))[place] == 1
    if (~alone).sum() > 2 * most:
        return None, alone
    return Grid(1, "other", int(rank[0])), alone


def _strides(parts: Sequence[int]) -> tuple[int, ...]:
    """Return the rank's growth per dimension, the last one fastest."""
    strides = [math.prod(parts[d + 1 :]) if n > 1 else 0 for d, n in enumerate(parts)]
    return tuple(strides)


def _missing(lie: Grid, parts: Sequence[int], ranks: Ints) -> Ints:
    """Return the ranks that have a place in the grid and move nothing."""
    if not lie.strides:
        return np.zeros(0, np.int64)
    there = np.zeros(math.prod(parts), bool)
    place = ranks - lie.first_rank
    there[place[(place >= 0) & (place < there.size)]] = True
    return np.flatnonzero(~there) + lie.first_rank


def _member(values: Ints, known: Ints) -> NDArray[np.bool_]:
    """Whether each value is among those known, which ascend."""
    place = np.minimum(np.searchsorted(known, values), known.size - 1)
    found: NDArray[np.bool_] = known[place] == values
    return found
