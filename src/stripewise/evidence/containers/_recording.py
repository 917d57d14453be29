# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the runtime library's own time off the times that it recorded.

What the library adds to a call of the program itself is not in the time of that call. What it adds
to the calls below, such as each `pwrite` of an `H5Dwrite`, is part of the time of the upper call.
The library measures this in one of 61 such calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import READS, RECORDED_LAYERS, WRITES, IoLayer
from stripewise.present import seconds_text

LEAST_SAMPLES = 16
MOST_SHARE = 0.9
"""Maximum share of a measured time that is taken off."""
LEAST_SHARE, LEAST_SECONDS = 0.01, 0.05
_DATA = [*READS, *WRITES]


def take_off_recording(
    rows: NDArray[Any], transfers: NDArray[Any], processes: NDArray[Any]
) -> tuple[str, ...]:
    """Take the library's own time off recorded times, in place.

    Args:
        rows: (n,) `COUNTER_ROW` of the run.
        transfers: (t,) `TRANSFER_ROW` of the run.
        processes: (p,) `PROCESS_ROW` of the run.

    Returns:
        A note on how much that is, if it is worth one.
    """
    cost = _cost_seconds(processes)
    if not cost.any() or not len(rows):
        return ()
    below = _below(rows, cost)
    spent = rows["seconds"][:, _DATA].sum(axis=1)
    off = np.minimum(below, MOST_SHARE * spent)
    factor = 1 - np.divide(off, spent, out=np.zeros(len(rows)), where=spent > 0)
    whole = rows["seconds"].sum(axis=1)
    own = np.divide(rows["outermost_seconds"], whole, out=np.zeros(len(rows)), where=whole > 0)
    own_off = np.minimum(off * own.clip(max=1.0), rows["outermost_seconds"])
    rows["seconds"][:, _DATA] *= factor[:, None]
    rows["outermost_seconds"] -= own_off
    _scale_transfers(transfers, rows, factor)
    taken = np.bincount(rows["process"], own_off, len(processes))
    before = processes["outermost_ns"].astype(np.float64)
    taken_ns = np.minimum(taken * 1e9, MOST_SHARE * before)
    processes["outermost_ns"] -= np.rint(taken_ns).astype(np.uint64)
    return _note(taken_ns * 1e-9, before * 1e-9)


def _cost_seconds(processes: NDArray[Any]) -> NDArray[np.float64]:
    """Return (p, n_layers) float64: seconds that a nested call takes the library.

    A process with few samples has the mean of all.
    """
    own, samples = (processes[name].astype(np.float64) for name in ("own_ns", "own_samples"))
    total = samples.sum(axis=0)
    mean = np.divide(
        own.sum(axis=0), total, out=np.zeros(len(total)), where=total >= LEAST_SAMPLES
    )
    single = np.divide(own, samples, out=np.zeros_like(own), where=samples >= LEAST_SAMPLES)
    return np.asarray(np.where(samples >= LEAST_SAMPLES, single, mean) * 1e-9)


def _below(rows: NDArray[Any], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) float64: the library's seconds in the nested calls below each row's calls."""
    keys = (rows["process"].astype(np.int64) << 32) + rows["file"]
    place = np.unique(keys, return_inverse=True)[1]
    spent = rows["seconds"].sum(axis=1)
    own = np.divide(rows["outermost_seconds"], spent, out=np.ones(len(rows)), where=spent > 0)
    nested = rows["count"][:, _DATA].sum(axis=1) * (1 - own.clip(0.0, 1.0))
    sums, found = np.zeros(int(place.max()) + 1), np.zeros(len(rows))
    for layer in RECORDED_LAYERS:
        mine = np.flatnonzero(rows["layer"] == layer)
        found[mine] = sums[place[mine]]
        added = nested[mine] * cost[rows["process"][mine], layer]
        sums += np.bincount(place[mine], added, len(sums))
    return found


def _scale_transfers(
    transfers: NDArray[Any], rows: NDArray[Any], factor: NDArray[np.float64]
) -> None:
    """Scale the times of HDF5's transfers as those of their file and process."""
    mine = np.flatnonzero(rows["layer"] == IoLayer.HDF5)
    keys = zip(rows["process"][mine].tolist(), rows["file"][mine].tolist(), strict=True)
    known = dict(zip(keys, factor[mine].tolist(), strict=True))
    pairs = zip(transfers["process"].tolist(), transfers["file"].tolist(), strict=True)
    scales = np.array([known.get(pair, 1.0) for pair in pairs], np.float64)
    for name in (name for name in transfers.dtype.names or () if name.endswith("seconds")):
        transfers[name] *= scales


def _note(taken: NDArray[np.float64], before: NDArray[np.float64]) -> tuple[str, ...]:
    most = int(taken.argmax())
    if taken[most] < max(LEAST_SHARE * before[most], LEAST_SECONDS):
        return ()
    return (
        f"recording the calls below the program's own took up to {seconds_text(taken[most])} of a "
        "process; this is taken off the times of I/O, not off the run time",
    )
