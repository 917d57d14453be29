# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Operations on names that a trace counts by directory, without a row for each."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import DATA_OPS, WRITES, Action, Evidence, IoLayer, Op, Trace
from stripewise.simulation._trace_asked import ASKED_ROW, Asked, operation_of

MUCH_BYTES = 64 << 10
"""Of a file that is only read, from which on it counts as data (chosen)."""
_ACTIONS = {
    Asked.OPEN: (Action.OPEN,),
    Asked.STAT: (
        Action.STAT, Action.ACCESS, Action.LIST, Action.CHANGE, Action.TRUNCATE, Action.STATFS,
    ),
    Asked.REMOVE: (
        Action.MKDIR, Action.RMDIR, Action.UNLINK, Action.RENAME, Action.LINK, Action.SYMLINK,
    ),
}  # fmt: skip
_ON_DESCRIPTOR, _BESIDE = (
    re.compile(r"_*f|posix_f"),
    re.compile(r"_*f(x?stat|access|chmod|chown|utimes)at(64)?"),
)


def names_left(evidence: Evidence) -> NDArray[Any]:
    """Return operations on names that stand in no row of the trace, as `ASKED_ROW`.

    Only those in directories of the program's data; what MPI-IO asks about file systems is not
    the program's.
    """
    trace, table = evidence.trace, evidence.profile.names
    if trace is None or not trace.paths or not len(table):
        return np.zeros(0, ASKED_ROW)
    told, places = _told(trace), _places(trace)
    of_library = bool((trace.rows["layer"] == IoLayer.MPIIO).any())
    found = [np.zeros(0, ASKED_ROW)]
    for one in table[table["rank"] >= 0] if trace.n_ranks else table:
        directory, process = evidence.profile.directories[one["directory"]], int(one["process"])
        if not _is_here(directory, places):
            continue
        for what, actions in _ACTIONS.items():
            mine = [n for n in actions if not (of_library and n == Action.STATFS)]
            row = np.zeros(1, ASKED_ROW)
            row["rank"], row["file"] = one["rank"] if trace.n_ranks else process, -1
            row["what"], row["granule"] = what, 1
            row["number"] = one["count"][mine].sum() - told[process, directory, what]
            found.append(row)
    return np.concatenate(found)


def files_here(trace: Trace) -> NDArray[np.bool_]:
    """Return which files count: (n_paths,) bool.

    Those at or below a directory with data of the program, and those beside it.  Other files are
    of an interpreter, or of the system.
    """
    directories, places = [os.path.dirname(path) for path in trace.paths], _places(trace)
    here = {directory: _is_here(directory, places) for directory in set(directories)}
    return np.array([here[directory] for directory in directories], np.bool_)


def _places(trace: Trace) -> frozenset[str]:
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


def _told(trace: Trace) -> Counter[tuple[int, str, int]]:
    """Count the operations on names in rows of the trace, by process, directory and kind."""
    by_name = np.array([_of_a_name(name) for name in trace.names] or [-1], np.int64)
    rows = trace.rows[(trace.rows["file"] >= 0) & np.isin(trace.rows["op"], (Op.OPEN, Op.META))]
    what = np.where(rows["op"] == Op.OPEN, Asked.OPEN, by_name[rows["name"]])
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


def _of_a_name(function: str) -> int:
    """Return what a function does to a name; -1: nothing, or it takes a descriptor."""
    takes_descriptor = _ON_DESCRIPTOR.match(function) and not _BESIDE.fullmatch(function)
    return -1 if takes_descriptor else operation_of(function)
