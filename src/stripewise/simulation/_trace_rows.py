# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a trace that reach the storage without MPI-IO."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index, levels_of, moved
from stripewise.model import (
    DATA_OPS,
    SYSTEM_LAYERS,
    WRITES,
    EventFlag,
    Evidence,
    IoLayer,
    Op,
    OpenBit,
    Trace,
)
from stripewise.simulation._trace_asked import ASKED_ROW, Asked, operation_of
from stripewise.simulation._trace_names import files_here, names_left

STREAM_BYTES = 4096
"""Of a request that the C library makes for a stream, where it is not known (BUFSIZ of glibc)."""
MOST_RUNS = 2_000_000
"""Into which folded calls are cut."""
_CLOSE = 8
"""Calls from one of a run to the next, of which further ones are no run (chosen)."""

_LIBRARIES = (IoLayer.MPIIO, IoLayer.PNETCDF)

Ints = NDArray[np.int64]


def library_files(trace: Trace) -> NDArray[np.bool_]:
    """Return which files MPI-IO moves: (n_paths,) bool."""
    found = np.zeros(len(trace.paths), np.bool_)
    rows = trace.rows
    found[rows["file"][np.isin(rows["layer"], _LIBRARIES) & (rows["file"] >= 0)]] = True
    return found


def own_files(trace: Trace) -> list[int]:
    """Return the files whose data only system calls and other libraries move."""
    rows = trace.rows[np.isin(trace.rows["layer"], SYSTEM_LAYERS) & (trace.rows["file"] >= 0)]
    moved_ones = np.unique(rows["file"][np.isin(rows["op"], DATA_OPS) & (rows["bytes"] > 0)])
    found: list[int] = moved_ones[~library_files(trace)[moved_ones]].tolist()
    return found


def library_begin(trace: Trace) -> int:
    """Return when a file of MPI-IO is touched for the first time, in ns; never: very late."""
    rows = trace.rows[trace.rows["file"] >= 0]
    starts = rows["start_ns"][library_files(trace)[rows["file"]]]
    return int(starts.min()) if len(starts) else np.iinfo(np.int64).max


def asked_rows(evidence: Evidence) -> NDArray[Any]:
    """Return what the program asks of the storage by itself, below or without MPI-IO.

    Calls on files of MPI-IO count only if the program itself made them.

    Args:
        evidence: With a trace.

    Returns:
        (n,) `ASKED_ROW`, by rank and order.  Without MPI, a rank is a process.
    """
    trace = evidence.trace
    assert trace is not None
    rows = _own(trace)
    what = _asked(trace, rows)
    kept = what >= 0
    rows, what = rows[kept], what[kept]
    row, number, calls = _runs(rows)
    found = np.zeros(len(row), ASKED_ROW)
    found["rank"] = (rows["rank"] if trace.n_ranks else rows["process"])[row]
    found["what"], found["file"], found["number"] = what[row], rows["file"][row], calls
    _places(rows[row], number, found)
    _moments(rows, row, number, found)
    _through_streams(evidence, rows[row], found)
    found = np.concatenate([_created(rows[row], found), names_left(evidence)])
    found = found[found["number"] > 0]
    return found[np.lexsort((found["first"], found["rank"]))]


def _asked(trace: Trace, rows: NDArray[Any]) -> Ints:
    """Return what each row asks for, as `Asked`; -1: nothing."""
    names = np.array([operation_of(name) for name in trace.names] or [-1], np.int64)
    what: Ints = names[rows["name"]]
    data = np.isin(rows["op"], DATA_OPS)
    what[data] = np.isin(rows["op"][data], WRITES)
    what[rows["op"] == Op.OPEN] = Asked.OPEN
    what[(rows["op"] == Op.SYNC) & (rows["layer"] == IoLayer.POSIX)] = Asked.SYNC
    failed = (rows["flags"] & EventFlag.FAILED) != 0
    what[data & (failed | (rows["bytes"] <= 0))] = -1
    return what


