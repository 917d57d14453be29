# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives from a trace which parts of files and which dataset selections each rank moved."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace._access_bytes import byte_pieces
from stripewise.evidence.trace._rows import (
    begins,
    groups,
    left_to_libraries,
    ranks_of,
    take_rows,
    within,
)
from stripewise.evidence.trace._trace import (
    COLLECTIVE_OPS,
    DATA_OPS,
    SYSTEM_LAYERS,
    UNLISTED_ROW,
    WRITES,
    EventFlag,
    IoLayer,
    Op,
    Pieces,
    Selections,
    ShapeKind,
    Trace,
    TraceShape,
    expanded_index,
    levels_of,
    members,
    moved,
)

MOST_PARTS = 4_000_000
"""Maximum number of selections, and of rows of pieces, of one trace."""

_DATASET_LAYERS = (IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.ADIOS2)


def accesses(trace: Trace) -> tuple[Selections | Pieces, ...]:
    """Find what the program itself moved, per file, dataset and direction.

    Datasets come from the HDF5, PnetCDF and ADIOS2 calls. MPI-IO calls of a file count if the
    program made them, or if no higher layer described a dataset of that file; POSIX and stdio
    calls count if the program made them. Parts beyond `MOST_PARTS` are mentioned in the notes.
    """
    rows = _data_rows(trace)
    selections = selections_of(
        trace, take_rows(rows, np.isin(rows["layer"], _DATASET_LAYERS)), MOST_PARTS
    )
    described = {entry.file for entry in selections if len(entry.rank) or entry.irregular}
    known = np.array([path in described for path in trace.paths], bool)
    own = (rows["depth"] == 0) | ~known[rows["file"]]
    mpi = take_rows(rows, (rows["layer"] == IoLayer.MPIIO) & own)
    system = np.isin(rows["layer"], SYSTEM_LAYERS) & (rows["depth"] == 0)
    posix = rows if system.all() else take_rows(rows, system)
    ranges = ((mpi, "view"), (posix, "offsets"))
    pieces = [byte_pieces(trace, chosen, source, MOST_PARTS) for chosen, source in ranges]
    return (*selections, *pieces[0], *pieces[1])


def _data_rows(trace: Trace) -> NDArray[Any]:
    """Return the rows that moved data of a file; without MPI, `rank` is numbered from 0 too."""
    rows = _moved_by_waits(trace)
    moved = np.isin(rows["op"], DATA_OPS) & (rows["bytes"] > 0) & (rows["file"] >= 0)
    moved &= (rows["flags"] & (EventFlag.FAILED | EventFlag.WAIT | EventFlag.ATTRIBUTE)) == 0
    moved &= ~left_to_libraries(rows)
    if not trace.n_ranks:
        rows = take_rows(rows, moved)
        rows["rank"] = rows["process"]
        return rows
    places = np.flatnonzero(moved & (rows["rank"] >= 0))
    rank = rows["rank"][places]
    in_order = bool((rank[1:] >= rank[:-1]).all())
    if in_order and len(places) == len(rows):
        return rows
    return take_rows(rows, places if in_order else places[np.argsort(rank, kind="stable")])


def _moved_by_waits(trace: Trace) -> NDArray[Any]:
    """Return the rows, in which calls posted to PnetCDF are collective if their wait is.

    A posted call is moved by the next wait of its process for that file.
    """
    rows = trace.rows
    of_pnetcdf = np.flatnonzero(rows["layer"] == IoLayer.PNETCDF)
    posts = of_pnetcdf[(rows["flags"][of_pnetcdf] & EventFlag.NONBLOCKING) != 0]
    if not len(posts):
        return rows
    waits = of_pnetcdf[(rows["flags"][of_pnetcdf] & EventFlag.WAIT) != 0]
    together = np.array([name == "ncmpi_wait_all" for name in (*trace.names, "")], bool)
    rows = rows.copy()
    for (process, file), places in groups(rows["process"][posts], rows["file"][posts]):
        mine = waits[(rows["process"][waits] == process) & (rows["file"][waits] == file)]
        mine = mine[np.argsort(rows["sequence"][mine])]
        after = np.searchsorted(rows["sequence"][mine], rows["sequence"][posts[places]])
        if not len(mine):
            continue
        wait = mine[np.minimum(after, len(mine) - 1)]  # equal waits are one row, at the first
        chosen = posts[places][together[rows["name"][wait]]]
        writes = rows["op"][chosen] == Op.WRITE
        rows["op"][chosen] = np.where(writes, Op.WRITE_COLLECTIVE, Op.READ_COLLECTIVE)
    return rows


