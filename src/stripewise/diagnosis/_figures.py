# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The run in numbers; docs/reference/profile.md defines each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._records import Figures, share
from stripewise.diagnosis._sums import REDUCED
from stripewise.diagnosis._usage import (
    METADATA,
    READS,
    SYSTEM,
    WRITES,
    FileUse,
    own_weights,
    rank_keys,
)
from stripewise.model import Op, RunProfile


@dataclass(frozen=True)
class IoTime:
    """I/O time of a run: `seconds` (exact or an upper estimate), `low` (at least), whose."""

    seconds: float
    low: float
    rank: int
    exact: bool


def io_time(rows: NDArray[Any], n_ranks: int, ops: Sequence[Op] | None = None) -> IoTime:
    """Time in outermost calls, maximum over ranks.

    Records that hold all ranks together add the time of their slowest rank: as if it were
    the same rank in each, which is the most that it can be.

    Args:
        rows: (n,) `COUNTER_ROW`.
        n_ranks: Of the run.
        ops: Only of these operations; None: all.
    """
    seconds = _own_seconds(rows, ops)
    reduced = rows["rank"] == REDUCED
    by_rank, rank = _slowest(rows[~reduced], seconds[~reduced])
    together = reduced & (seconds > 0)
    if not together.any():
        return IoTime(by_rank, by_rank, rank, True)
    mean = seconds[together] / max(n_ranks, 1)
    total = rows["seconds"][together].sum(axis=1)
    part = np.divide(seconds[together], total, out=np.zeros(len(total)), where=total > 0)
    slowest = np.maximum(rows["slowest_seconds"][together] * part, mean)
    exact = int(together.sum()) == 1 and by_rank == 0.0
    named = int(rows["slowest_rank"][together][slowest.argmax()])
    low = max(by_rank, float(slowest.max()), float(mean.sum()))
    return IoTime(by_rank + float(slowest.sum()), low, named, exact)


def _own_seconds(rows: NDArray[Any], ops: Sequence[Op] | None) -> NDArray[np.float64]:
    if ops is None:
        outer: NDArray[np.float64] = rows["outermost_seconds"].astype(np.float64)
        return outer
    columns = [int(op) for op in ops]
    own: NDArray[np.float64] = (rows["seconds"] * own_weights(rows))[:, columns].sum(axis=1)
    return own


def _slowest(rows: NDArray[Any], seconds: NDArray[np.float64]) -> tuple[float, int]:
    if not len(rows):
        return 0.0, -1
    names, inverse = np.unique(rank_keys(rows), return_inverse=True)
    by_rank = np.bincount(inverse, weights=seconds)
    slowest = int(by_rank.argmax())
    return float(by_rank[slowest]), int(names[slowest])


def rate(total_bytes: float, io_seconds: float) -> float:
    """Estimated I/O rate, bytes per second; NaN without time."""
    return share(total_bytes, io_seconds)


def meta_share(read_seconds: float, write_seconds: float, meta_seconds: float) -> float:
    """Share of metadata in the cumulated time."""
    return share(meta_seconds, read_seconds + write_seconds + meta_seconds)


def mean_seconds(
    read_seconds: float, write_seconds: float, meta_seconds: float, n_ranks: int
) -> float:
    """Cumulated time of one rank on average: what an elapsed time is to be compared with."""
    return (read_seconds + write_seconds + meta_seconds) / max(n_ranks, 1)


def figures(profile: RunProfile, files: Sequence[FileUse]) -> Figures:
    """All figures of a run."""
    rows = profile.counters
    whole = io_time(rows, profile.n_ranks)
    if whole.seconds < profile.io_seconds:  # calls on names of files that were never opened
        whole = replace(whole, seconds=profile.io_seconds, low=profile.io_seconds)
    timed = not len(rows) or bool((rows["seconds"] > 0).any())
    known = 1.0 if timed else math.nan
    parts = [io_time(rows, profile.n_ranks, ops) for ops in (READS, WRITES, METADATA)]
    cumulated = [
        sum(use.calls(ops).cumulated for use in files) for ops in (READS, WRITES, METADATA)
    ]
    read_bytes = sum(use.read_bytes for use in files)
    write_bytes = sum(use.write_bytes for use in files)
    kinds = [(use.read_bytes > 0, use.write_bytes > 0) for use in files]
    run_seconds = profile.elapsed_seconds if profile.elapsed_seconds > 0 else math.nan
    return Figures(
        run_seconds=run_seconds,
        n_ranks=profile.n_ranks,
        n_processes=profile.n_processes,
        n_hosts=len(profile.hosts),
        n_files=len(files),
        n_read_only=kinds.count((True, False)),
        n_write_only=kinds.count((False, True)),
        n_read_write=kinds.count((True, True)),
        n_no_data=kinds.count((False, False)),
        n_shared=sum(use.shared for use in files),
        read_bytes=read_bytes,
        write_bytes=write_bytes,
        meta_operations=sum(use.calls(METADATA).count for use in files),
        system_meta_operations=sum(
            use.calls(METADATA, layers=SYSTEM, own=False).count for use in files
        ),
        cumulated_read_seconds=known * cumulated[0],
        cumulated_write_seconds=known * cumulated[1],
        cumulated_meta_seconds=known * cumulated[2],
        elapsed_read_seconds=known * parts[0].seconds,
        elapsed_write_seconds=known * parts[1].seconds,
        elapsed_meta_seconds=known * parts[2].seconds,
        io_seconds=known * whole.seconds,
        io_low_seconds=known * whole.low,
        io_exact=whole.exact,
        io_share=known * share(whole.seconds, run_seconds),
        rate_bytes_per_second=rate(read_bytes + write_bytes, whole.seconds),
        meta_share=meta_share(*cumulated),
        slowest_rank=whole.rank,
    )
