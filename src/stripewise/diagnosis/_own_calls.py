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
    every, own, parts = _traced(rows, trace)
    exact = (every == rows["count"]) & (every > 0)
    found[exact] = (own[exact] + parts[exact] * found[exact]) / every[exact]
    return found


def _traced(rows: NDArray[Any], trace: Trace) -> tuple[NDArray[np.float64], ...]:
    """Calls of the trace for each counter row and operation.

    Returns:
        All; the program's; parts of one call, such as the requests of a list (`lio_listio`), which
        do not tell whose that is.
    """
    calls = trace.rows
    keys = np.stack([rows[name].astype(np.int64) for name in _KEY], axis=1)
    others = np.stack([calls[name].astype(np.int64) for name in _KEY], axis=1)
    names, place = np.unique(np.concatenate([keys, others]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    slot = place[len(rows) :] * len(Op) + calls["op"]
    size = len(names) * len(Op)
    number = calls["count"].astype(np.float64)
    chosen = place[: len(rows)]
    parent = calls["parent"]
    kinds = (np.True_, parent < 0, (parent >= 0) & (parent == calls["name"]))
    return tuple(
        np.bincount(slot, weights=number * kind, minlength=size)
        .astype(np.float64)
        .reshape(len(names), len(Op))[chosen]
        for kind in kinds
    )
