# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each row of a trace is to a replay, found once a row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._interned import Interned
from stripewise.model import IoLayer, Op, OpenBit, ShapeKind, Trace
from stripewise.replay._verbs import JOINT, SKIPPED, is_collective, verb_of

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_CREATING = OpenBit.CREATE | OpenBit.TRUNCATE
_PARALLEL = (IoLayer.MPIIO, IoLayer.PNETCDF)


KIND_ROW = np.dtype(
    [
        ("key", "<i8"),  # a number for layer and file; -1: without a file
        ("verb", "<i8"),  # index into `RowKinds.verbs`; -1: not replayed
        *((name, "?") for name in ("collective", "opens", "closes", "parallel", "creates")),
        ("removes", "?"),
        ("joint", "?"),  # the ranks make it together as a rule, but it need not be
    ]
)


@dataclass(frozen=True, eq=False)
class RowKinds:
    """What the rows of a trace are.

    Attributes:
        verbs: Those that occur.
        rows: (n_rows,) `KIND_ROW`.
        read_bytes / write_bytes: Moved by calls that are replayed.
        lost_bytes: Moved by calls that cannot be replayed.
        lost: Why, in words, with the number of calls.
        skipped: Name of a call that is left out to their number.
    """

    verbs: tuple[str, ...]
    rows: NDArray[Any]
    read_bytes: int
    write_bytes: int
    lost_bytes: int
    lost: Counter[str]
    skipped: Counter[str]

    @property
    def verb(self) -> NDArray[np.int64]:
        """(n_rows,) int64, as in `KIND_ROW`."""
        return np.asarray(self.rows["verb"])

    def number(self, verb: str) -> int:
        """Return the index of a verb; -2 if no call has it."""
        return self.verbs.index(verb) if verb in self.verbs else -2


def row_kinds(trace: Trace, chosen: NDArray[np.bool_]) -> RowKinds:
    """Return what the chosen rows are."""
    rows, n = trace.rows, len(trace.rows)
    verbs: Interned[str] = Interned()
    kinds = np.zeros(n, KIND_ROW)
    kinds["verb"] = -1
    lost: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    lost_bytes = 0
    for index in np.flatnonzero(chosen):
        row = rows[index]
        name = trace.names[row["name"]] if row["name"] >= 0 else ""
        found = verb_of(int(row["layer"]), int(row["op"]), int(row["flags"]), name)
        why = "" if found is not None else _unknown(int(row["layer"]), name)
        why = why or _truncated(trace, int(row["shape"]), int(row["view"]))
        why = why or _nameless(row, name)
        count = int(row["count"])
        if why:
            lost[why] += count
            lost_bytes += _moved(row) * count
        elif found == SKIPPED or found is None:
            skipped[name] += count
        else:
            kinds["verb"][index] = verbs.number(found)
            kinds["collective"][index] = is_collective(found, int(row["op"]))
    kept, file = kinds["verb"] >= 0, rows["file"].astype(np.int64)
    kinds["key"] = np.where(file >= 0, (rows["layer"].astype(np.int64) << 32) | file, -1)
    kinds["opens"] = kept & (rows["op"] == Op.OPEN) & (file >= 0)
    kinds["closes"] = kept & (rows["op"] == Op.CLOSE)
    kinds["parallel"] = kept & _is_parallel(trace)
    bits = np.where(rows["op"] == Op.OPEN, rows["offset"], 0)
    making = ((bits & int(_CREATING)) != 0) | _is(verbs.values, kinds, "fcreate", "create")
    kinds["creates"] = kept & making
    kinds["removes"] = kept & _is(verbs.values, kinds, "unlink", "delete")
    joint = [number for number, text in enumerate(verbs.values) if text in JOINT]
    kinds["joint"] = np.isin(kinds["verb"], joint)
    read, written = (_bytes_of(trace, kept, ops) for ops in (_READS, _WRITES))
    return RowKinds(verbs.values, kinds, read, written, lost_bytes, lost, skipped)


def _is(verbs: tuple[str, ...], kinds: NDArray[Any], *names: str) -> NDArray[np.bool_]:
    wanted = [i for i, text in enumerate(verbs) if text.partition(".")[2] in names]
    return np.isin(kinds["verb"], wanted)


def _bytes_of(trace: Trace, kept: NDArray[np.bool_], ops: tuple[Op, ...]) -> int:
    rows = trace.rows[kept & np.isin(trace.rows["op"], ops)]
    return int((rows["bytes"] * rows["count"]).sum())


def _moved(row: np.void) -> int:
    return int(row["bytes"]) if row["op"] in (*_READS, *_WRITES) else 0


def _unknown(layer: int, name: str) -> str:
    if layer == IoLayer.ADIOS2:
        return "ADIOS2 is not replayed"
    return f"{name} is not replayed"


def _nameless(row: np.void, name: str) -> str:
    if row["layer"] not in (IoLayer.HDF5, IoLayer.PNETCDF) or row["object"] >= 0:
        return ""
    return f"{name} without its variable is not replayed" if _moved(row) else ""


def _truncated(trace: Trace, shape: int, view: int) -> str:
    if shape >= 0:
        seen = trace.shapes[shape]
        if seen.truncated and seen.kind in (ShapeKind.BOXES, ShapeKind.POINTS):
            return "a selection is not listed completely in the trace"
    if view >= 0 and trace.views[view].truncated:
        return "a file view is not listed completely in the trace"
    return ""


def _is_parallel(trace: Trace) -> NDArray[np.bool_]:
    """Return which opens may be collective: of HDF5 those that opened the file by MPI-IO."""
    rows = trace.rows
    opens = rows["op"] == Op.OPEN
    below = rows[opens & (rows["layer"] == IoLayer.MPIIO) & (rows["parent"] >= 0)]
    known = {(int(r["process"]), int(r["file"]), int(r["parent"])) for r in below}
    parallel = np.isin(rows["layer"], _PARALLEL)
    for index in np.flatnonzero(opens & (rows["layer"] == IoLayer.HDF5)):
        row = rows[index]
        parallel[index] = (int(row["process"]), int(row["file"]), int(row["name"])) in known
    return np.asarray(parallel & opens, dtype=bool)
