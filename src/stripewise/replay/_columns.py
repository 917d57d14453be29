# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each call of a rank is, column by column, before it is folded."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import EventFlag, Trace
from stripewise.replay._calls import RankCalls
from stripewise.replay._growth import Growth
from stripewise.replay._kinds import RowKinds
from stripewise.replay._tables import Tables

_FIXED = ("verb", "op", "flags", "bytes", "file", "object", "detail")
_KEPT_FLAGS = int(EventFlag.NO_OFFSET | EventFlag.POINTER | EventFlag.SHARED)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of the calls of one rank by name, (n,) int64 each.

    Attributes:
        key: Equal for calls that differ in offset, place and gap alone.
    """

    values: dict[str, NDArray[np.int64]]
    key: NDArray[np.int64]

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        """Return a column."""
        return self.values[name]


def row_columns(trace: Trace, kinds: RowKinds, tables: Tables) -> NDArray[np.int64]:
    """Return (n_rows, 8) int64: the columns of `_FIXED`, and a number for equal ones."""
    rows = trace.rows
    found = np.full((len(rows), len(_FIXED) + 1), -1, np.int64)
    found[:, 0] = kinds.verb
    found[:, 1] = rows["op"]
    found[:, 2] = rows["flags"] & _KEPT_FLAGS
    found[:, 3] = rows["bytes"]
    known: dict[bytes, int] = {}
    for index in np.flatnonzero(kinds.verb >= 0):
        found[index, 4:7] = _referred(trace, kinds, tables, int(index))
        found[index, 7] = known.setdefault(found[index, :7].tobytes(), len(known))
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
    fixed: NDArray[np.int64],
    group: NDArray[np.int64],
    gaps: NDArray[np.int64],
    growth: Growth,
) -> Columns:
    """Return the columns of one rank."""
    values = {name: fixed[calls.row, i] for i, name in enumerate(_FIXED)}
    values["offset"] = np.where(values["flags"] & int(EventFlag.NO_OFFSET), -1, calls.offset)
    growth.offsets(kinds, calls, values["offset"])
    values["gap"] = gaps.copy()
    values["group"] = group
    _name_groups(trace, kinds, calls, tables, values)
    key = combined(fixed[calls.row, -1], group, values["object"])
    return Columns(values, key)


def combined(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that are equal where all parts are."""
    key = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        _, number = np.unique(part, return_inverse=True)
        key = key * (int(number.max(initial=0)) + 1) + number.reshape(-1)
    return key


def _name_groups(
    trace: Trace,
    kinds: RowKinds,
    calls: RankCalls,
    tables: Tables,
    values: dict[str, NDArray[np.int64]],
) -> None:
    """Name groups, which a trace does not, after the datasets that are created next."""
    making, creating = kinds.number("hdf5.gcreate"), kinds.number("hdf5.dcreate")
    verb = values["verb"]
    waiting: dict[int, list[int]] = {}
    made: set[tuple[int, str]] = set()
    for place in map(int, np.flatnonzero((verb == making) | (verb == creating))):
        file = int(values["file"][place])
        if verb[place] == making:
            waiting.setdefault(file, []).append(place)
            continue
        index = int(trace.rows["object"][calls.row[place]])
        name = trace.objects[index].name if index >= 0 else ""
        for parent in _parents(name):
            if (file, parent) not in made and waiting.get(file):
                values["object"][waiting[file].pop(0)] = tables.group(parent)
            made.add((file, parent))
    nameless = [place for places in waiting.values() for place in places]
    for number, place in enumerate(sorted(nameless)):
        values["object"][place] = tables.group(f"/group-{number}")


def _parents(name: str) -> list[str]:
    """Return the groups above a dataset, the outermost first."""
    found: list[str] = []
    parent = posixpath.dirname(name)
    while parent not in ("", "/"):
        found.append(parent)
        parent = posixpath.dirname(parent)
    return found[::-1]
