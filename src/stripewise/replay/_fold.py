# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Equal calls at regular distances become one line of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVELS = 3


@dataclass(frozen=True, eq=False)
class Runs:
    """Folded calls of one rank, in the order of their first ones.

    Attributes:
        first: (n,) int64, place of the first call among those of the rank.
        count: (n,) int64.
        inner: (n, 2) int64; stride, place_stride: (n, 3) int64: as in `TRACE_ROW`, with places
            for sequences.
        of_call: (n_calls,) int64, the run of each call.
    """

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    inner: NDArray[np.int64]
    stride: NDArray[np.int64]
    place_stride: NDArray[np.int64]
    of_call: NDArray[np.int64]


def fold(key: NDArray[np.int64], offset: NDArray[np.int64]) -> Runs:
    """Fold calls with equal `key` whose offsets and places lie at up to three regular strides.

    Args:
        key: (n,) int64, equal for calls that differ in place and offset alone.
        offset: (n,) int64.
    """
    order = np.argsort(key, kind="stable")
    element = {
        "key": key[order],
        "place": order.astype(np.int64),
        "offset": offset[order],
        "size": np.ones(len(order), np.int64),
    }
    strides = np.zeros((len(order), LEVELS, 2), np.int64)
    lengths = np.ones((len(order), LEVELS), np.int64)
    for level in range(LEVELS):
        starts, length, step = _join(element, strides[:, :level], lengths[:, :level])
        strides, lengths = strides[starts], lengths[starts]
        strides[:, level], lengths[:, level] = step, length
        element = {name: values[starts] for name, values in element.items()}
        element["size"] = element["size"] * length
    return _runs(element, strides, lengths, order)


def _join(
    element: dict[str, NDArray[np.int64]],
    strides: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Join equal elements that follow at equal distances, from the first on.

    Returns:
        Where joined ones begin, how many they join, and (m, 2) their distance in offset and
        place.
    """
    n = len(element["key"])
    if n == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    alike = element["key"][1:] == element["key"][:-1]
    alike &= (strides[1:] == strides[:-1]).all(axis=(1, 2))
    alike &= (lengths[1:] == lengths[:-1]).all(axis=1)
    steps = np.stack((np.diff(element["offset"]), np.diff(element["place"])), axis=1)
    reach = _reach(alike, steps)
    starts, length = [], []
    at = 0
    while at < n:
        starts.append(at)
        length.append(int(reach[at]) - at + 1)
        at = int(reach[at]) + 1
    begins, many = np.array(starts, np.int64), np.array(length, np.int64)
    step = np.zeros((len(begins), 2), np.int64)
    step[many > 1] = steps[begins[many > 1]]
    return begins, many, step


def _reach(alike: NDArray[np.bool_], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each element the last one that it reaches by equal steps over alike ones."""
    n = len(alike) + 1
    reach = np.arange(n)
    if n == 1:
        return reach
    goes_on = np.zeros(n - 1, bool)
    goes_on[:-1] = alike[:-1] & alike[1:] & (steps[:-1] == steps[1:]).all(axis=1)
    stops = np.where(goes_on, n, np.arange(n - 1))
    last_step = np.minimum.accumulate(stops[::-1])[::-1]
    reach[:-1] = np.where(alike, last_step + 1, reach[:-1])
    return reach


def _runs(
    element: dict[str, NDArray[np.int64]],
    strides: NDArray[np.int64],
    lengths: NDArray[np.int64],
    order: NDArray[np.int64],
) -> Runs:
    n = len(lengths)
    inner = lengths[:, : LEVELS - 1].copy()
    inner[lengths[:, 1:].prod(axis=1) == 1, 0] = 0  # nothing further out: without end
    inner[lengths[:, 2] == 1, 1] = 0
    by_place = np.argsort(element["place"], kind="stable")
    rank_of = np.empty(n, np.int64)
    rank_of[by_place] = np.arange(n)
    of_call = np.empty(len(order), np.int64)
    of_call[order] = np.repeat(rank_of, element["size"])
    return Runs(
        element["place"][by_place],
        element["size"][by_place],
        inner[by_place],
        strides[by_place, :, 0],
        strides[by_place, :, 1],
        of_call,
    )
