# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Derives from a trace which calls and name operations reach the storage without MPI-IO."""

from __future__ import annotations

import os
import re
from collections import Counter
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import (
    DATA_OPS,
    SYSTEM_LAYERS,
    WRITES,
    Action,
    EventFlag,
    Evidence,
    IoLayer,
    Op,
    OpenBit,
    Trace,
    expanded_index,
    levels_of,
    moved,
)

STREAM_BYTES = 4096
"""Size of a request that the C library makes for a stream, if unknown (BUFSIZ of glibc)."""
MOST_RUNS = 2_000_000
"""Maximum number of runs into which folded calls are cut."""
_CLOSE = 8
"""Maximum distance of consecutive calls of a run, counted in calls (chosen)."""

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
    """Return when a file of MPI-IO is first touched, in ns; a very late time if never."""
    rows = trace.rows[trace.rows["file"] >= 0]
    starts = rows["start_ns"][library_files(trace)[rows["file"]]]
    return int(starts.min()) if len(starts) else np.iinfo(np.int64).max


def own_request_rows(evidence: Evidence) -> NDArray[Any]:
    """Return the requests that the program makes itself, below or without MPI-IO.

    Calls on files of MPI-IO count only if the program itself made them.

    Args:
        evidence: Evidence with a trace.

    Returns:
        (n,) `REQUEST_ROW`, by rank and order. Without MPI, a rank is a process.
    """
    trace = evidence.trace
    assert trace is not None
    rows = _own(trace)
    what = _requests(trace, rows)
    kept = what >= 0
    rows, what = rows[kept], what[kept]
    row, number, calls = _runs(rows)
    found = np.zeros(len(row), REQUEST_ROW)
    found["rank"] = (rows["rank"] if trace.n_ranks else rows["process"])[row]
    found["what"], found["file"], found["number"] = what[row], rows["file"][row], calls
    _places(rows[row], number, found)
    _moments(rows, row, number, found)
    _through_streams(evidence, rows[row], found)
    found = np.concatenate([_created(rows[row], found), unrecorded_name_operations(evidence)])
    found = found[found["number"] > 0]
    return found[np.lexsort((found["first"], found["rank"]))]


def _requests(trace: Trace, rows: NDArray[Any]) -> Ints:
    """Return the request of each row, as `Operation`; -1 if there is none."""
    names = np.array([operation_of(name) for name in trace.names] or [-1], np.int64)
    what: Ints = names[rows["name"]]
    data = np.isin(rows["op"], DATA_OPS)
    what[data] = np.isin(rows["op"][data], WRITES)
    what[rows["op"] == Op.OPEN] = Operation.OPEN
    what[(rows["op"] == Op.SYNC) & (rows["layer"] == IoLayer.POSIX)] = Operation.SYNC
    failed = (rows["flags"] & EventFlag.FAILED) != 0
    what[data & (failed | (rows["bytes"] <= 0))] = -1
    return what


