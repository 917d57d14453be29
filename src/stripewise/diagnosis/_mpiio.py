# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters in the spirit of MPICH_MPIIO_STATS, for any MPI, from single calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._single import FileCalls, Side
from stripewise.diagnosis._usage import COLLECTIVE, INDEPENDENT, FileUse
from stripewise.model import MpiioSide, MpiioStats


def mpiio_stats(files: Sequence[FileUse], single: dict[int, FileCalls]) -> tuple[MpiioStats, ...]:
    """A block for each file that was used through MPI-IO and has single calls."""
    blocks = []
    for use in files:
        if use.index not in single:
            continue
        calls = single[use.index]
        write, read = _side(use, calls.side(True)), _side(use, calls.side(False))
        if write is not None or read is not None:
            blocks.append(MpiioStats(use.path, write, read))
    return tuple(blocks)


def _side(use: FileUse, side: Side) -> MpiioSide | None:
    if not len(side.program):
        return None
    independent = np.isin(side.program["op"], INDEPENDENT)
    together = np.isin(side.program["op"], COLLECTIVE)
    aggregating = side.system[together[side.serves]] if len(side.system) else side.system
    aggregators = np.unique(aggregating["process"])
    stripe = use.layout.stripe_bytes
    total = int(side.system["bytes"].sum())
    gaps = side.gaps
    return MpiioSide(
        independent=int(independent.sum()),
        collective=int(together.sum()),
        independent_ranks=len(np.unique(side.program["process"][independent])),
        aggregators=len(aggregators),
        stripe_count=use.layout.stripe_count or None,
        stripe_bytes=stripe or None,
        system_calls=len(side.system),
        stripe_sized=int((side.system["bytes"] == stripe).sum()) if stripe else None,
        active=_active(side, together, len(aggregators)),
        total_bytes=total,
        average_bytes=total // len(side.system) if len(side.system) else None,
        modify_reads=len(side.modify),
        modify_bytes=int(side.modify["bytes"].sum()),
        gaps=len(gaps),
        average_gap_bytes=int(gaps.mean()) if len(gaps) else None,
    )


def _active(side: Side, together: NDArray[np.bool_], n: int) -> tuple[int, int, int, int] | None:
    """Collective calls with 1, at most n/2, more than n/2, all n aggregators active.

    The k-th collective call of each process is the same call.
    """
    if n == 0:
        return None
    number = _call_number(side.program["process"], together)
    serving = together[side.serves]
    calls = number[side.serves[serving]]
    pairs = np.unique(np.stack([calls, side.system["process"][serving]]), axis=1)
    count = np.unique(pairs[0], return_counts=True)[1]
    one, every = int((count == 1).sum()), int(((count == n) & (n > 1)).sum())
    middle = count[(count > 1) & (count < n)]
    half = int((middle <= n / 2).sum())
    return one, half, len(middle) - half, every


def _call_number(process: NDArray[np.int64], together: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) int64: which collective call of its process each is (program order)."""
    total = np.cumsum(together)
    first = np.ones(len(process), np.bool_)
    first[1:] = process[1:] != process[:-1]
    before: NDArray[np.int64] = (total - together)[first]
    number: NDArray[np.int64] = total - 1 - before[np.cumsum(first) - 1]
    return number
