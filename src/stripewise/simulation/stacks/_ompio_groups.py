# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What groups of successive ranks have together, which one aggregator of OMPIO moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stripewise.model import Distribution, Pattern, PatternKind
from stripewise.patterns import sets_of
from stripewise.simulation.stacks._aggregators import first_of_groups
from stripewise.simulation.stacks._geometry import strides_of

MOST_GROUPS = 32
"""Groups that are looked at; of more, as many spread evenly over all."""

Box = tuple[tuple[int, int], ...]
"""First coordinate and end in each dimension of the grid of processes."""


class Joint(NamedTuple):
    """What several processes move of an array, or of one of its rows.

    Attributes:
        runs: Contiguous ranges.
        size: Elements.
        low / high: The first element, and the last one.
    """

    runs: int
    size: int
    low: int
    high: int


class _Rows(NamedTuple):
    """Rows `begin` to `end`, each with the same elements moved."""

    begin: int
    end: int
    row: Joint


@lru_cache(maxsize=256)
def joint_sets(pattern: Pattern, ranks: int, groups: int) -> tuple[tuple[int, Joint], ...]:
    """Return the first rank of each group that is looked at, and what the group moves.

    Groups that move nothing are left out.

    Args:
        pattern: Of all ranks, whose parts do not overlap.
        ranks: Of the job.
        groups: Of successive ranks; the first ones have a rank more.
    """
    leaders = np.append(first_of_groups(ranks, groups), ranks)
    chosen = np.unique(np.linspace(0, groups - 1, min(groups, MOST_GROUPS)).astype(np.int64))
    strides = strides_of(pattern)
    order = sorted(range(len(strides)), key=lambda d: -abs(strides[d]))
    step = min((abs(stride) for stride in strides if stride), default=1)
    places = np.clip(-(-(leaders - pattern.first_rank) // step), 0, math.prod(pattern.grid))
    found = []
    for group in chosen.tolist():
        first, end = places[group : group + 2].tolist()
        turned = _boxes(first, end, [pattern.grid[d] for d in order])
        boxes = [tuple(box[order.index(d)] for d in range(len(order))) for box in turned]
        found.append((int(leaders[group]), _joint(boxes, pattern)))
    return tuple((leader, one) for leader, one in found if one.size)


def are_joined(pattern: Pattern) -> bool:
    """Tell whether the parts of ranks are beside each other, so that groups have them as one."""
    apart = pattern.kind == PatternKind.MULTIPARTITION
    copies = pattern.active_ranks > math.prod(pattern.grid)
    return not apart and not copies and not any(any(how.ghost) for how in pattern.distributions)


def _boxes(first: int, end: int, grid: Sequence[int]) -> list[Box]:
    """Return the places `first` to `end` of a grid, the last dimension fastest, as boxes."""
    if first >= end:
        return []
    if not grid:
        return [()]
    inner = math.prod(grid[1:])
    low, high = -(-first // inner), end // inner
    if low > high:
        rest = _boxes(first - high * inner, end - high * inner, grid[1:])
        return [((high, low), *box) for box in rest]
    before = _boxes(first - (low - 1) * inner, inner, grid[1:]) if first < low * inner else []
    after = _boxes(0, end - high * inner, grid[1:])
    found: list[Box] = [((low - 1, low), *box) for box in before]
    if low < high:
        found.append(((low, high), *((0, n) for n in grid[1:])))
    return found + [((high, high + 1), *box) for box in after]


def _joint(boxes: Sequence[Box], pattern: Pattern) -> Joint:
    """Return what the processes in some boxes, which do not overlap, have together."""
    if not boxes or not boxes[0]:
        return Joint(len(boxes), len(boxes), 0, 0)
    d = len(pattern.grid) - len(boxes[0])
    slabs = []
    for low, high in itertools.pairwise(sorted({edge for box in boxes for edge in box[0]})):
        inside = [box[1:] for box in boxes if box[0][0] <= low and high <= box[0][1]]
        row = _joint(inside, pattern)
        if row.size:
            slabs.append(_Rows(low, high, row))
    how, span, pitch = (
        pattern.distributions[d],
        pattern.spans[d],
        math.prod(pattern.sizes[d + 1 :]),
    )
    if how.kind == "CYCLIC":
        return _in_turn(slabs, how.width or 1, span, pattern.grid[d], pitch)
    starts = _starts(how, span, pattern.grid[d])
    if how.lattice:
        return _latticed(slabs, how.lattice, starts, pitch)
    return _stacked([_Rows(starts[lo], starts[hi], row) for lo, hi, row in slabs], pitch)


@lru_cache(maxsize=256)
def _starts(how: Distribution, span: tuple[int, int], n_parts: int) -> tuple[int, ...]:
    """Return where the parts of a dimension begin and, last, end."""
    return (*sets_of(how, span, n_parts)[0].tolist(), span[1])


def _stacked(rows: Sequence[_Rows], pitch: int) -> Joint:
    """Return rows one after another; the end of one and the begin of the next may touch.

    Args:
        rows: In the order of the file.
        pitch: Elements of a row.
    """
    rows = [one for one in rows if one.end > one.begin]
    if not rows:
        return Joint(0, 0, 0, 0)
    runs = size = 0
    reach = -1  # row that the last range touches
    for begin, end, row in rows:
        touches = row.high == pitch - 1
        runs += (end - begin) * row.runs - (end - begin - 1) * (touches and row.low == 0)
        runs -= reach == begin and row.low == 0
        size += (end - begin) * row.size
        reach = end if touches else -1
    first, last = rows[0], rows[-1]
    low, high = first.begin * pitch + first.row.low, (last.end - 1) * pitch + last.row.high
    return Joint(runs, size, low, high)


def _in_turn(
    slabs: Sequence[_Rows], width: int, span: tuple[int, int], n_parts: int, pitch: int
) -> Joint:
    """Return rows that parts have in turn: all turns between the first and the last are alike."""
    first, end = span
    turn = width * n_parts

    def turns(*numbers: int) -> Joint:
        places = ((first + number * turn, slab) for number in numbers for slab in slabs)
        return _stacked([
            _Rows(min(at + width * lo, end), min(at + width * hi, end), row)
            for at, (lo, hi, row) in places
        ], pitch)  # fmt: skip

    whole = (end - first) // turn
    one, last = turns(0), turns(max(whole - 1, 0), whole)
    if whole <= 1:
        return last if whole else one
    two = turns(0, 1)
    runs, size = (
        last_ + (whole - 1) * (two_ - one_)
        for one_, two_, last_ in zip(one[:2], two[:2], last[:2], strict=True)
    )
    return Joint(runs, size, one.low, last.high)


def _latticed(
    slabs: Sequence[_Rows], lattice: tuple[int, ...], starts: Sequence[int], pitch: int
) -> Joint:
    """Return the rows of parts that move only some of their rows."""
    stride, length = lattice
    blocks = [
        ((starts[hi] - starts[lo] + stride - 1) // stride, starts[lo], row)
        for lo, hi, row in slabs
        if starts[hi] > starts[lo]
    ]
    if not blocks:
        return Joint(0, 0, 0, 0)
    each = [(number, _stacked([_Rows(0, length, row)], pitch)) for number, _, row in blocks]
    number, at, row = blocks[-1]
    last = at + (number - 1) * stride + length - 1
    return Joint(
        sum(n * one.runs for n, one in each), sum(n * one.size for n, one in each),
        blocks[0][1] * pitch + blocks[0][2].low, last * pitch + row.high,
    )  # fmt: skip
