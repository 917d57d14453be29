# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds how much of a run's time in I/O calls is that of threads at the same time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import RunProfile, Trace

_Floats = NDArray[np.float64]


class TimeBounds(NamedTuple):
    """Bounds of a time in seconds; equal if it is known."""

    low: float
    high: float


def io_bounds(profile: RunProfile, trace: Trace | None) -> TimeBounds:
    """Return the bounds of the time during which the slowest rank was in I/O calls.

    The sum over the calls of a rank counts time twice in which two of its threads are in calls. A
    trace shows when they are; folded calls show from when to when. Without a trace the time is at
    most that of the run.
    """
    whole = profile.io_seconds
    longest = profile.elapsed_seconds if profile.elapsed_seconds > 0 else math.inf
    n = len(profile.processes)
    if trace is None or not n or not len(trace.rows):
        return TimeBounds(min(whole, longest), min(whole, longest))
    least, most = _overlaps(trace.rows, n)
    if not most.any():
        return TimeBounds(min(whole, longest), min(whole, longest))
    mine = profile.program["outermost_ns"] * 1e-9
    place = np.arange(len(mine))
    high, low = (
        profile.over_ranks((mine - twice[: len(mine)]).clip(0.0), place) for twice in (least, most)
    )
    return TimeBounds(min(low, high, longest), min(high, longest))


def _overlaps(rows: NDArray[Any], n: int) -> tuple[_Floats, _Floats]:
    """Return the least and the most time, (n,) seconds, that a process's threads share."""
    own = rows[(rows["parent"] < 0) & (rows["process"] >= 0) & (rows["process"] < n)]
    least, most = np.zeros(n), np.zeros(n)
    order = np.argsort(own["process"], kind="stable")
    own = own[order]
    processes, begins = np.unique(own["process"], return_index=True)
    for process, mine in zip(processes.tolist(), np.split(own, begins[1:]), strict=True):
        threads, thread = np.unique(mine["thread"], return_inverse=True)
        if len(threads) < 2:
            continue
        busy = np.bincount(thread.reshape(-1), mine["busy_ns"].astype(np.float64))
        least[process] = max(float(busy.sum()) - _covered(mine), 0.0) * 1e-9
        exact = bool((mine["count"] == 1).all())
        most[process] = least[process] if exact else float(busy.sum() - busy.max()) * 1e-9
    return least, most


def _covered(rows: NDArray[Any]) -> float:
    """Return the nanoseconds that lie in at least one span from a first start to a last end."""
    order = np.argsort(rows["start_ns"], kind="stable")
    start = rows["start_ns"][order].astype(np.float64)
    end = rows["end_ns"][order].astype(np.float64)
    before = np.maximum.accumulate(np.concatenate([[-np.inf], end[:-1]]))
    return float(np.maximum(end - np.maximum(start, before), 0.0).sum())
