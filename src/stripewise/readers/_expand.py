# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of equal calls -> single calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index, levels_of, moved
from stripewise._members import members
from stripewise.errors import TraceError
from stripewise.model import Pieces, Trace
from stripewise.readers._rows import take_rows

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

The members of `TRACE_ROW`, and: `row`, its row in what was expanded; `parent_index`, the place
of the call that it serves in the same array, -1: none, or not among them.  `start_ns` and
`duration_ns` of a call from a folded run are estimates: spread evenly between the run's first
and last start, and the mean.
"""

_SAME = (
    *("process", "rank", "thread", "file", "name", "parent", "object", "shape"),
    *("view", "memory", "layer", "op", "depth", "flags", "bytes"),
)


def expand(trace: Trace, rows: NDArray[Any] | None = None) -> NDArray[Any]:
    """Expand runs to calls, ordered by process, thread and sequence.

    Args:
        trace: Whose runs.
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
    """(n,) int64: order of all rows by process, thread and sequence; None: they are in order."""
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
    """For each range of folded pieces: (n,) the index of its row, (n,) its first byte."""
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
    """(n,) int64: the last call before each one with a smaller depth, if it is its parent."""
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
