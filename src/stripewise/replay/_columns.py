# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each call of a rank is before it is folded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._members import members
from stripewise.model import EventFlag, Trace
from stripewise.replay._calls import RankCalls
from stripewise.replay._kinds import RowKinds
from stripewise.replay._tables import Tables

_KEPT_FLAGS = int(EventFlag.NO_OFFSET | EventFlag.POINTER | EventFlag.SHARED)
CALL = np.dtype(
    members(
        "i8 verb op flags bytes",  # as in `CALL_ROW`
        "i8 file object detail group offset gap",  # as in `COLUMNS`
        "i8 key",  # equal for calls that differ in offset, place and gap alone
    )
)


def row_columns(trace: Trace, kinds: RowKinds, tables: Tables) -> NDArray[Any]:
    """Return what the calls of each row have in common, (n_rows,) `CALL`; the rest is -1."""
    rows = trace.rows
    found = np.full(len(rows), -1, CALL)
    found["verb"], found["op"], found["bytes"] = kinds.verb, rows["op"], rows["bytes"]
    found["flags"] = rows["flags"] & _KEPT_FLAGS
    known: dict[bytes, int] = {}
    for index in np.flatnonzero(kinds.verb >= 0).tolist():
        one = found[index]
        one["file"], one["object"], one["detail"] = _referred(trace, kinds, tables, index)
        one["key"] = known.setdefault(one.tobytes(), len(known))
    return found


def _referred(trace: Trace, kinds: RowKinds, tables: Tables, index: int) -> tuple[int, int, int]:
    """Return file, object and detail of a row, as numbers of the plan."""
    row, verb = trace.rows[index], kinds.verbs[kinds.verb[index]]
    seen, detail = int(row["object"]), -1
    if verb == "mpiio.set_view":
        detail = tables.view(int(row["view"]))
    elif verb == "hdf5.dset_extent":
        detail = tables.whole(seen)
    elif int(row["memory"]) >= 0:
        detail = tables.buffer(int(row["memory"]))
    elif int(row["shape"]) >= 0:
        detail = tables.shape(int(row["shape"]))
    return tables.file(int(row["file"])), tables.object(seen), detail


def call_columns(
    trace: Trace,
    tables: Tables,
    kinds: RowKinds,
    calls: RankCalls,
    common: NDArray[Any],
    groups: Iterable[tuple[int, int]],
) -> NDArray[Any]:
    """Return the calls of one rank, (n,) `CALL`.

    Args:
        trace: Of the run.
        tables: For the numbers of groups of HDF5.
        kinds: What the rows are.
        calls: Of the rank.
        common: Of `row_columns`.
        groups: (place of an open, number of its communicator).
    """
    found = common[calls.row]
    found["offset"], found["gap"] = calls.offset, calls.gap
    for place, number in groups:
        found["group"][place] = number
    _name_groups(trace, kinds, calls, tables, found)
    found["key"] = combined(found["key"], found["group"], found["object"])
    return found


def combined(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that are equal where all parts are."""
    key = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        _, number = np.unique(part, return_inverse=True)
        key = key * (int(number.max(initial=0)) + 1) + number.reshape(-1)
    return key


def _name_groups(
    trace: Trace, kinds: RowKinds, calls: RankCalls, tables: Tables, found: NDArray[Any]
) -> None:
    """Name groups, which a trace does not, after the datasets that are created next."""
    making, creating = kinds.number("hdf5.gcreate"), kinds.number("hdf5.dcreate")
    verb = found["verb"]
    waiting: dict[int, list[int]] = {}
    made: set[tuple[int, str]] = set()
    for place in map(int, np.flatnonzero((verb == making) | (verb == creating))):
        file = int(found["file"][place])
        if verb[place] == making:
            waiting.setdefault(file, []).append(place)
            continue
        index = int(trace.rows["object"][calls.row[place]])
        name = trace.objects[index].name if index >= 0 else ""
        above = [str(parent) for parent in PurePosixPath(name).parents]
        for parent in above[-2::-1]:  # the outermost group first, without the root
            if (file, parent) not in made and waiting.get(file):
                found["object"][waiting[file].pop(0)] = tables.group(parent)
            made.add((file, parent))
    nameless = [place for places in waiting.values() for place in places]
    for number, place in enumerate(sorted(nameless)):
        found["object"][place] = tables.group(f"/group-{number}")
