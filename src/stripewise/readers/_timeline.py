# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The clocks of a run's processes, joined into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Timeline:
    """One clock for all processes.

    Attributes:
        start: Seconds since 1970 of its origin, the load of the first process.
        shift_ns: (n_processes,) int64, what is added to a process's own times.
    """

    start: float
    shift_ns: NDArray[np.int64]


def timeline(table: NDArray[Any]) -> Timeline:
    """Join the clocks of a run's processes.

    The monotonic clock is common to the processes of a node, so it orders them exactly; the
    nodes are joined by the time of day, whose offset is the median over a node's processes.

    Args:
        table: (p,) `PROCESS_ROW`.
    """
    if not len(table):
        return Timeline(0.0, np.zeros(0, np.int64))
    wall, clock = table["start_ns"].astype(np.int64), table["clock_ns"].astype(np.int64)
    loaded = np.empty(len(table), np.int64)
    for host in set(table["host"].tolist()):
        mine = table["host"] == host
        offsets = np.sort(wall[mine] - clock[mine])
        loaded[mine] = clock[mine] + offsets[len(offsets) // 2]
    origin = int(loaded.min())
    return Timeline(origin * 1e-9, loaded - origin)
