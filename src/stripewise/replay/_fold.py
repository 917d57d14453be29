# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Equal calls at regular distances become one line of a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.replay._records import CALL_ROW

LEVELS = 3
_STEP = ("offset", "place")
_RUN = np.dtype(
    [
        *((name, "<i8") for name in ("key", *_STEP)),  # of the first call
        ("length", "<i8", (LEVELS,)),
        ("stride", "<i8", (LEVELS, len(_STEP))),
    ]
)


def fold(calls: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Fold calls with equal keys whose offsets and places lie at up to three regular strides.

    Args:
        calls: (n,) `CALL`.

    Returns:
        (m,) `CALL_ROW`, the runs in the order of their first calls, and (n,) the run of each call.
    """
    order = np.argsort(calls["key"], kind="stable")
    runs = np.zeros(len(order), _RUN)
    runs["key"], runs["offset"] = calls["key"][order], calls["offset"][order]
    runs["place"], runs["length"] = order, 1
    for level in range(LEVELS):
        starts, length, step = _join(runs, level)
        runs = runs[starts]
        runs["length"][:, level], runs["stride"][:, level] = length, step
    count = runs["length"].prod(axis=1)
    by_place = np.argsort(runs["place"])
    of_call = np.empty(len(order), np.int64)
    of_call[order] = np.repeat(np.argsort(by_place), count)
    return _rows(calls, runs[by_place], count[by_place]), of_call


def _join(
    runs: NDArray[Any], level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Join equal runs that follow at equal distances, from the first on.

    Returns:
        Where joined ones begin, how many they join, and (m, 2) their distance in offset and
        place.
    """
    alike = runs["key"][1:] == runs["key"][:-1]
    for inner in (runs["stride"][:, :level], runs["length"][:, :level, np.newaxis]):
        alike &= (inner[1:] == inner[:-1]).all(axis=(1, 2))
    steps = np.stack([np.diff(runs[name]) for name in _STEP], axis=1)
    reach = _reach(alike, steps)
    starts = []
    at = 0
    while at < len(runs):
        starts.append(at)
        at = int(reach[at]) + 1
    begins = np.array(starts, np.int64)
    many = reach[begins] - begins + 1
    step = np.zeros((len(begins), len(_STEP)), np.int64)
    step[many > 1] = steps[begins[many > 1]]
    return begins, many, step


def _reach(alike: NDArray[np.bool_], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each run the last one that it reaches by equal steps over alike ones."""
    n = len(alike) + 1
    reach = np.arange(n)
    goes_on = np.zeros(n - 1, bool)
    goes_on[:-1] = alike[:-1] & alike[1:] & (steps[:-1] == steps[1:]).all(axis=1)
    stops = np.where(goes_on, n, np.arange(n - 1))
    last_step = np.minimum.accumulate(stops[::-1])[::-1]
    reach[:-1] = np.where(alike, last_step + 1, reach[:-1])
    return reach


def _rows(calls: NDArray[Any], runs: NDArray[Any], count: NDArray[np.int64]) -> NDArray[Any]:
    rows = np.zeros(len(runs), CALL_ROW)
    for name in ("verb", "op", "flags", "bytes"):
        rows[name] = calls[name][runs["place"]]
    length = runs["length"]
    rows["count"], rows["inner"], rows["place"] = count, length[:, :-1], runs["place"]
    rows["inner"][length[:, 1:].prod(axis=1) == 1, 0] = 0  # nothing further out: without end
    rows["inner"][length[:, 2] == 1, 1] = 0
    rows["stride"], rows["place_stride"] = runs["stride"][..., 0], runs["stride"][..., 1]
    return rows
