# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which files have to be there before a replay begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import IoLayer, Op, Trace
from stripewise.replay._calls import RankCalls
from stripewise.replay._growth import needed_extent
from stripewise.replay._kinds import RowKinds
from stripewise.replay._opens import Opening
from stripewise.replay._records import PlanInput
from stripewise.replay._tables import Tables

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_KINDS = {IoLayer.HDF5: "hdf5", IoLayer.PNETCDF: "pnetcdf"}


def find_inputs(
    trace: Trace,
    kinds: RowKinds,
    openings: Sequence[Opening],
    tables: Tables,
    ranks: Sequence[RankCalls],
) -> tuple[PlanInput, ...]:
    """Return files that were opened, or read, before the program had made them."""
    by_file: dict[int, list[Opening]] = defaultdict(list)
    for opening in openings:
        if not opening.removes:
            by_file[opening.key[1]].append(opening)
    found = []
    for file, members in sorted(by_file.items()):
        first = min(members, key=lambda opening: opening.start)
        if first.creates and not _read_first(trace, file):
            continue
        kind = _KINDS.get(IoLayer(first.key[0]), "bytes")
        objects = _needed(trace, kinds, file, tables, ranks) if kind != "bytes" else ()
        size = _size(trace.rows[trace.rows["file"] == file])
        found.append(PlanInput(tables.file(file), kind, size, objects))
    return tuple(found)


def _read_first(trace: Trace, file: int) -> bool:
    """Whether the file was read before anything was written to it."""
    rows = trace.rows[(trace.rows["file"] == file) & (trace.rows["bytes"] > 0)]
    reads = rows["start_ns"][np.isin(rows["op"], _READS)]
    writes = rows["start_ns"][np.isin(rows["op"], _WRITES)]
    return bool(len(reads) and (not len(writes) or reads.min() < writes.min()))


def _size(rows: NDArray[Any]) -> int:
    """Return the end of the furthest byte that was read, seen in the system's reads."""
    below = rows[np.isin(rows["layer"], (IoLayer.POSIX, IoLayer.STDIO))]
    below = below[np.isin(below["op"], _READS)]
    if not len(below):
        return 0
    count, inner, stride = below["count"], below["inner"], below["stride"]
    first = np.where(inner[:, 0] > 0, inner[:, 0], count)
    second = np.where(inner[:, 1] > 0, inner[:, 1], -(-count // np.maximum(first, 1)))
    third = -(-count // np.maximum(first * second, 1))
    turns = np.stack((first, second, third), axis=1)
    reach = (np.maximum(stride, 0) * np.maximum(turns - 1, 0)).sum(axis=1)
    ends = below["offset"] + reach + below["bytes"]
    in_turn = (below["bytes"] * count).sum()  # of reads whose offset is not known
    return int(max(ends.max(), in_turn if (below["offset"] < 0).all() else 0))


def _needed(
    trace: Trace, kinds: RowKinds, file: int, tables: Tables, ranks: Sequence[RankCalls]
) -> tuple[int, ...]:
    """Return the datasets of an input that the program did not create itself."""
    rows = trace.rows
    mine = (rows["file"] == file) & (rows["object"] >= 0) & (kinds.verb >= 0)
    made = rows["object"][mine & (kinds.verb == kinds.number("hdf5.dcreate"))]
    names = {trace.objects[index].name for index in made}
    used: dict[str, list[int]] = defaultdict(list)
    for index in np.unique(rows["object"][mine]).tolist():
        if trace.objects[index].name not in names:
            used[trace.objects[index].name].append(index)
    found = []
    for same in used.values():
        extents = trace.objects[same[0]].extents
        end = 0
        if extents and not extents[0]:
            at = np.flatnonzero(mine & np.isin(rows["object"], same))
            end = needed_extent(trace, at, ranks)
        found.append(tables.input_object(same[0], end))
    return tuple(dict.fromkeys(found))
