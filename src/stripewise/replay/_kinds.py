# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each row of a trace is to a replay, found once a row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import IoLayer, Op, OpenBit, ShapeKind, Trace
from stripewise.replay._verbs import JOINT, SKIPPED, is_collective, verb_of

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_CREATING = OpenBit.CREATE | OpenBit.TRUNCATE
_PARALLEL = (IoLayer.MPIIO, IoLayer.PNETCDF)


@dataclass(frozen=True, eq=False)
class RowKinds:
    """Of each row, (n_rows,).

    Attributes:
        verb: int64, index into `verbs`; -1 of rows that are not replayed.
        collective / opens / closes / parallel / creates / removes / joint: bool.
        lost_bytes: Moved by calls that cannot be replayed; `moved_bytes`: by all.
        lost: Why, in words, with the number of calls.
        skipped: Name of a call that is left out to their number.
    """

    verbs: tuple[str, ...]
    verb: NDArray[np.int64]
    collective: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    parallel: NDArray[np.bool_]
    creates: NDArray[np.bool_]
    removes: NDArray[np.bool_]
    joint: NDArray[np.bool_]
    read_bytes: int
    write_bytes: int
    lost_bytes: int
    lost: Counter[str]
    skipped: Counter[str]


def row_kinds(trace: Trace, chosen: NDArray[np.bool_]) -> RowKinds:
    """Return what the chosen rows are."""
    rows, n = trace.rows, len(trace.rows)
    verb_names: dict[str, int] = {}
    verb = np.full(n, -1, np.int64)
    collective = np.zeros(n, bool)
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
            verb[index] = verb_names.setdefault(found, len(verb_names))
            collective[index] = is_collective(found, int(row["op"]))
    kept = verb >= 0
    verbs = tuple(verb_names)
    bits = np.where(rows["op"] == Op.OPEN, rows["offset"], 0)
    return RowKinds(
        verbs,
        verb,
        collective,
        kept & (rows["op"] == Op.OPEN),
        kept & (rows["op"] == Op.CLOSE),
        kept & _is_parallel(trace),
        kept & (((bits & int(_CREATING)) != 0) | _is(verbs, verb, "fcreate", "create")),
        kept & _is(verbs, verb, "unlink", "delete"),
        np.isin(verb, [i for i, text in enumerate(verbs) if text in JOINT]),
        _bytes_of(trace, kept, _READS),
        _bytes_of(trace, kept, _WRITES),
        lost_bytes,
        lost,
        skipped,
    )


def _is(verbs: tuple[str, ...], verb: NDArray[np.int64], *names: str) -> NDArray[np.bool_]:
    wanted = [i for i, text in enumerate(verbs) if text.partition(".")[2] in names]
    return np.isin(verb, wanted)


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
