# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many of the calls in counters are the program's own: exactly, where there is a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op, Trace

LEAST_OWN = 0.05
"""Of a row's bytes or time: with less, its calls are those that a library makes for itself
(metadata at the close of a file), and are not counted as the program's. Assumed."""

_KEY = ("file", "layer", "process")


def count_weights(
    rows: NDArray[Any], weight: NDArray[np.float64], trace: Trace | None
) -> NDArray[np.float64]:
    """Share of each row's calls that the program made, by operation: (n, n_ops) float64.

    Args:
        rows: (n,) `COUNTER_ROW`.
        weight: Its share of the bytes and the time; a few bytes are not a few calls.
        trace: Its calls are taken where it has as many of an operation as the counters.
    """
    found: NDArray[np.float64] = np.where(weight < LEAST_OWN, 0.0, weight)
    if trace is None or not len(trace.rows) or not len(rows):
        return found
    every, own = _traced(rows, trace)
    exact = (every == rows["count"]) & (every > 0)
    found[exact] = own[exact] / every[exact]
    return found


def _traced(rows: NDArray[Any], trace: Trace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Calls of the trace for each counter row and operation: all, and the program's."""
    calls = trace.rows
    keys = np.stack([rows[name].astype(np.int64) for name in _KEY], axis=1)
    others = np.stack([calls[name].astype(np.int64) for name in _KEY], axis=1)
    names, place = np.unique(np.concatenate([keys, others]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    slot = place[len(rows) :] * len(Op) + calls["op"]
    size = len(names) * len(Op)
    number = calls["count"].astype(np.float64)
    every = np.bincount(slot, weights=number, minlength=size).astype(np.float64)
    mine = number * (calls["parent"] < 0)
    own = np.bincount(slot, weights=mine, minlength=size).astype(np.float64)
    shape = (len(names), len(Op))
    chosen = place[: len(rows)]
    return every.reshape(shape)[chosen], own.reshape(shape)[chosen]
