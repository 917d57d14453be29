# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Expands folded calls of a trace, and aggregates calls into a heat map and common sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import TraceError
from stripewise.evidence.trace._rows import begins, copy_common, take_rows
from stripewise.evidence.trace._run_profile import HEAT_ROW
from stripewise.evidence.trace._trace import (
    DATA_OPS,
    Pieces,
    Trace,
    expanded_index,
    levels_of,
    members,
    moved,
)

MOST_CALLS = 20_000_000

CALL_ROW = np.dtype(
    members(
        "i4 process rank thread file name parent object shape view memory",
        "u1 layer op depth",
        "u2 flags",
        "i8 offset bytes sequence start_ns duration_ns row parent_index",
    ),
)
"""One call.

The members of `TRACE_ROW`, and: `row`, its row in the expanded table; `parent_index`, the place in
the same array of the call that made it, or -1. `start_ns` and `duration_ns` of a call from a
folded run are estimates: spread evenly between the run's first and last start, and the mean.
"""

_SAME = (
    *("process", "rank", "thread", "file", "name", "parent", "object", "shape"),
    *("view", "memory", "layer", "op", "depth", "flags", "bytes"),
)


def expand(trace: Trace, rows: NDArray[Any] | None = None) -> NDArray[Any]:
    """Expand runs to calls, ordered by process, thread and sequence.

    Args:
        trace: Trace that contains the runs.
        rows: (n,) `TRACE_ROW` to expand, some of `trace.rows`; all of them if not given.

    Returns:
        (n_calls,) `CALL_ROW`.

    Raises:
        TraceError: There are more calls than `MOST_CALLS`.
    """
    table = trace.rows if rows is None else rows
    total = float(table["count"].sum(dtype=np.float64))
    if total > MOST_CALLS:
        raise TraceError(
            f"the trace has {total:.0f} calls, more than the {MOST_CALLS} that are expanded at "
            "once; choose some of them (ranks, files, a layer)"
        )
    row, k = expanded_index(table["count"])
    calls = np.zeros(len(row), CALL_ROW)
    for name in _SAME:
        calls[name] = table[name][row]
    calls["row"] = row
    levels = levels_of(k, table["inner"][row])
    for name, stride in (("offset", "stride"), ("sequence", "sequence_stride")):
        calls[name] = table[name][row] + moved(levels, table[stride][row])
    _spread_times(calls, table, row, k)
    order = call_order(calls)
    calls = calls if order is None else take_rows(calls, order)
    calls["parent_index"] = _parents(calls)
    return calls


