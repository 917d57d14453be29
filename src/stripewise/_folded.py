# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of equal calls at regular strides: which calls they stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def expanded_index(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each call of runs of `count` calls: (n,) the index of its run, (n,) its number in it."""
    row = np.repeat(np.arange(len(count)), count)
    begins = np.cumsum(count) - count
    return row, np.arange(len(row)) - begins[row]


def levels_of(k: NDArray[np.int64], inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n, 3) int64: i, j, l of the k-th call of a run with `inner` (n, 2)."""
    endless = np.iinfo(np.int64).max
    first = np.where(inner[:, 0] > 0, inner[:, 0], endless)
    second = np.where(inner[:, 1] > 0, inner[:, 1], endless)
    outer = k // first
    return np.stack([k % first, outer % second, outer // second], axis=1)


def moved(levels: NDArray[np.int64], stride: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) int64: how far a call at `levels` (n, 3) lies from the first of its run."""
    with np.errstate(over="ignore"):
        return np.asarray((levels * stride).sum(axis=1))
