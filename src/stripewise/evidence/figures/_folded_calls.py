# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes figures of folded calls without expanding them: sizes, gaps, overlaps, order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import expanded_index, levels_of, moved

MOST_CALLS = 1_000_000

_Ints = NDArray[np.int64]


@dataclass
class ExpansionBudget:
    """Number of calls that may still be expanded if a figure cannot be computed otherwise."""

    left: float = MOST_CALLS

    def take(self, n_calls: _Ints) -> bool:
        """Return whether the sum of these (n,) numbers fits, and if so subtract it."""
        total = float(n_calls.sum(dtype=np.float64))  # int64 is too short for damaged counts
        if total > self.left:
            return False
        self.left -= total
        return True


@dataclass(frozen=True, eq=False)
class Boxes:
    """Runs split into complete boxes of `n[0]` x `n[1]` x `n[2]` calls, in order of call.

    Attributes:
        row: (m,) row in the split table.
        process / thread / offset / bytes / sequence: (m,) values of the first call.
        n: (m, 3) calls per row, rows per plane, planes.
        stride / step: (m, 3) strides of the offset and of the sequence at each level.
    """

    row: _Ints
    process: _Ints
    thread: _Ints
    offset: _Ints
    bytes: _Ints
    sequence: _Ints
    n: _Ints
    stride: _Ints
    step: _Ints

    @cached_property
    def calls(self) -> _Ints:
        """Number of calls in each box: (m,)."""
        return np.asarray(self.n.prod(axis=1))

    def expanded(self, chosen: NDArray[np.bool_]) -> tuple[_Ints, _Ints, _Ints]:
        """Return (n,) box, offset and sequence of each call of some boxes, not in order."""
        places = np.flatnonzero(chosen)
        box, k = expanded_index(self.calls[places])
        box = places[box]
        levels = levels_of(k, self.n[box, :2])
        offset = self.offset[box] + moved(levels, self.stride[box])
        return box, offset, self.sequence[box] + moved(levels, self.step[box])


def boxes_of(rows: NDArray[Any]) -> Boxes:
    """Split (n,) `TRACE_ROW` into full planes, remaining full rows and remaining calls."""
    count, inner = rows["count"], rows["inner"]
    width = np.where(inner[:, 0] > 0, np.minimum(inner[:, 0], count), count)
    lines = count // width
    height = np.where(inner[:, 1] > 0, inner[:, 1], lines + 1)
    planes, rest = lines // height, lines % height
    none, one = np.zeros_like(count), np.ones_like(count)
    parts = (
        ((none, none, none), (width, height, planes)),
        ((none, none, planes), (width, rest, one)),
        ((none, rest, planes), (count % width, one, one)),
    )
    begin = np.concatenate([np.stack(levels, axis=1) for levels, _ in parts])
    n = np.concatenate([np.stack(sizes, axis=1) for _, sizes in parts])
    some = n.all(axis=1)
    row, begin, n = np.tile(np.arange(len(rows)), 3)[some], begin[some], n[some]
    stride, step = rows["stride"][row], rows["sequence_stride"][row]
    sequence = rows["sequence"][row] + moved(begin, step)
    offset = rows["offset"][row] + moved(begin, stride)
    process, thread = rows["process"][row], rows["thread"][row]
    found = (row, process, thread, offset, rows["bytes"][row], sequence, n, stride, step)
    order = np.lexsort((sequence + np.minimum((n - 1) * step, 0).sum(axis=1), thread, process))
    return Boxes(*(column[order].astype(np.int64) for column in found))


def count_aligned(rows: NDArray[Any], unit: int, budget: ExpansionBudget) -> int | None:
    """Count calls that begin at a multiple of `unit`; None if two of three loops are too long.

    The longest loop of each run is solved arithmetically, the other two are iterated.
    """
    boxes = boxes_of(rows)
    order = np.argsort(boxes.n, axis=1, kind="stable")
    n, stride = (np.take_along_axis(part, order, axis=1) for part in (boxes.n, boxes.stride))
    walked = n[:, 0] * n[:, 1]
    if not budget.take(walked - 1):
        return None
    box, k = expanded_index(walked)
    levels = levels_of(k, n[box, :2])
    levels[:, 2] = 0
    offset = boxes.offset[box] + moved(levels, stride[box])
    return int(
        _multiples(offset, np.where(n[:, 2] > 1, stride[:, 2], 0), n[:, 2], box, unit).sum()
    )


