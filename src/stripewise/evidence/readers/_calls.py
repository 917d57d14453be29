# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collects single calls of other tools into a trace, and counts them for a profile."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Gap
from stripewise.evidence.containers import make_single
from stripewise.evidence.readers._waits import with_waits_apart
from stripewise.evidence.trace import (
    DATA_OPS,
    HEAT_ROW,
    SIZE_EDGES,
    SYSTEM_LAYERS,
    TRACE_ROW,
    WRITES,
    EventFlag,
    Evidence,
    Interned,
    IoLayer,
    Op,
    Pieces,
    RunProfile,
    Selections,
    Trace,
    TraceObject,
    TraceShape,
    TraceView,
    accesses,
    add_common_sizes,
    expanded_index,
    groups,
    summed_heat,
    unknown_counters,
)

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_COLUMNS = (
    *("rank", "thread", "file", "name", "parent", "object", "shape", "view"),
    *("layer", "op", "depth", "flags", "offset", "bytes", "start_ns", "end_ns"),
)
_N_COLUMNS = len(_COLUMNS)
_HEAT_BINS = 100
_LIMIT = 1 << 62
_MOST_SECONDS = 4e9


class CallLog:
    """Calls as columns, one row each, and the tables that their numbers refer to."""

    def __init__(self) -> None:
        self.paths: Interned[str] = Interned()
        self.names: Interned[str] = Interned()
        self.objects: Interned[TraceObject] = Interned()
        self.shapes: Interned[TraceShape] = Interned()
        self.views: Interned[TraceView] = Interned()
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values) // _N_COLUMNS

    def add(
        self,
        rank: int,
        name: str,
        layer: IoLayer,
        op: Op,
        *,
        path: str = "",
        start: float = 0.0,
        end: float = 0.0,
        offset: int | None = None,
        n_bytes: int = 0,
        flags: int = 0,
        thread: int = 0,
        depth: int = 0,
        parent: int = -1,
        object_: int = -1,
        shape: int = -1,
        view: int = -1,
    ) -> int:
        """Add a call; return the index of its name.

        `start` and `end` are seconds since the origin of the trace; an `offset` of None is
        unknown. The other arguments are as in `TRACE_ROW`.
        """
        file = self.paths.number(path) if path else -1
        name_index = self.names.number(name)
        if offset is None:
            offset, flags = 0, flags | EventFlag.NO_OFFSET
        begin = _nanoseconds(start)
        finish = max(_nanoseconds(end), begin)
        self._values.extend(
            (
                *(rank, thread, file, name_index, parent, object_, shape, view),
                *(int(layer), int(op), min(depth, 255), int(flags)),
                *(_bounded(offset), max(_bounded(n_bytes), 0), begin, finish),
            )
        )
        return name_index

    def rows(self) -> NDArray[Any]:
        """Return (n,) `TRACE_ROW`, ordered by rank, thread and time."""
        table = np.array(self._values, np.int64).reshape(-1, _N_COLUMNS)
        rows = np.zeros(len(table), TRACE_ROW)
        for place, column in enumerate(_COLUMNS):
            rows[column] = table[:, place]
        rows["memory"] = -1
        make_single(rows, rows["end_ns"] - rows["start_ns"])
        order = np.lexsort((rows["depth"], rows["start_ns"], rows["thread"], rows["rank"]))
        rows = rows[order]
        _number(rows)
        return rows


def _nanoseconds(seconds: float) -> int:
    if not 0 <= seconds <= _MOST_SECONDS:
        return 0
    return round(seconds * 1e9)


def _bounded(value: int) -> int:
    return value if -_LIMIT < value < _LIMIT else 0


def _number(rows: NDArray[Any]) -> None:
    """Number the calls of each thread."""
    if not len(rows):
        return
    new = np.ones(len(rows), bool)
    new[1:] = (rows["rank"][1:] != rows["rank"][:-1]) | (rows["thread"][1:] != rows["thread"][:-1])
    starts = np.flatnonzero(new)
    rows["sequence"] = np.arange(len(rows)) - starts[np.cumsum(new) - 1]


