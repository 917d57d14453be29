# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters in the spirit of MPICH_MPIIO_STATS, for any MPI, from a trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._sides import Side, Sides, total
from stripewise.diagnosis._usage import INDEPENDENT, FileUse
from stripewise.model import MpiioSide, MpiioStats


def mpiio_stats(files: Sequence[FileUse], traced: dict[int, Sides]) -> tuple[MpiioStats, ...]:
    """A block for each file that was used through MPI-IO and has a trace."""
    blocks = []
    for use in files:
        if use.index not in traced:
            continue
        write, read = (_side(use, traced[use.index][writing]) for writing in (True, False))
        if write is not None or read is not None:
            blocks.append(MpiioStats(use.path, write, read))
    return tuple(blocks)


def _side(use: FileUse, side: Side) -> MpiioSide | None:
    if not len(side.program):
        return None
    alone = total(side.program[np.isin(side.program["op"], INDEPENDENT)])
    below, modify = total(side.system), total(side.modify)
    aggregators = total(side.aggregating).processes
    stripe = use.layout.stripe_bytes
    gap = side.gaps.mean_bytes
    return MpiioSide(
        independent=alone.calls,
        collective=total(side.together).calls,
        independent_ranks=alone.processes,
        aggregators=aggregators,
        stripe_count=use.layout.stripe_count or None,
        stripe_bytes=stripe or None,
        system_calls=below.calls,
        stripe_sized=total(side.system, of_bytes=stripe).calls if stripe else None,
        active=_active(side.active(), aggregators) if aggregators else None,
        total_bytes=below.bytes,
        average_bytes=below.bytes // below.calls if below.calls else None,
        modify_reads=modify.calls,
        modify_bytes=modify.bytes,
        gaps=side.gaps.count,
        average_gap_bytes=None if gap is None else int(gap),
    )


def _active(count: NDArray[np.int64] | None, n: int) -> tuple[int, int, int, int] | None:
    """Collective calls with 1, at most n/2, more than n/2, all n aggregators active."""
    if count is None:
        return None
    one, every = int((count == 1).sum()), int(((count == n) & (n > 1)).sum())
    middle = count[(count > 1) & (count < n)]
    half = int((middle <= n / 2).sum())
    return one, half, len(middle) - half, every
