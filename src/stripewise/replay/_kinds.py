# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each row of a trace is to a replay, found once a row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._interned import Interned
from stripewise.model import IoLayer, Op, OpenBit, ShapeKind, Trace
from stripewise.replay._verbs import COLLECTIVE, CREATING, JOINT, REMOVING, verb_of

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_CREATING_BITS = OpenBit.CREATE | OpenBit.TRUNCATE
_COLLECTIVE_OPS = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
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
    rows, names = trace.rows, (*trace.names, "")
    verbs: Interned[str] = Interned()
    kinds = np.zeros(len(rows), KIND_ROW)
    kinds["verb"] = -1
    lost: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    left_out = np.zeros(len(rows), bool)
    find = cache(verb_of)
    unsound = _unsound(trace)
    index = np.flatnonzero(chosen)
    columns = (rows[name][index].tolist() for name in ("layer", "op", "flags", "name", "count"))
    for place, layer, op, flags, number, count in zip(index.tolist(), *columns, strict=True):
        name = names[number]
        found = find(layer, op, flags, name)
        if found is None:
            why = f"{'ADIOS2' if layer == IoLayer.ADIOS2 else name} is not replayed"
        else:
            why = _UNSOUND[unsound[place]].format(name)
        left_out[place] = bool(why)
        if why:
            lost[why] += count
        elif found:
            kinds["verb"][place] = verbs.number(found)
        else:
            skipped[name] += count
    _set_kinds(trace, kinds, verbs.values)
    kept = kinds["verb"] >= 0
    read, written = _bytes_of(rows, kept, _READS), _bytes_of(rows, kept, _WRITES)
    lost_bytes = _bytes_of(rows, left_out, (*_READS, *_WRITES))
    return RowKinds(verbs.values, kinds, read, written, lost_bytes, lost, skipped)


_UNSOUND = (
    "",
    "a selection is not listed completely in the trace",
    "a file view is not listed completely in the trace",
    "{} without its variable is not replayed",
)


def _unsound(trace: Trace) -> NDArray[np.int64]:
    """Return why the description of a call is not enough, (n_rows,) int64 into `_UNSOUND`."""
    rows = trace.rows
    listed = (ShapeKind.BOXES, ShapeKind.POINTS)
    shapes = [one.truncated and one.kind in listed for one in trace.shapes]
    views = [one.truncated for one in trace.views]
    moves = np.isin(rows["op"], (*_READS, *_WRITES))
    of_library = np.isin(rows["layer"], (IoLayer.HDF5, IoLayer.PNETCDF))
    cut_shape = np.array([*shapes, False])[rows["shape"]]  # -1 is the last
    cut_view = np.array([*views, False])[rows["view"]]
    nameless = moves & (rows["bytes"] > 0) & of_library & (rows["object"] < 0)
    return np.select((cut_shape, cut_view, nameless), (1, 2, 3), 0)


def _set_kinds(trace: Trace, kinds: NDArray[Any], verbs: tuple[str, ...]) -> None:
    """Set what follows from the verbs and the rows."""

    def among(names: frozenset[str]) -> NDArray[np.bool_]:
        return np.isin(kinds["verb"], [i for i, verb in enumerate(verbs) if verb in names])

    rows = trace.rows
    kept, op, file = kinds["verb"] >= 0, rows["op"], rows["file"].astype(np.int64)
    kinds["key"] = np.where(file >= 0, (rows["layer"].astype(np.int64) << 32) | file, -1)
    kinds["collective"] = kept & (np.isin(op, _COLLECTIVE_OPS) | among(COLLECTIVE))
    kinds["opens"] = kept & (op == Op.OPEN) & (file >= 0)
    kinds["closes"] = kept & (op == Op.CLOSE)
    kinds["parallel"] = kept & _is_parallel(trace)
    bits = np.where(op == Op.OPEN, rows["offset"], 0)
    kinds["creates"] = kept & (((bits & int(_CREATING_BITS)) != 0) | among(CREATING))
    kinds["removes"] = among(REMOVING)
    kinds["joint"] = among(JOINT)


def _bytes_of(rows: NDArray[Any], kept: NDArray[np.bool_], ops: tuple[Op, ...]) -> int:
    moved = rows[kept & np.isin(rows["op"], ops)]
    return int((moved["bytes"] * moved["count"]).sum())


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
