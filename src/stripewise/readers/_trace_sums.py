# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a profile has out of a trace: its heat map, and the most common sizes of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import DATA_OPS, HEAT_ROW
from stripewise.readers._rows import begins, copy_common

_MOST_BINS = 4096
_KEY = ("process", "file", "layer")


def heat_of(bins: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Add bins up per rank, file and layer on bins of the largest width that occurs.

    Processes start at different times, so a process's bin may lie across two common ones; it
    is divided in proportion.  A process without a rank counts as rank -1.

    Args:
        bins: (n,) `BIN_ROW`.

    Returns:
        (m,) `HEAT_ROW` in order of rank, file, layer and bin; width of a bin in seconds, 0 if
        there are none.
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
    """(m,) `HEAT_ROW` by rank, file, layer and bin, each once, out of (n,) that repeat."""
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
        counters: (n,) `COUNTER_ROW`; its process, file and layer are those of `rows`.
        rows: (m,) `TRACE_ROW`.
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
    """(n,) int64: row of the counters of each row's process, file and layer; -1: none."""
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
    """Each place and size once, and how many calls had it."""
    order = np.lexsort((size, place))
    place, size, count = place[order], size[order], count[order]
    firsts = np.flatnonzero(begins(place, size))
    return place[firsts], size[firsts], np.add.reduceat(count, firsts)
