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
    data = rows[np.isin(rows["op"], _DATA) & (rows["bytes"] > 0) & (rows["file"] >= 0)]
    if not len(data) or not len(counters):
        return
    number = {tuple(key): i for i, key in enumerate(counters[list(_KEY)].tolist())}
    sizes, count = _by_size(data)
    place = np.array([number.get(tuple(key), -1) for key in sizes[list(_KEY)].tolist()])
    order = np.lexsort((-count, place))
    place, size, count = place[order], sizes["bytes"][order], count[order]
    level = np.arange(len(place)) - np.searchsorted(place, place)
    keep = (place >= 0) & (level < counters["common_size"].shape[1])
    place, level = place[keep], level[keep]
    counters["common_size"][place] = 0
    counters["common_count"][place] = 0
    counters["common_size"][place, level] = size[keep]
    counters["common_count"][place, level] = count[keep]


def _by_size(data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """One row per process, file, layer and size, and how many calls had it."""
    names = (*_KEY, "bytes")
    data = data[np.lexsort([data[name] for name in reversed(names)])]
    new = np.ones(len(data), bool)
    new[1:] = False
    for name in names:
        new[1:] |= data[name][1:] != data[name][:-1]
    begins = np.flatnonzero(new)
    return data[begins], np.add.reduceat(data["count"], begins)
