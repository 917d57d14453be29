# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5, PnetCDF and ADIOS2 calls -> selections per dataset."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import EventFlag, Selections, ShapeKind, Trace, TraceShape
from stripewise.readers._access_common import (
    collective_of,
    groups,
    number_in_rank,
    ranks_of,
    within,
    writing_of,
)
from stripewise.readers._expand import expanded_index, levels_of, moved
from stripewise.readers._rows import take_rows


@dataclass(frozen=True)
class _Regular:
    """A shape as a regular hyperslab; `whole`: from the corner of the extents."""

    stride: tuple[int, ...]
    count: tuple[int, ...]
    block: tuple[int, ...]
    whole: bool = False


def selections_of(trace: Trace, rows: NDArray[Any], most: int) -> tuple[Selections, ...]:
    """Group data calls by file, dataset, dimensions and direction.

    Args:
        trace: Of one run.
        rows: Its data calls of the layers that know datasets.
        most: Selections that are made.
    """
    owner = _objects(trace, rows)
    rows, owner = rows[owner >= 0], owner[owner >= 0]
    if not len(rows):
        return ()
    datasets = _dataset_numbers(trace)[owner]
    n_dims = np.array([len(shape.extents) or 1 for shape in trace.shapes] or [1])
    dims = np.where(rows["shape"] >= 0, n_dims[rows["shape"]], 0)
    dims = np.where(dims > 0, dims, _extents_dims(trace)[owner])
    found = []
    for (_, _, writing), places in groups(datasets, dims, writing_of(rows).astype(np.int64)):
        mine, left_out = within(take_rows(rows, places), most)
        most -= int(mine["count"].sum())
        found.append(_selections(trace, mine, owner[places], bool(writing), left_out))
    return tuple(found)


