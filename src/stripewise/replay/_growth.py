# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How large a dataset is that grows: a trace names its slowest dimension 0."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op, ShapeKind, Trace, TraceShape
from stripewise.replay._calls import RankCalls
from stripewise.replay._kinds import RowKinds

_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)


def _end(trace: Trace, row: int, offset: int) -> int:
    """Return where a selection ends in the slowest dimension, from the offset of its corner."""
    shape: TraceShape = trace.shapes[trace.rows["shape"][row]]
    first = offset // max(prod(shape.extents[1:]), 1)
    if shape.kind == ShapeKind.REGULAR and shape.count:
        return first + (shape.count[0] - 1) * shape.stride[0] + shape.block[0]
    if shape.boxes is not None and shape.boxes.size and shape.extents:
        return first + int(shape.boxes[:, 1, 0].max()) + 1
    return first


def needed_extent(trace: Trace, rows: NDArray[np.int64], ranks: Sequence[RankCalls]) -> int:
    """Return the end of what calls of some rows reached in the slowest dimension."""
    wanted = rows[trace.rows["shape"][rows] >= 0]
    furthest = (
        _end(trace, row, int(calls.offset[calls.row == row].max()))
        for calls in ranks
        for row in np.intersect1d(wanted, calls.row).tolist()
    )
    return max(furthest, default=0)


def set_extents(trace: Trace, kinds: RowKinds, ranks: Sequence[RankCalls]) -> None:
    """Make the extent that each H5Dset_extent gives its dataset the offset of the call.

    It is what any rank uses until the next one, as it has to be the same on all; no dataset
    shrinks.  Where nothing is used it is -1.
    """
    resizes = kinds.verb == kinds.number("hdf5.dset_extent")
    moves = np.isin(trace.rows["op"], _DATA) & (trace.rows["shape"] >= 0)
    extents: dict[tuple[int, str, int], int] = {}
    resized = []
    for calls in ranks if resizes.any() else ():
        turns: dict[tuple[int, str], int] = {}
        places = np.flatnonzero((resizes | moves)[calls.row])
        keys = {row: _dataset(trace, row) for row in np.unique(calls.row[places]).tolist()}
        for place, row in zip(places.tolist(), calls.row[places].tolist(), strict=True):
            key = keys[row]
            if resizes[row]:
                turns[key] = turns.get(key, -1) + 1
                resized.append((calls, place, (*key, turns[key])))
            elif key in turns:
                slot = (*key, turns[key])
                end = _end(trace, row, int(calls.offset[place]))
                extents[slot] = max(extents.get(slot, 0), end)
    largest: dict[tuple[int, str], int] = {}
    for file, name, turn in sorted(extents):
        most = max(largest.get((file, name), 0), extents[file, name, turn])
        extents[file, name, turn] = largest[file, name] = most
    for calls, place, wanted in resized:
        calls.offset[place] = extents.get(wanted, -1)


def _dataset(trace: Trace, row: int) -> tuple[int, str]:
    """Return file and name of the dataset that a row is about."""
    index = int(trace.rows["object"][row])
    return int(trace.rows["file"][row]), trace.objects[index].name if index >= 0 else ""