def _multiples(offset: _Ints, stride: _Ints, n: _Ints, of: _Ints, unit: int) -> _Ints:
    """Return (m,) how many of offset + k stride[of], 0 <= k < n[of], are multiples of `unit`."""
    strides, place = np.unique(stride % unit, return_inverse=True)
    common = np.gcd(strides, unit)
    period = unit // common
    inverse = [
        pow(int(one) // int(g), -1, int(p))
        for one, g, p in zip(strides, common, period, strict=True)
    ]
    place = place[of]
    g, p = common[place], period[place].astype(np.uint64)
    missing = -offset % unit
    turns = (missing // g).astype(np.uint64) * np.array(inverse, np.uint64)[place] % p
    first, p = turns.astype(np.int64), p.astype(np.int64)
    hit = (missing % g == 0) & (first < n[of])
    found: _Ints = np.where(hit, (n[of] - 1 - first) // p + 1, 0)
    return found


# Figures of runs of equal calls for which the order of calls matters.


@dataclass(frozen=True)
class Gaps:
    """Gaps: calls that do not begin where the previous call of the process ended.

    Attributes:
        count: Number of gaps; None if too many calls are in interleaved runs.
        mean_bytes: Mean distance in bytes; None without gaps.
    """

    count: int | None = None
    mean_bytes: float | None = None


def find_gaps(rows: NDArray[Any], budget: ExpansionBudget) -> Gaps:
    """Find gaps between the calls of each process.

    Runs that do not overlap in sequence, and those whose calls alternate evenly (the body of a
    loop), repeat the same few distances. Others are expanded.
    """
    boxes = boxes_of(rows)
    if not len(boxes.row):
        return Gaps(0)
    group = _overlapping(boxes)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:], len(group)) - 1
    even = _even(boxes, first, last)
    loose = ~even[group]
    if not budget.take(boxes.calls[loose]):
        return Gaps()
    begin = boxes.offset[first]
    end = (boxes.offset + boxes.bytes + ((boxes.n - 1) * boxes.stride).sum(axis=1))[last]
    jumps = [_even_jumps(boxes, first[even], last[even])]
    if loose.any():
        box, offset, sequence = boxes.expanded(loose)
        order = np.lexsort((sequence, group[box]))
        box, offset = box[order], offset[order]
        ends, new = offset + boxes.bytes[box], np.diff(group[box], prepend=-1) > 0
        begin[~even], end[~even] = offset[new], ends[np.append(new[1:], True)]
        inside = np.flatnonzero(~new)
        jumps.append(_each_once(offset[inside] - ends[inside - 1]))
    same = np.diff(boxes.process[first]) == 0
    jumps.append(_each_once((begin[1:] - end[:-1])[same]))
    distance, times = (np.concatenate(parts) for parts in zip(*jumps, strict=True))
    count = int(times[distance != 0].sum())
    total = float(np.dot(np.abs(distance).astype(np.float64), times))
    return Gaps(count, total / count if count else None)


def _each_once(distance: _Ints) -> tuple[_Ints, _Ints]:
    return distance, np.ones_like(distance)


def _overlapping(boxes: Boxes) -> _Ints:
    """Return (m,) each box's group; groups of a thread do not overlap in sequence."""
    far = (boxes.n - 1) * boxes.step
    low = boxes.sequence + np.minimum(far, 0).sum(axis=1)
    high = boxes.sequence + np.maximum(far, 0).sum(axis=1)
    new = (np.diff(boxes.process, prepend=-1) != 0) | (np.diff(boxes.thread, prepend=-1) != 0)
    lift = np.cumsum(new) * (high.max(keepdims=True) - low.min() + 1)
    new[1:] |= (low + lift)[1:] > np.maximum.accumulate(high + lift)[:-1]
    return np.asarray(np.cumsum(new) - 1)


def _even(boxes: Boxes, first: _Ints, last: _Ints) -> NDArray[np.bool_]:
    """Return whether the boxes of each group are one loop, with a call of each in every turn."""
    shape = np.concatenate([boxes.n, boxes.stride, boxes.step], axis=1)
    alike = np.append(True, (shape[1:] == shape[:-1]).all(axis=1))
    alike[first] = True
    turn = boxes.sequence[last] - boxes.sequence[first]
    fits = (_moves(boxes.step, boxes.n)[first] > turn[:, None]) | (boxes.n[first] == 1)
    found: NDArray[np.bool_] = np.logical_and.reduceat(alike, first) & fits.all(axis=1)
    return found


def _moves(stride: _Ints, n: _Ints) -> _Ints:
    """Return (m, 3) distances to the next call: in the same row, same plane, or neither."""
    far = (n - 1) * stride
    return np.asarray(stride + far - np.cumsum(far, axis=1))


def _even_jumps(boxes: Boxes, first: _Ints, last: _Ints) -> tuple[_Ints, _Ints]:
    """Return the distances from each call's end to the next call, and how often they occur."""
    group, place = expanded_index(last - first)
    place += first[group]
    n = boxes.n[first]
    end = boxes.offset + boxes.bytes
    back = boxes.offset[first] - end[last]
    turns = (n - 1) * np.stack([n[:, 1] * n[:, 2], n[:, 2], np.ones(len(n), np.int64)], axis=1)
    return (
        np.append(
            boxes.offset[place + 1] - end[place], _moves(boxes.stride[first], n) + back[:, None]
        ),
        np.append(boxes.calls[place], turns),
    )


def calls_served(
    program: NDArray[Any], system: NDArray[Any], budget: ExpansionBudget
) -> tuple[_Ints, _Ints] | None:
    """Return which call of its process each system call serves: (n,) process and number.

    Both kinds of (n,) `TRACE_ROW` are expanded; None if there are too many calls. The calls of
    `program` are numbered from 0 in each process; `system` contains the calls below them.
    """
    boxes = boxes_of(np.concatenate([program, system]))
    if not budget.take(boxes.calls):
        return None
    box, _, sequence = boxes.expanded(np.ones(len(boxes.row), np.bool_))
    box = box[np.lexsort((sequence, boxes.thread[box], boxes.process[box]))]
    process, above = boxes.process[box], boxes.row[box] < len(program)
    number = np.cumsum(above, dtype=np.int64)
    _, first, place = np.unique(process, return_index=True, return_inverse=True)
    number -= (number - above)[first][place] + 1
    pairs = np.unique(np.stack([process, number])[:, ~above & (number >= 0)], axis=1)
    return pairs[0], pairs[1]