def call_order(*parts: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return (n,) int64: order of rows by process, thread, sequence; None if in order."""
    if not sum(map(len, parts)):
        return None
    columns = [
        np.concatenate([part[name] for part in parts]).astype(np.int64)
        for name in ("process", "thread", "sequence")
    ]
    lows = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if spans[0] * spans[1] * spans[2] >= 2**63:
        return np.lexsort(columns[::-1])
    key = columns[0] - lows[0]
    for column, low, span in zip(columns[1:], lows[1:], spans[1:], strict=True):
        key *= span
        key += column - low
    return None if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")


def unfolded(pieces: Pieces) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n,) row index and (n,) first byte of each range of folded pieces."""
    row, k = expanded_index(pieces.repeat)
    levels = levels_of(k, pieces.inner[row])
    return row, pieces.offset[row] + moved(levels, pieces.stride[row])


def _spread_times(
    calls: NDArray[Any], table: NDArray[Any], row: NDArray[np.int64], k: NDArray[np.int64]
) -> None:
    count = table["count"]
    span = np.maximum(table["last_start_ns"] - table["start_ns"], 0)
    step = span / np.maximum(count - 1, 1)
    calls["start_ns"] = table["start_ns"][row] + (k * step[row]).astype(np.int64)
    last = (k == count[row] - 1) & (k > 0)
    calls["start_ns"][last] = table["last_start_ns"][row[last]]
    calls["duration_ns"] = (table["busy_ns"] // np.maximum(count, 1))[row]


def _parents(calls: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: the last call of smaller depth before each, if it is the parent."""
    place = np.arange(len(calls))
    found = np.full(len(calls), -1)
    depth = calls["depth"]
    for level in np.unique(depth[depth > 0]).tolist():
        last = np.maximum.accumulate(np.where(depth < level, place, -1))
        mine = depth == level
        found[mine] = last[mine]
    of = np.maximum(found, 0)
    fits = (found >= 0) & (calls["parent"] >= 0) & (calls["name"][of] == calls["parent"])
    fits &= (calls["process"][of] == calls["process"]) & (calls["thread"][of] == calls["thread"])
    return np.where(fits, found, -1)


# Figures of a profile that come from a trace: its heat map, and the common sizes of calls.

_MOST_BINS = 4096
_KEY = ("process", "file", "layer")


def heat_of(bins: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Add up bins per rank, file and layer in bins of the largest width that occurs.

    Processes start at different times, so a process's bin may overlap two common ones; it is
    divided in proportion. A process without a rank counts as rank -1.

    Args:
        bins: (n,) `BIN_ROW` of the processes.

    Returns:
        (m,) `HEAT_ROW` in order of rank, file, layer and bin; width of a bin in seconds, 0 if
        there are no bins.
    """
    if not len(bins):
        return np.zeros(0, HEAT_ROW), 0.0
    width = int(bins["width_ns"].max())
    span = int((bins["start_ns"] + bins["width_ns"]).max())
    while span // width > _MOST_BINS:
        width *= 2
    start = np.maximum(bins["start_ns"], 0)
    first = start // width
    inside = np.minimum((first + 1) * width - start, bins["width_ns"])
    share = inside / bins["width_ns"]
    parts = [_part(bins, first, share)]
    across = share < 1
    if across.any():
        parts.append(_part(bins[across], first[across] + 1, 1 - share[across]))
    return summed_heat(np.concatenate(parts)), width * 1e-9


def _part(bins: NDArray[Any], place: NDArray[np.int64], share: NDArray[Any]) -> NDArray[Any]:
    rows = np.zeros(len(bins), HEAT_ROW)
    copy_common(rows, bins)
    rows["bin"], rows["busy_seconds"] = place, bins["busy_ns"] * share * 1e-9
    for name in ("read_bytes", "write_bytes"):
        rows[name] *= share
    return rows


def summed_heat(rows: NDArray[Any]) -> NDArray[Any]:
    """Return (m,) `HEAT_ROW` with one sum for each rank, file, layer and bin of (n,) rows."""
    keys = [rows[name] for name in ("rank", "file", "layer", "bin")]
    order = np.lexsort(keys[::-1])
    firsts = np.flatnonzero(begins(*(key[order] for key in keys)))
    found = np.zeros(len(firsts), HEAT_ROW)
    for name in ("rank", "file", "layer", "bin"):
        found[name] = rows[name][order[firsts]]
    for name in ("read_bytes", "write_bytes", "busy_seconds") if len(rows) else ():
        found[name] = np.add.reduceat(rows[name][order], firsts)
    return found


def add_common_sizes(counters: NDArray[Any], rows: NDArray[Any]) -> None:
    """Fill `common_size` and `common_count` of counters from the calls of the same run, in place.

    Args:
        counters: (n,) `COUNTER_ROW` with the same process, file and layer as in `rows`.
        rows: (m,) `TRACE_ROW` of the calls.
    """
    moved = np.isin(rows["op"], DATA_OPS) & (rows["bytes"] > 0) & (rows["file"] >= 0)
    if not moved.any() or not len(counters):
        return
    place = _place_of(counters, rows)[moved]
    place, size, count = _by_size(place, rows["bytes"][moved], rows["count"][moved])
    order = np.lexsort((-count, place))
    place, size, count = place[order], size[order], count[order]
    level = np.arange(len(place)) - np.searchsorted(place, place)
    keep = (place >= 0) & (level < counters["common_size"].shape[1])
    place, level = place[keep], level[keep]
    counters["common_size"][place] = 0
    counters["common_count"][place] = 0
    counters["common_size"][place, level] = size[keep]
    counters["common_count"][place, level] = count[keep]


def _place_of(counters: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: row of the counters of each row's process, file and layer, or -1."""
    columns = [np.concatenate([counters[name], rows[name]]).astype(np.int64) + 1 for name in _KEY]
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max()) + 1) + column
    own, wanted = key[: len(counters)], key[len(counters) :]
    order = np.argsort(own, kind="stable")
    at = np.minimum(np.searchsorted(own[order], wanted), len(own) - 1)
    return np.where(own[order][at] == wanted, order[at], -1)


def _by_size(
    place: NDArray[np.int64], size: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each distinct place and size, and how many calls had it."""
    order = np.lexsort((size, place))
    place, size, count = place[order], size[order], count[order]
    firsts = np.flatnonzero(begins(place, size))
    return place[firsts], size[firsts], np.add.reduceat(count, firsts)
