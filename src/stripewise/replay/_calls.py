# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The calls that a program made itself, one after the other, of each rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._folded import expanded_index, levels_of, moved
from stripewise.model import EventFlag, Trace

MOST_CALLS = 50_000_000
"""Of one rank; each takes about 100 bytes while a plan is made."""


@dataclass(frozen=True, eq=False)
class RankCalls:
    """Calls of one rank in the order in which the program made them.

    Attributes:
        rank: In the run; 0 of a program without MPI.
        row: (n,) int64, row of `Trace.rows`.
        offset: (n,) int64, as in `TRACE_ROW`.
        start: (n,) int64, ns; of calls inside of a folded run evenly spread.
        duration: (n,) int64, ns; of a folded run's last call its own, of the others the mean.
        longest: (n,) int64, ns, that it may have taken.
        known: (n,) bool, whether `start` is what was measured.
    """

    rank: int
    row: NDArray[np.int64]
    offset: NDArray[np.int64]
    start: NDArray[np.int64]
    duration: NDArray[np.int64]
    longest: NDArray[np.int64]
    known: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of calls."""
        return len(self.row)

    @property
    def end(self) -> NDArray[np.int64]:
        """(n,) int64, ns."""
        return self.start + self.duration


def top_level(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows are calls of the program itself that did not fail."""
    rows = trace.rows
    failed = (rows["flags"] & EventFlag.FAILED) != 0
    chosen = (rows["depth"] == 0) & (rows["parent"] < 0) & ~failed
    if trace.n_ranks:
        chosen &= rows["rank"] >= 0
    return np.asarray(chosen, dtype=bool)


def rank_calls(trace: Trace, chosen: NDArray[np.bool_] | None = None) -> Iterator[RankCalls]:
    """Yield the calls of each rank, also of those that made none.

    Threads and processes of a rank are put into one order by their times.

    Args:
        trace: Of the run.
        chosen: (n_rows,) bool, rows to take; those of the program itself if not given.
    """
    chosen = top_level(trace) if chosen is None else chosen
    index = np.flatnonzero(chosen)
    ranks = trace.rows["rank"][index] if trace.n_ranks else np.zeros(len(index), np.int64)
    order = np.argsort(ranks, kind="stable")
    index, ranks = index[order], ranks[order]
    for rank in range(max(trace.n_ranks, 1)):
        low, high = np.searchsorted(ranks, (rank, rank + 1))
        yield _calls_of(rank, trace.rows, index[low:high])


def _calls_of(rank: int, rows: NDArray[Any], index: NDArray[np.int64]) -> RankCalls:
    mine = rows[index]
    count = mine["count"]
    each, k = expanded_index(count)
    levels = levels_of(k, mine["inner"][each])
    offset = mine["offset"][each] + moved(levels, mine["stride"][each])
    sequence = mine["sequence"][each] + moved(levels, mine["sequence_stride"][each])
    last = np.maximum(count - 1, 1)[each]
    span = (mine["last_start_ns"] - mine["start_ns"])[each]
    start = mine["start_ns"][each] + (span * (k / last)).astype(np.int64)
    final = np.maximum(mine["end_ns"] - mine["last_start_ns"], 0)
    final = np.where(count == 1, mine["busy_ns"], final)
    others = np.maximum(mine["busy_ns"] - final, 0) // np.maximum(count - 1, 1)
    ends = k == count[each] - 1
    duration = np.where(ends, final[each], others[each])
    longest = np.where(ends | (count[each] == 2), duration, mine["max_ns"][each])
    known = (k == 0) | ends
    order = _one_order(mine["process"][each], mine["thread"][each], sequence, start)
    return RankCalls(
        rank,
        index[each][order],
        offset[order],
        start[order],
        duration[order],
        np.maximum(longest, duration)[order],
        known[order],
    )


def _one_order(
    process: NDArray[np.int64],
    thread: NDArray[np.int64],
    sequence: NDArray[np.int64],
    start: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the order of calls: of a thread by sequence, of several by time."""
    order = np.lexsort((sequence, thread, process))
    of_thread = np.stack((process[order], thread[order]), axis=1)
    borders = np.flatnonzero((of_thread[1:] != of_thread[:-1]).any(axis=1)) + 1
    if not len(borders):
        return order
    times = [np.maximum.accumulate(part) for part in np.split(start[order], borders)]
    return order[np.argsort(np.concatenate(times), kind="stable")]