def _runs(rows: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Cut folded rows into calls that follow each other closely.

    Returns:
        (n,) the row of each run, the number of its first call in it, and its calls.
    """
    count = rows["count"]
    length = np.where(rows["inner"][:, 0] > 0, rows["inner"][:, 0], count)
    length = np.where(np.abs(rows["sequence_stride"][:, 0]) > _CLOSE, 1, length)
    length = np.maximum(np.where(rows["op"] == Op.OPEN, 1, length), 1)
    if float((count / length).sum()) > MOST_RUNS:
        length = np.maximum(count, 1)
    row, k = expanded_index(-(-count // length))
    number = k * length[row]
    return row, number, np.minimum(length[row], count[row] - number)


def _own(trace: Trace) -> NDArray[Any]:
    """Rows of system calls that neither MPI-IO nor a stream's call stands for."""
    every = trace.rows
    rows = every[np.isin(every["layer"], SYSTEM_LAYERS) & (every["file"] >= 0)]
    if trace.n_ranks:
        rows = rows[rows["rank"] >= 0]
    callers = {
        layer: np.unique(every["name"][every["layer"] == layer])
        for layer in (IoLayer.STDIO, *_LIBRARIES)
    }
    of_library = np.isin(rows["parent"], np.concatenate([callers[one] for one in _LIBRARIES]))
    of_library |= library_files(trace)[rows["file"]]
    of_stream = (rows["layer"] == IoLayer.POSIX) & np.isin(rows["parent"], callers[IoLayer.STDIO])
    here = files_here(trace)
    return np.asarray(rows[~((rows["depth"] > 0) & of_library) & ~of_stream & here[rows["file"]]])


def _places(rows: NDArray[Any], number: Ints, found: NDArray[Any]) -> None:
    """Set which bytes runs of data calls move; of an open, its `OpenBit` in `begin`."""
    known = (rows["flags"] & EventFlag.NO_OFFSET) == 0
    ends = [
        np.where(known, rows["offset"] + moved(levels_of(k, rows["inner"]), rows["stride"]), 0)
        for k in (number, number + found["number"].astype(np.int64) - 1)
    ]
    size = np.where(found["what"] <= Asked.WRITE, rows["bytes"], 0)
    found["size"], found["begin"] = size, ends[0]
    found["low"], found["high"] = np.minimum(*ends), np.maximum(*ends) + size
    strides = np.gcd.reduce(np.abs(rows["stride"]), axis=1)
    found["granule"] = np.gcd(np.gcd(np.abs(ends[0]), size), np.where(known, strides, 0))


def _moments(rows: NDArray[Any], row: Ints, number: Ints, found: NDArray[Any]) -> None:
    """Set the order of runs: that of the calls of a thread; of several threads, by time."""
    last = number + found["number"].astype(np.int64) - 1
    span = (rows["last_start_ns"] - rows["start_ns"]) / np.maximum(rows["count"] - 1, 1)
    found["start_ns"] = rows["start_ns"][row] + (number * span[row]).astype(np.int64)
    threads = np.unique(
        np.stack([found["rank"], rows["process"][row], rows["thread"][row]]), axis=1
    )
    ranks, n_threads = np.unique(threads[0], return_counts=True)
    several = np.isin(found["rank"], ranks[n_threads > 1])
    for name, k in (("first", number), ("last", last)):
        by_time = rows["start_ns"][row] + (k * span[row]).astype(np.int64)
        levels = levels_of(k, rows["inner"][row])
        order = rows["sequence"][row] + moved(levels, rows["sequence_stride"][row])
        found[name] = np.where(several, by_time, order)


def _through_streams(evidence: Evidence, rows: NDArray[Any], found: NDArray[Any]) -> None:
    """Replace the calls on streams by the requests that the C library made of them."""
    streams = (rows["layer"] == IoLayer.STDIO) & (found["what"] <= Asked.WRITE)
    issued = evidence.profile.issued
    told = {
        (int(one["process"]), int(one["file"]), op): (
            float(one["count"][ops].sum()), float(one["bytes"][ops].sum())
        )
        for one in issued
        for op, ops in ((Asked.READ, [Op.READ]), (Asked.WRITE, [Op.WRITE]))
    }  # fmt: skip
    for process, file, what in np.unique(
        np.stack([rows["process"], found["file"], found["what"]], axis=1)[streams], axis=0
    ).tolist():
        mine = streams & (rows["process"] == process) & (found["file"] == file)
        mine &= found["what"] == what
        asked = found["number"][mine] * found["size"][mine]
        number, size = told.get((process, file, what), (-1.0, 0.0))
        if number < 0:
            number, size = float(-(-asked.sum() // STREAM_BYTES)), float(asked.sum())
        found["number"][mine] = number * asked / asked.sum()
        found["size"][mine] = size / number if number else 0.0
        found["granule"][mine] = 1


def _created(rows: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """Return the rows with the first open that makes a file as a creation."""
    makes = (found["what"] == Asked.OPEN) & ((found["begin"] & OpenBit.CREATE) != 0)
    makes &= (rows["flags"] & EventFlag.FAILED) == 0
    places = np.flatnonzero(makes)
    places = places[np.argsort(found["start_ns"][places], kind="stable")]
    found["what"][places[np.unique(found["file"][places], return_index=True)[1]]] = Asked.CREATE
    return found