# Conversion of HDF5, PnetCDF and ADIOS2 calls to selections of each dataset.


def selections_of(trace: Trace, rows: NDArray[Any], most: int) -> tuple[Selections, ...]:
    """Group data calls by file, dataset, dimensions and direction.

    Args:
        trace: Trace of one run.
        rows: Its data calls of the layers that know datasets.
        most: Maximum number of selections.
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
    for (_, _, writing), places in groups(datasets, dims, np.isin(rows["op"], WRITES)):
        mine, left_out = within(take_rows(rows, places), most)
        most -= int(mine["count"].sum())
        found.append(_selections(trace, mine, owner[places], bool(writing), left_out))
    return tuple(found)


def _objects(trace: Trace, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of the object of each row, from the row itself or else from its shape."""
    of_shape = np.array([shape.object for shape in trace.shapes] or [-1])
    by_shape = np.where(rows["shape"] >= 0, of_shape[rows["shape"]], -1)
    return np.where(rows["object"] >= 0, rows["object"], by_shape).astype(np.int64)


def _dataset_numbers(trace: Trace) -> NDArray[np.int64]:
    """Return one number for all descriptions of a dataset (its extents may change)."""
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
    troubles: Counter[str] = Counter({"selections beyond the limit are left out": left_out})
    described = trace.objects[int(owner[-1])]
    extents = _extents(trace, rows, owner)
    parts = [np.zeros(0, _selected(len(extents)))]
    unlisted = [np.zeros(0, UNLISTED_ROW)]
    for (shape,), places in groups(rows["shape"]):
        listed, others, why = _of_shape(trace, take_rows(rows, places), shape)
        parts += listed
        unlisted.append(_unlisted(others))
        troubles[why] += int(others["count"].sum())
    found, missing = np.concatenate(parts), np.concatenate(unlisted)
    everyone, n_ranks = ranks_of(trace, np.append(found["rank"], missing["rank"]))
    rank, missing["rank"] = everyone[: len(found)], everyone[len(found) :]
    found["order"] = _call_numbers(rank, found)
    place = np.lexsort((found["order"], rank))
    names = ("start", "stride", "count", "block", "order", "collective")
    columns: dict[str, Any] = {name: found[name][place] for name in names}
    return Selections(
        file=trace.paths[described.file] if described.file >= 0 else "",
        dataset=described.name,
        extents=extents,
        element_bytes=described.element_bytes,
        writing=writing,
        rank=rank[place],
        **columns,
        n_ranks=n_ranks,
        unlisted=missing,
        left_out=left_out,
        source=IoLayer(described.layer).name.lower(),
        notes=tuple(f"{number} {what}" for what, number in troubles.items() if number),
    )


def _unlisted(rows: NDArray[Any]) -> NDArray[Any]:
    """Return (n,) `UNLISTED_ROW` of calls."""
    found = np.zeros(len(rows), UNLISTED_ROW)
    found["rank"], found["calls"] = rows["rank"], rows["count"]
    found["collective"] = np.isin(rows["op"], COLLECTIVE_OPS)
    return found


def _call_numbers(rank: NDArray[np.int64], found: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) place of each selection's call among those of its rank, from 0."""
    keys = [found[name] for name in ("process", "thread", "sequence")]
    order = np.lexsort((*keys[::-1], rank))
    new = begins(rank[order], *(key[order] for key in keys))
    calls = np.cumsum(new) - 1
    first = np.searchsorted(rank[order], rank[order])
    numbers = np.empty(len(rank), np.int64)
    numbers[order] = calls - calls[first]
    return numbers


