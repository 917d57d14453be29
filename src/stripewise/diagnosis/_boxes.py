# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of runs of equal calls, from the runs and not from the calls that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index, levels_of, moved

MOST_CALLS = 1_000_000

_Ints = NDArray[np.int64]


@dataclass
class Budget:
    """Calls that may still be expanded, where no other way leads to a figure."""

    left: float = MOST_CALLS

    def take(self, n_calls: _Ints) -> bool:
        """Whether there is room for the sum of these (n,) numbers, which then is gone."""
        total = float(n_calls.sum(dtype=np.float64))  # int64 is too short for damaged counts
        if total > self.left:
            return False
        self.left -= total
        return True


@dataclass(frozen=True, eq=False)
class Boxes:
    """Runs, split so that each is whole: `n[0]` x `n[1]` x `n[2]` calls; in order of call.

    Attributes:
        row: (m,) its row in what was split.
        process / thread / offset / bytes / sequence: (m,) of the first call.
        n: (m, 3) calls per row, rows per plane, planes.
        stride / step: (m, 3) of the offset and of the sequence at each level.
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
        """(m,) how many calls each is."""
        return np.asarray(self.n.prod(axis=1))

    def expanded(self, chosen: NDArray[np.bool_]) -> tuple[_Ints, _Ints, _Ints]:
        """(n,) box, offset and sequence of each call of some boxes, not in order."""
        places = np.flatnonzero(chosen)
        box, k = expanded_index(self.calls[places])
        box = places[box]
        levels = levels_of(k, self.n[box, :2])
        offset = self.offset[box] + moved(levels, self.stride[box])
        return box, offset, self.sequence[box] + moved(levels, self.step[box])


def boxes_of(rows: NDArray[Any]) -> Boxes:
    """Split (n,) `TRACE_ROW`: full planes, full rows that are left, calls that are left."""
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


def count_aligned(rows: NDArray[Any], unit: int, budget: Budget) -> int | None:
    """Calls that begin at a multiple of `unit`; None: two loops of three are too long.

    The longest loop of each run is a matter of arithmetic, the other two are walked through.
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
    """(m,) how many of offset + k stride[of], 0 <= k < n[of], are multiples of `unit`."""
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