def _objects(trace: Trace, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Index of the object of each row, by the row itself or else by its shape."""
    of_shape = np.array([shape.object for shape in trace.shapes] or [-1])
    by_shape = np.where(rows["shape"] >= 0, of_shape[rows["shape"]], -1)
    return np.where(rows["object"] >= 0, rows["object"], by_shape).astype(np.int64)


def _dataset_numbers(trace: Trace) -> NDArray[np.int64]:
    """One number for all descriptions of a dataset (its extents may change)."""
    numbers: dict[tuple[int, int, str], int] = {}
    return np.array(
        [numbers.setdefault((o.file, o.layer, o.name), len(numbers)) for o in trace.objects],
        np.int64,
    )


def _extents_dims(trace: Trace) -> NDArray[np.int64]:
    return np.array([len(entry.extents) or 1 for entry in trace.objects], np.int64)


def _selections(
    trace: Trace, rows: NDArray[Any], owner: NDArray[np.int64], writing: bool, left_out: int
) -> Selections:
    troubles: Counter[str] = Counter({"selections beyond the bound are left out": left_out})
    parts = []
    for (shape,), places in groups(rows["shape"]):
        part = _of_shape(trace, take_rows(rows, places), shape, troubles)
        if part is not None:
            parts.append(part)
    described = trace.objects[int(owner[-1])]
    extents = _extents(trace, rows, owner)
    joined = _joined(parts, len(extents))
    irregular = sum(troubles.values())
    rank, start, stride, count, block, collective, keys = joined
    rank, n_ranks = ranks_of(trace, rank)
    order = number_in_rank(rank, *keys)
    place = np.lexsort((order, rank))
    return Selections(
        file=trace.paths[described.file] if described.file >= 0 else "",
        dataset=described.name,
        extents=extents,
        element_bytes=described.element_bytes,
        writing=writing,
        rank=rank[place],
        start=start[place],
        stride=stride[place],
        count=count[place],
        block=block[place],
        order=order[place],
        collective=collective[place],
        n_ranks=n_ranks,
        irregular=irregular,
        notes=tuple(f"{number} {what}" for what, number in troubles.items() if number),
    )


def _extents(trace: Trace, rows: NDArray[Any], owner: NDArray[np.int64]) -> tuple[int, ...]:
    """Largest extents that a dataset had."""
    shapes = [trace.shapes[i].extents for i in np.unique(rows["shape"][rows["shape"] >= 0])]
    objects = [trace.objects[i].extents for i in np.unique(owner)]
    n_dims = len(shapes[0]) if shapes else len(objects[0])
    alike = [extents for extents in (*shapes, *objects) if len(extents) == n_dims]
    return tuple(max(sizes) for sizes in zip(*alike, strict=True)) or (1,)


def _of_shape(
    trace: Trace, rows: NDArray[Any], number: int, troubles: Counter[str]
) -> tuple[NDArray[Any], ...] | None:
    """Selections of the calls that share a shape; what is none goes to `troubles`."""
    n_calls = int(rows["count"].sum())
    if number < 0:
        troubles["calls whose selection was not recorded"] += n_calls
        return None
    shape = trace.shapes[number]
    if shape.kind == ShapeKind.NONE:
        return None
    regular = _regular(shape)
    if regular is None:
        what = "points" if shape.kind == ShapeKind.POINTS else "irregular hyperslabs"
        troubles[f"selections are {what}"] += n_calls
        return None
    lost = (rows["flags"] & EventFlag.NO_OFFSET) != 0
    if lost.any() and not regular.whole:
        troubles["calls whose selection was not recorded"] += int(rows["count"][lost].sum())
        rows = rows[~lost]
    row, k = expanded_index(rows["count"])
    levels = levels_of(k, rows["inner"][row])
    extents = shape.extents or (1,)
    start = _corner(rows["offset"][row] + moved(levels, rows["stride"][row]), extents)
    sequence = rows["sequence"][row] + moved(levels, rows["sequence_stride"][row])
    keys = np.stack([rows["process"][row], rows["thread"][row], sequence], axis=1)
    if regular.whole:
        start[:] = 0
    return (
        rows["rank"][row].astype(np.int64),
        start,
        *(
            np.broadcast_to(np.array(numbers, np.int64), start.shape)
            for numbers in (regular.stride, regular.count, regular.block)
        ),
        collective_of(rows)[row],
        keys,
    )


def _regular(shape: TraceShape) -> _Regular | None:
    extents = shape.extents or (1,)
    ones = (1,) * len(extents)
    if shape.kind == ShapeKind.ALL:
        return _Regular(ones, ones, extents, whole=True)
    if shape.kind == ShapeKind.REGULAR and len(shape.count) == len(extents):
        return _Regular(shape.stride, shape.count, shape.block)
    boxes = shape.boxes
    if boxes is not None and len(boxes) == 1 and not shape.truncated and shape.total_boxes <= 1:
        size = boxes[0, 1] - boxes[0, 0] + 1
        return _Regular(ones, ones, tuple(size.tolist()))
    return None


def _corner(index: NDArray[np.int64], extents: tuple[int, ...]) -> NDArray[np.int64]:
    """(n, n_dims) int64: C order indices in `extents` as coordinates; the first is unbounded."""
    start = np.zeros((len(index), len(extents)), np.int64)
    for dim in range(len(extents) - 1, 0, -1):
        index, start[:, dim] = np.divmod(index, max(extents[dim], 1))
    start[:, 0] = index
    return start


def _joined(parts: list[tuple[NDArray[Any], ...]], n_dims: int) -> tuple[Any, ...]:
    """Concatenate: rank, start, stride, count, block, collective, and keys for the order."""
    if parts:
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    else:
        slab = np.zeros((0, n_dims), np.int64)
        none = np.zeros(0, np.int64)
        columns = [none, slab, slab, slab, slab, none.astype(bool), np.zeros((0, 3), np.int64)]
    return (*columns[:6], columns[6].T)
