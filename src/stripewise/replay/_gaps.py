# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long a rank did something else between two of its calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stripewise.replay._calls import RankCalls

STARTUP_NS = 10_000_000
"""So far apart ranks leave MPI_Init by chance: they begin together in the replay."""


def gaps_of(calls: RankCalls, begin: int | None = None) -> NDArray[np.int64]:
    """Return the time before each call, (n,) int64, ns.

    The first one's is that since `begin` where that is more than chance; 0 without `begin`.

    Between two calls whose times were measured it is exact.  Where folding kept only the first
    and the last call of a run, the time that was left over between such calls is dealt out to
    those in between, in proportion to what was seen before calls of the same run.
    """
    n = len(calls)
    if n == 0:
        return np.zeros(0, np.int64)
    anchors = np.flatnonzero(calls.known)
    segment = np.searchsorted(anchors, np.arange(n))  # the anchor at or behind a call
    end = calls.end
    left = np.zeros(len(anchors))
    left[1:] = calls.start[anchors[1:]] - end[anchors[:-1]]
    inside = np.where(calls.known, 0, calls.duration)
    left -= np.bincount(np.minimum(segment, len(anchors) - 1), inside, len(anchors))
    left = np.maximum(left, 0)
    weight = _weights(calls)
    total = np.bincount(segment, weight, len(anchors))
    gaps = weight * (left / np.where(total > 0, total, 1.0))[segment]
    late = int(calls.start[0]) - begin if begin is not None else 0
    gaps[0] = late if late > STARTUP_NS else 0
    return np.rint(gaps).astype(np.int64)


def _weights(calls: RankCalls) -> NDArray[np.float64]:
    """Return the gap that was seen before calls of the same run, at least 1 ns."""
    exact = np.zeros(len(calls), bool)
    exact[1:] = calls.known[1:] & calls.known[:-1]
    seen = np.zeros(len(calls))
    seen[1:] = np.maximum(calls.start[1:] - calls.end[:-1], 0)
    rows, of_row = np.unique(calls.row, return_inverse=True)
    least = np.full(len(rows), np.inf)
    np.minimum.at(least, of_row[exact], seen[exact])
    least[np.isinf(least)] = 0
    return np.asarray(least[of_row] + 1.0)
