# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Move whole rows of structured arrays: numpy copies them member by member, some times slower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import COUNTER_ROW, HEAT_ROW


def take_rows(rows: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Copy the rows that indices or a mask name; the same as `rows[places]`."""
    taken: NDArray[Any] = _opaque(rows)[places].view(rows.dtype)
    return taken


def join_rows(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Copy rows of one dtype behind each other; there is at least one part."""
    joined: NDArray[Any] = np.concatenate([_opaque(part) for part in parts])
    return joined.view(parts[0].dtype)


def join_in_order(parts: Sequence[NDArray[Any]], order: NDArray[np.int64] | None) -> NDArray[Any]:
    """Join, then take the rows in `order` (None: as they are), with one copy of each."""
    if order is None:
        return join_rows(parts)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    joined = np.empty(len(order), parts[0].dtype)
    begin = 0
    for part in parts:
        _opaque(joined)[place[begin : begin + len(part)]] = _opaque(part)
        begin += len(part)
    return joined


def _opaque(rows: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize)))


def unknown_counters(n: int) -> NDArray[Any]:
    """(n,) `COUNTER_ROW` that say nothing but 0 of what is counted."""
    rows = np.zeros(n, COUNTER_ROW)
    for name in ("process", "unaligned", "maximum_offset", "slowest_rank", "fastest_rank"):
        rows[name] = -1
    for name in ("first", "last", "seconds_deviation", "bytes_deviation"):
        rows[name] = np.nan
    return rows


def summed_heat(rows: NDArray[Any]) -> NDArray[Any]:
    """(m,) `HEAT_ROW` by rank, file, layer and bin, each once, out of (n,) that repeat."""
    keys = [rows[name] for name in ("rank", "file", "layer", "bin")]
    order = np.lexsort(keys[::-1])
    new = np.ones(len(rows), bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    begins = np.flatnonzero(new)
    found = np.zeros(len(begins), HEAT_ROW)
    for name in ("rank", "file", "layer", "bin"):
        found[name] = rows[name][order[begins]]
    for name in ("read_bytes", "write_bytes", "busy_seconds") if len(rows) else ():
        found[name] = np.add.reduceat(rows[name][order], begins)
    return found
