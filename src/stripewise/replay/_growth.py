# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How large a dataset is that grows: a trace names its slowest dimension 0."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op, ShapeKind, Trace, TraceShape
from stripewise.replay._calls import RankCalls
from stripewise.replay._kinds import RowKinds

_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
Key = tuple[int, str]
"""A dataset: file and name inside of it."""


def span(shape: TraceShape) -> int:
    """Return how many elements of the slowest dimension a selection reaches over."""
    if shape.kind == ShapeKind.REGULAR and shape.count:
        return (shape.count[0] - 1) * shape.stride[0] + shape.block[0]
    if shape.boxes is not None and shape.boxes.size and shape.extents:
        return int(shape.boxes[:, 1, 0].max()) + 1
    return 0


def row_of_elements(shape: TraceShape) -> int:
    """Return the number of elements with one index of the slowest dimension."""
    return max(prod(shape.extents[1:]), 1)


def needed_extent(trace: Trace, rows: NDArray[np.int64], calls: list[RankCalls]) -> int:
    """Return the end of what calls of some rows reached in the slowest dimension."""
    end = 0
    wanted = set(map(int, rows))
    for one in calls:
        for row in wanted.intersection(np.unique(one.row).tolist()):
            index = int(trace.rows["shape"][row])
            if index < 0:
                continue
            shape = trace.shapes[index]
            last = int(one.offset[one.row == row].max())
            end = max(end, last // row_of_elements(shape) + span(shape))
    return end


class Growth:
    """The extent that each H5Dset_extent gives a dataset: what is used until the next one.

    It has to be the same on all ranks, so it is found from all of them.
    """

    def __init__(self, trace: Trace, kinds: RowKinds, ranks: list[RankCalls]) -> None:
        """Look at the calls of all ranks."""
        self._trace = trace
        self._extents: dict[tuple[Key, int], int] = {}
        self._verb = kinds.number("hdf5.dset_extent")
        if self._verb >= 0:
            for calls in ranks:
                self._look(kinds, calls)
            self._never_shrink()

    def _key(self, row: int) -> Key:
        index = int(self._trace.rows["object"][row])
        name = self._trace.objects[index].name if index >= 0 else ""
        return int(self._trace.rows["file"][row]), name

    def _look(self, kinds: RowKinds, calls: RankCalls) -> None:
        resizes = kinds.verb[calls.row] == self._verb
        moves = np.isin(self._trace.rows["op"][calls.row], _DATA)
        moves &= self._trace.rows["shape"][calls.row] >= 0
        keys = {row: self._key(row) for row in np.unique(calls.row[resizes | moves]).tolist()}
        turn = {keys[row]: -1 for row in np.unique(calls.row[resizes]).tolist()}
        for place in map(int, np.flatnonzero(resizes | moves)):
            row = int(calls.row[place])
            key = keys[row]
            if key not in turn:
                continue
            if resizes[place]:
                turn[key] += 1
            elif turn[key] >= 0:
                shape = self._trace.shapes[self._trace.rows["shape"][row]]
                end = int(calls.offset[place]) // row_of_elements(shape) + span(shape)
                at = key, turn[key]
                self._extents[at] = max(self._extents.get(at, 0), end)

    def _never_shrink(self) -> None:
        largest: dict[Key, int] = {}
        for key, turn in sorted(self._extents):
            most = max(largest.get(key, 0), self._extents[key, turn])
            self._extents[key, turn] = largest[key] = most

    def offsets(self, kinds: RowKinds, calls: RankCalls, offset: NDArray[np.int64]) -> None:
        """Put the extents into the offsets of the calls that set them, in place."""
        if self._verb < 0:
            return
        turn: dict[Key, int] = {}
        for place in map(int, np.flatnonzero(kinds.verb[calls.row] == self._verb)):
            key = self._key(int(calls.row[place]))
            turn[key] = turn.get(key, -1) + 1
            offset[place] = self._extents.get((key, turn[key]), -1)