def set_processes(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Number processes by rank, also in the rows; return `Trace.process_rank`."""
    ranks, place = np.unique(rows["rank"], return_inverse=True)
    rows["process"] = place.reshape(-1)
    return ranks.astype(np.int64)


def evidence_of(
    log: CallLog,
    rows: NDArray[Any],
    notes: Sequence[str],
    *,
    more_notes: Sequence[str] = (),
    n_processes: int = 0,
    layers: tuple[str, ...],
    partial: bool,
    gaps: Sequence[Gap] = (),
    **run: Any,
) -> Evidence:
    """Return the evidence that the calls of a run provide.

    Args:
        log: Log with the tables that the numbers in the rows refer to.
        rows: (n,) `TRACE_ROW` from the log.
        notes: Notes of the trace and the profile.
        more_notes: Notes of only the profile.
        n_processes: Number of the program's processes; 0 for as many as made calls.
        layers: Layers that were observed.
        partial: Whether something is missing.
        gaps: Amounts that are unknown or incomplete.
        **run: `source`, `n_ranks` and `start`, as in `Trace`.
    """
    ranks = set_processes(rows)
    trace = Trace(
        rows=rows,
        names=log.names.values,
        paths=log.paths.values,
        objects=log.objects.values,
        shapes=log.shapes.values,
        views=log.views.values,
        process_rank=ranks,
        process_host=np.full(len(ranks), -1, np.int64),
        notes=tuple(notes),
        **run,
    )
    elapsed = float(rows["end_ns"].max(initial=0)) * 1e-9
    heat, width = heat_of(trace, elapsed)
    profile = RunProfile(
        n_processes=n_processes or len(ranks),
        elapsed_seconds=elapsed,
        paths=trace.paths,
        counters=with_waits_apart(counters_of(trace), trace.paths),
        layers=layers,
        heat=heat,
        heat_bin_seconds=width,
        partial=partial,
        damaged=partial,
        gaps=tuple(gaps),
        notes=(*notes, *more_notes),
        **run,
    )
    return Evidence(profile, trace, foreign_accesses(trace))


def counters_of(trace: Trace) -> NDArray[Any]:
    """Return (n,) `COUNTER_ROW` per file, layer and rank; each row of the trace is one call."""
    calls = trace.rows[trace.rows["file"] >= 0]
    keys = np.stack([calls["file"], calls["layer"].astype(np.int32), calls["rank"]], axis=1)
    unique, owner = np.unique(keys, axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    rows = unknown_counters(len(unique))
    rows["file"], rows["layer"], rows["rank"] = unique.reshape(-1, 3).T
    rows["process"] = np.searchsorted(trace.process_rank, rows["rank"])
    np.add.at(rows["count"], (owner, calls["op"]), 1)
    np.add.at(rows["bytes"], (owner, calls["op"]), calls["bytes"])
    np.add.at(rows["seconds"], (owner, calls["op"]), calls["busy_ns"] * 1e-9)
    _count_outermost(rows, calls, owner)
    _count_span(rows, calls, owner)
    for ops, sizes, kind in ((_READS, "read_sizes", "reads"), (_WRITES, "write_sizes", "writes")):
        chosen = np.isin(calls["op"], ops)
        bins = np.searchsorted(SIZE_EDGES, calls["bytes"][chosen], side="right") - 1
        np.add.at(rows[sizes], (owner[chosen], bins), 1)
        _count_order(rows, calls[chosen], owner[chosen], kind)
    add_common_sizes(rows, calls)
    return rows


def _count_outermost(rows: NDArray[Any], calls: NDArray[Any], owner: NDArray[np.intp]) -> None:
    own = calls["parent"] < 0
    np.add.at(rows["outermost_seconds"], owner[own], calls["busy_ns"][own] * 1e-9)
    for ops, name in ((_READS, "outermost_read_bytes"), (_WRITES, "outermost_write_bytes")):
        chosen = own & np.isin(calls["op"], ops)
        np.add.at(rows[name], owner[chosen], calls["bytes"][chosen])


def _count_span(rows: NDArray[Any], calls: NDArray[Any], owner: NDArray[np.intp]) -> None:
    data = np.isin(calls["op"], (*_READS, *_WRITES))
    first, last = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(first, owner[data], calls["start_ns"][data] * 1e-9)
    np.maximum.at(last, owner[data], calls["end_ns"][data] * 1e-9)
    rows["first"] = np.where(np.isfinite(first), first, np.nan)
    rows["last"] = np.where(np.isfinite(last), last, np.nan)
    known = data & np.isin(calls["layer"], (IoLayer.POSIX, IoLayer.STDIO))
    known &= (calls["flags"] & EventFlag.NO_OFFSET) == 0
    np.maximum.at(
        rows["maximum_offset"], owner[known], calls["offset"][known] + calls["bytes"][known]
    )


def _count_order(
    rows: NDArray[Any], calls: NDArray[Any], owner: NDArray[np.intp], kind: str
) -> None:
    """Count sequential (begins behind the last) and consecutive (begins at its end) calls."""
    known = np.isin(calls["layer"], (IoLayer.POSIX, IoLayer.STDIO))
    known &= (calls["flags"] & EventFlag.NO_OFFSET) == 0
    calls, owner = calls[known], owner[known]
    order = np.lexsort((calls["sequence"], calls["thread"], owner))
    calls, owner = calls[order], owner[order]
    same = owner[1:] == owner[:-1]
    ends = (calls["offset"] + calls["bytes"])[:-1]
    starts = calls["offset"][1:]
    np.add.at(rows[f"sequential_{kind}"], owner[1:][same & (starts >= ends)], 1)
    np.add.at(rows[f"consecutive_{kind}"], owner[1:][same & (starts == ends)], 1)


def heat_of(trace: Trace, elapsed_seconds: float) -> tuple[NDArray[Any], float]:
    """Return heat rows by rank, file and layer from calls, spread evenly over their time.

    Returns:
        (m,) `HEAT_ROW`, and the width of a bin in seconds, a hundredth of the run.
    """
    calls = trace.rows[np.isin(trace.rows["op"], (*_READS, *_WRITES))]
    end = float(calls["end_ns"].max(initial=0)) * 1e-9
    width = max(elapsed_seconds, end) / _HEAT_BINS
    if not len(calls) or width <= 0:
        return np.zeros(0, HEAT_ROW), 0.0
    first = np.minimum((calls["start_ns"] * 1e-9 / width).astype(np.int64), _HEAT_BINS - 1)
    last = np.minimum((calls["end_ns"] * 1e-9 / width).astype(np.int64), _HEAT_BINS - 1)
    owner, number = expanded_index(last - first + 1)
    bins = first[owner] + number
    return _heat_sums(calls, owner, bins, width), width


def _heat_sums(
    calls: NDArray[Any], owner: NDArray[np.intp], bins: NDArray[np.int64], width: float
) -> NDArray[Any]:
    begin, end = calls["start_ns"][owner] * 1e-9, calls["end_ns"][owner] * 1e-9
    inside = np.minimum(end, (bins + 1) * width) - np.maximum(begin, bins * width)
    inside = np.where(bins == _HEAT_BINS - 1, end - np.maximum(begin, bins * width), inside)
    busy = np.maximum(inside, 0.0)
    length = end - begin
    share = np.divide(busy, length, out=np.ones_like(busy), where=length > 0)
    rows = np.zeros(len(owner), HEAT_ROW)
    for name in ("rank", "file", "layer"):
        rows[name] = calls[name][owner]
    rows["bin"], rows["busy_seconds"] = bins, busy
    moved = calls["bytes"][owner] * share
    reading = np.isin(calls["op"][owner], _READS)
    rows["read_bytes"], rows["write_bytes"] = moved * reading, moved * ~reading
    return summed_heat(rows)


# Accesses of traces that do not contain the file views of MPI-IO.

_NOTE = (
    "from the system calls below MPI-IO, since the source does not record its file views: with"
    " collective buffering they are the aggregators' accesses"
)


def foreign_accesses(trace: Trace, *, knows_views: bool = True) -> tuple[Selections | Pieces, ...]:
    """Find accesses as `readers.accesses` does.

    If the offsets of a file's MPI-IO calls are unknown, its system calls are used instead.

    Args:
        trace: Trace whose rows are single calls.
        knows_views: Whether views of MPI-IO calls are in the trace, with or without holes.
    """
    rows = trace.rows.copy()
    data = np.isin(rows["op"], DATA_OPS) & (rows["file"] >= 0)
    of_mpi = data & (rows["layer"] == IoLayer.MPIIO)
    system = data & np.isin(rows["layer"], SYSTEM_LAYERS) & (rows["bytes"] > 0)
    placed = of_mpi & _placed(trace, rows) & knows_views
    instead: set[tuple[str, bool]] = set()
    dropped = np.zeros(len(rows), bool)
    places = np.flatnonzero(of_mpi | system)
    chosen = rows[places]
    for (file, writing), group in groups(chosen["file"], np.isin(chosen["op"], WRITES)):
        mine = places[group]
        if placed[mine][of_mpi[mine]].all() or not system[mine].any():
            continue
        instead.add((trace.paths[file], bool(writing)))
        dropped[mine[of_mpi[mine]]] = True
        rows["depth"][mine[system[mine]]] = 0
    found = accesses(replace(trace, rows=rows[~dropped]))
    return tuple(_with_note(entry, instead) for entry in found)


def _placed(trace: Trace, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: whether the call has an offset and a size, in a view without holes."""
    whole = np.array([*(view.contiguous for view in trace.views), True], bool)
    known = (rows["flags"] & EventFlag.NO_OFFSET) == 0
    return np.asarray(known & (rows["bytes"] > 0) & whole[rows["view"]])


def _with_note(entry: Selections | Pieces, instead: set[tuple[str, bool]]) -> Selections | Pieces:
    if isinstance(entry, Pieces) and (entry.file, entry.writing) in instead:
        return replace(entry, notes=(*entry.notes, _NOTE))
    return entry