def _runs(rows: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Cut folded rows into runs of calls that follow each other closely.

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
    """Return the rows of system calls that neither MPI-IO nor a stream's call represents."""
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
    here = counted_files(trace)
    return np.asarray(rows[~((rows["depth"] > 0) & of_library) & ~of_stream & here[rows["file"]]])


def _places(rows: NDArray[Any], number: Ints, found: NDArray[Any]) -> None:
    """Set the byte range of runs of data calls; for an open, `begin` is its `OpenBit`."""
    known = (rows["flags"] & EventFlag.NO_OFFSET) == 0
    ends = [
        np.where(known, rows["offset"] + moved(levels_of(k, rows["inner"]), rows["stride"]), 0)
        for k in (number, number + found["number"].astype(np.int64) - 1)
    ]
    size = np.where(found["what"] <= Operation.WRITE, rows["bytes"], 0)
    found["size"], found["begin"] = size, ends[0]
    found["low"], found["high"] = np.minimum(*ends), np.maximum(*ends) + size
    strides = np.gcd.reduce(np.abs(rows["stride"]), axis=1)
    found["granule"] = np.gcd(np.gcd(np.abs(ends[0]), size), np.where(known, strides, 0))


def _moments(rows: NDArray[Any], row: Ints, number: Ints, found: NDArray[Any]) -> None:
    """Set the order of runs: by sequence within a thread, by time between threads."""
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
    """Replace the calls on streams by the requests that the C library made for them."""
    streams = (rows["layer"] == IoLayer.STDIO) & (found["what"] <= Operation.WRITE)
    issued = evidence.profile.issued
    counted = {
        (int(one["process"]), int(one["file"]), op): (
            float(one["count"][ops].sum()), float(one["bytes"][ops].sum())
        )
        for one in issued
        for op, ops in ((Operation.READ, [Op.READ]), (Operation.WRITE, [Op.WRITE]))
    }  # fmt: skip
    for process, file, what in np.unique(
        np.stack([rows["process"], found["file"], found["what"]], axis=1)[streams], axis=0
    ).tolist():
        mine = streams & (rows["process"] == process) & (found["file"] == file)
        mine &= found["what"] == what
        sizes = found["number"][mine] * found["size"][mine]
        number, size = counted.get((process, file, what), (-1.0, 0.0))
        if number < 0:
            number, size = float(-(-sizes.sum() // STREAM_BYTES)), float(sizes.sum())
        found["number"][mine] = number * sizes / sizes.sum()
        found["size"][mine] = size / number if number else 0.0
        found["granule"][mine] = 1


def _created(rows: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """Return the rows with the first open that creates a file as a creation."""
    makes = (found["what"] == Operation.OPEN) & ((found["begin"] & OpenBit.CREATE) != 0)
    makes &= (rows["flags"] & EventFlag.FAILED) == 0
    places = np.flatnonzero(makes)
    places = places[np.argsort(found["start_ns"][places], kind="stable")]
    found["what"][places[np.unique(found["file"][places], return_index=True)[1]]] = (
        Operation.CREATE
    )
    return found


# Request of a traced call to the storage.


class Operation(IntEnum):
    """Operation that is requested of the storage."""

    READ = 0
    WRITE = 1
    OPEN = 2
    CREATE = 3
    STAT = 4
    REMOVE = 5
    SYNC = 6


REQUEST_ROW = np.dtype(
    [
        ("rank", "<i8"),
        ("what", "<i8"),  # `Operation`
        ("file", "<i8"),  # index into `Trace.paths`
        ("number", "<f8"),  # number of requests or operations
        ("size", "<f8"),  # bytes of each
        ("begin", "<i8"),  # offset of the first one
        ("low", "<i8"),  # first byte of all of them
        ("high", "<i8"),  # end of all of them
        ("granule", "<i8"),  # divisor of offsets and sizes
        ("first", "<i8"),  # place of the first one in the order of the rank's calls
        ("last", "<i8"),  # place of the last one
        ("start_ns", "<i8"),  # start of the first one
    ]
)
"""Equal calls of one rank."""

_STAT = re.compile(
    r"_*(posix_)?[flx]*(stat(x|fs|vfs)?|access|eaccess|euidaccess|truncate|allocate|chmod|chown"
    r"|utimens?|utimes?|(get|set|list|remove)xattr)(at)?(64)?"
)
_REMOVE = re.compile(r"(mkdir|rmdir|unlink|remove|rename|link|symlink)(at)?2?")


def operation_of(name: str) -> int:
    """Return the operation of a call without an open or data; -1 if it requests nothing."""
    if _STAT.fullmatch(name):
        return Operation.STAT
    return Operation.REMOVE if _REMOVE.fullmatch(name) else -1


# Operations on names that a trace counts by directory, without a row for each.

MUCH_BYTES = 64 << 10
"""Bytes of a file that is only read, from which on it counts as data (chosen)."""
_ACTIONS = {
    Operation.OPEN: (Action.OPEN,),
    Operation.STAT: (
        Action.STAT, Action.ACCESS, Action.LIST, Action.CHANGE, Action.TRUNCATE, Action.STATFS,
    ),
    Operation.REMOVE: (
        Action.MKDIR, Action.RMDIR, Action.UNLINK, Action.RENAME, Action.LINK, Action.SYMLINK,
    ),
}  # fmt: skip
_ON_DESCRIPTOR, _BESIDE = (
    re.compile(r"_*f|posix_f"),
    re.compile(r"_*f(x?stat|access|chmod|chown|utimes)at(64)?"),
)


def unrecorded_name_operations(evidence: Evidence) -> NDArray[Any]:
    """Return operations on names that are in no row of the trace, as `REQUEST_ROW`.

    Only those in directories of the program's data count; queries of file systems by MPI-IO are
    not the program's.
    """
    trace, table = evidence.trace, evidence.profile.names
    if trace is None or not trace.paths or not len(table):
        return np.zeros(0, REQUEST_ROW)
    counted, places = _counted_names(trace), _places_trace_names(trace)
    of_library = bool((trace.rows["layer"] == IoLayer.MPIIO).any())
    found = [np.zeros(0, REQUEST_ROW)]
    for one in table[table["rank"] >= 0] if trace.n_ranks else table:
        directory, process = evidence.profile.directories[one["directory"]], int(one["process"])
        if not _is_here(directory, places):
            continue
        for what, actions in _ACTIONS.items():
            mine = [n for n in actions if not (of_library and n == Action.STATFS)]
            row = np.zeros(1, REQUEST_ROW)
            row["rank"], row["file"] = one["rank"] if trace.n_ranks else process, -1
            row["what"], row["granule"] = what, 1
            row["number"] = one["count"][mine].sum() - counted[process, directory, what]
            found.append(row)
    return np.concatenate(found)


def counted_files(trace: Trace) -> NDArray[np.bool_]:
    """Return which files count: (n_paths,) bool.

    These are files at or below a directory with data of the program, or beside it. Other files
    belong to an interpreter, or to the system.
    """
    directories, places = (
        [os.path.dirname(path) for path in trace.paths],
        _places_trace_names(trace),
    )
    here = {directory: _is_here(directory, places) for directory in set(directories)}
    return np.array([here[directory] for directory in directories], np.bool_)


def _places_trace_names(trace: Trace) -> frozenset[str]:
    """Return the directories of files that are written, or of which much is read."""
    rows = trace.rows[(trace.rows["file"] >= 0) & np.isin(trace.rows["op"], DATA_OPS)]
    moved = np.bincount(
        rows["file"],
        rows["bytes"] * rows["count"] * np.where(np.isin(rows["op"], WRITES), MUCH_BYTES, 1),
        len(trace.paths),
    )
    much = moved >= min(MUCH_BYTES, moved.max(initial=0))
    return frozenset(os.path.dirname(trace.paths[file]) for file in np.flatnonzero(much).tolist())


def _is_here(directory: str, places: frozenset[str]) -> bool:
    if any(os.path.dirname(place) == directory for place in places):
        return True
    while directory not in places:
        if directory in ("", "/"):
            return False
        directory = os.path.dirname(directory)
    return True


def _counted_names(trace: Trace) -> Counter[tuple[int, str, int]]:
    """Count the operations on names in rows of the trace, by process, directory and kind."""
    by_name = np.array([_name_operation(name) for name in trace.names] or [-1], np.int64)
    rows = trace.rows[(trace.rows["file"] >= 0) & np.isin(trace.rows["op"], (Op.OPEN, Op.META))]
    what = np.where(rows["op"] == Op.OPEN, Operation.OPEN, by_name[rows["name"]])
    directories, place = np.unique(
        [os.path.dirname(path) for path in trace.paths], return_inverse=True
    )
    keys = np.stack([rows["process"], place.reshape(-1)[rows["file"]], what], axis=1)[what >= 0]
    different, number = np.unique(keys, axis=0, return_inverse=True)
    counts = np.bincount(number.reshape(-1), rows["count"][what >= 0], len(different))
    return Counter(
        {
            (process, str(directories[directory]), kind): int(count)
            for (process, directory, kind), count in zip(different.tolist(), counts, strict=True)
        }
    )


def _name_operation(function: str) -> int:
    """Return the operation of a function on a name; -1 if none, or if it takes a descriptor."""
    takes_descriptor = _ON_DESCRIPTOR.match(function) and not _BESIDE.fullmatch(function)
    return -1 if takes_descriptor else operation_of(function)