def _selected(n_dims: int) -> np.dtype[np.void]:
    """Return the dtype of one selection with its rank and call."""
    vectors = [(name, "<i8", (n_dims,)) for name in ("start", "stride", "count", "block")]
    return np.dtype(
        members("i8 rank process thread sequence order", ("collective", "?"), *vectors)
    )


def _extents(trace: Trace, rows: NDArray[Any], owner: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the largest extents that a dataset had."""
    shapes = [trace.shapes[i].extents for i in np.unique(rows["shape"][rows["shape"] >= 0])]
    objects = [trace.objects[i].extents for i in np.unique(owner)]
    n_dims = len(shapes[0]) if shapes else len(objects[0])
    alike = [extents for extents in (*shapes, *objects) if len(extents) == n_dims]
    return tuple(max(sizes) for sizes in zip(*alike, strict=True)) or (1,)


def _of_shape(
    trace: Trace, rows: NDArray[Any], number: int
) -> tuple[list[NDArray[Any]], NDArray[Any], str]:
    """Return the selections of calls that share a shape, calls without known ones, and why."""
    nobody = rows[:0]
    if number < 0:
        return [], rows, _NOT_RECORDED
    shape = trace.shapes[number]
    if shape.kind == ShapeKind.NONE:
        return [], nobody, ""
    regular, whole = _regular(shape)
    if not regular:
        points = shape.kind == ShapeKind.POINTS
        return [], rows, f"selections of {'points' if points else 'boxes'} are too many to list"
    lost = np.zeros(len(rows), bool) if whole else (rows["flags"] & EventFlag.NO_OFFSET) != 0
    listed = [_placed(rows[~lost], part, shape.extents or (1,), whole=whole) for part in regular]
    return listed, rows[lost], _NOT_RECORDED


_NOT_RECORDED = "calls whose selection was not recorded"
_Part = tuple[tuple[int, ...], ...]
"""Start from the corner of the selection, stride, count and block of a hyperslab."""


def _placed(
    rows: NDArray[Any], part: _Part, extents: tuple[int, ...], *, whole: bool
) -> NDArray[Any]:
    """Return a hyperslab of each call of some rows."""
    row, k = expanded_index(rows["count"])
    levels = levels_of(k, rows["inner"][row])
    found = np.zeros(len(row), _selected(len(extents)))
    for name in ("rank", "process", "thread"):
        found[name] = rows[name][row]
    found["sequence"] = rows["sequence"][row] + moved(levels, rows["sequence_stride"][row])
    if not whole:
        index = rows["offset"][row] + moved(levels, rows["stride"][row])
        found["start"] = _corner(index, extents) + part[0]
    for name, numbers in zip(("stride", "count", "block"), part[1:], strict=True):
        found[name] = numbers
    found["collective"] = np.isin(rows["op"], COLLECTIVE_OPS)[row]
    return found


def _regular(shape: TraceShape) -> tuple[list[_Part], bool]:
    """Return the hyperslabs of a shape, none if they are not all known, and whether it is all."""
    extents = shape.extents or (1,)
    ones, corner = (1,) * len(extents), (0,) * len(extents)
    if shape.kind == ShapeKind.ALL:
        return [(corner, ones, ones, extents)], True
    if shape.kind == ShapeKind.REGULAR and len(shape.count) == len(extents):
        return [(corner, shape.stride, shape.count, shape.block)], False
    if shape.boxes is None or shape.truncated or shape.total_boxes > len(shape.boxes):
        return [], False
    return [
        (tuple(first.tolist()), ones, ones, tuple((last - first + 1).tolist()))
        for first, last in shape.boxes
    ], False


def _corner(index: NDArray[np.int64], extents: tuple[int, ...]) -> NDArray[np.int64]:
    """Return (n, n_dims) int64 coordinates of C order indices, unbounded in dimension 0."""
    start = np.zeros((len(index), len(extents)), np.int64)
    for dim in range(len(extents) - 1, 0, -1):
        index, start[:, dim] = np.divmod(index, max(extents[dim], 1))
    start[:, 0] = index
    return start
