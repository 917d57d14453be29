# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Most common sizes of calls, out of a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op

_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
_KEY = ("process", "file", "layer")


def add_common_sizes(counters: NDArray[Any], rows: NDArray[Any]) -> None:
    """Fill `common_size` and `common_count` of counters from the calls of the same run, in place.

    Args:
        counters: (n,) `COUNTER_ROW`; its process, file and layer are those of `rows`.
        rows: (m,) `TRACE_ROW`.
    """
    moved = np.isin(rows["op"], _DATA) & (rows["bytes"] > 0) & (rows["file"] >= 0)
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
    new = np.ones(len(place), bool)
    new[1:] = (place[1:] != place[:-1]) | (size[1:] != size[:-1])
    begins = np.flatnonzero(new)
    return place[begins], size[begins], np.add.reduceat(count, begins)
