# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares requests before and after MPI-IO: those of the program and those to the storage."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import MpiioSide, MpiioStats
from stripewise.evidence.figures._folded_calls import (
    ExpansionBudget,
    Gaps,
    calls_served,
    count_aligned,
    find_gaps,
)
from stripewise.evidence.figures._records import RequestRow, share
from stripewise.evidence.figures._usage import (
    COLLECTIVE,
    DATA,
    INDEPENDENT,
    READS,
    SYSTEM,
    WRITES,
    Calls,
    FileUse,
)
from stripewise.evidence.trace import IoLayer, Trace

UNIT_BYTES = 1 << 20
"""Unit of alignment if the striping unit is unknown (assumed)."""


def request_rows(
    files: Sequence[FileUse], traced: dict[int, Sides], stats: Sequence[MpiioStats] = ()
) -> tuple[RequestRow, ...]:
    """Return the rows of the files that were used through MPI-IO, one for each direction.

    Args:
        files: Counters by file.
        traced: Calls by file, if there is a trace.
        stats: Statistics that the MPI library counted itself.
    """
    rows, counted = [], _sides(stats)
    for use in files:
        if IoLayer.MPIIO not in use.seen:
            continue
        for writing in (True, False):
            both = traced.get(use.index)
            row = _exact(use, both[writing], writing) if both else _row_of_counters(use, writing)
            if row is not None:
                counted_sides = counted.get((use.path, writing), ()) if not both else ()
                rows.append(_add_statistics(row, counted_sides))
    return tuple(sorted(rows, key=lambda row: (-row.system_seconds, row.path, not row.writing)))


def _exact(use: FileUse, side: Side, writing: bool) -> RequestRow | None:
    if not len(side.program):
        return None
    unit = use.layout.stripe_bytes or UNIT_BYTES
    below, modify = total(side.system), total(side.modify)
    aligned = count_aligned(side.system, unit, side.budget)
    return _row(
        use,
        writing,
        (total(side.program), total(side.together), below),
        exact=True,
        system_ranks=below.ranks,
        system_mean_bytes=share(below.bytes, below.count),
        modify_reads=modify.count,
        modify_bytes=modify.bytes,
        gaps=side.gaps.count,
        mean_gap_bytes=side.gaps.mean_bytes,
        aligned=None if aligned is None else share(aligned, below.count),
        unit_sized=share(total(side.system, of_bytes=unit).count, below.count),
        unit_bytes=unit,
        system_seconds=_slowest_seconds(side),
    )


def _row(
    use: FileUse, writing: bool, calls: tuple[Calls, Calls, Calls], **more: Any
) -> RequestRow:
    """Make a row from the requests to MPI-IO, the collective ones and the system calls below."""
    program_calls, together, below = calls
    return RequestRow(
        path=use.path,
        writing=writing,
        program_calls=program_calls.count,
        collective_calls=together.count,
        program_ranks=program_calls.ranks,
        program_bytes=program_calls.bytes,
        program_mean_bytes=program_calls.mean_bytes,
        system_calls=below.count,
        system_bytes=below.bytes,
        **more,
    )


def _slowest_seconds(side: Side) -> float:
    rows = np.concatenate([side.system, side.modify])
    _, inverse = np.unique(rows["process"], return_inverse=True)
    return float(np.bincount(inverse, weights=rows["busy_ns"] * 1e-9).max(initial=0.0))


def _row_of_counters(use: FileUse, writing: bool) -> RequestRow | None:
    """Return a row from counters: system calls are all POSIX and stdio calls by libraries."""
    ops = WRITES if writing else READS
    program_calls = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
    if not program_calls.count:
        return None
    together = use.calls(ops[1:], layers=[IoLayer.MPIIO], own=False)
    every = use.calls(ops, layers=SYSTEM, own=False)
    return _row(
        use,
        writing,
        (program_calls, together, every),
        exact=False,
        system_ranks=None if use.reduced.any() else every.ranks,
        system_mean_bytes=every.mean_bytes,
        modify_bytes=_modify_bytes(use) if writing else 0,
        aligned=_aligned(use, writing),
        unit_bytes=_alignment(use.rows) or use.layout.stripe_bytes or UNIT_BYTES,
        system_seconds=every.elapsed,
    )


def _sides(stats: Sequence[MpiioStats]) -> dict[tuple[str, bool], list[MpiioSide]]:
    """Return the MPI library's statistics by file and direction: one block for each close."""
    found: dict[tuple[str, bool], list[MpiioSide]] = defaultdict(list)
    for one in stats:
        for writing, side in ((True, one.write), (False, one.read)):
            if side is not None:
                found[one.path, writing].append(side)
    return found


def _add_statistics(row: RequestRow, sides: Sequence[MpiioSide]) -> RequestRow:
    """Complete a row of counters by the MPI library's statistics, in which None is unknown."""
    if not sides:
        return row
    sums = {name: _sum(getattr(side, name) for side in sides) for name in _COUNTED}
    gaps = sums["gaps"]
    apart = _sum(_gap_bytes(side) for side in sides)
    sized = sums["stripe_sized"]
    modify = ("modify_reads", "modify_bytes") if row.writing else ()
    modified: dict[str, Any] = {name: sums[name] for name in modify}
    return replace(
        row,
        system_ranks=_aggregators(sides),
        gaps=gaps,
        mean_gap_bytes=None if not gaps or apart is None else apart / gaps,
        unit_sized=None if sized is None else share(sized, row.system_calls),
        **modified,
    )


def _aggregators(sides: Sequence[MpiioSide]) -> int | None:
    """Return the number of processes that made system calls, if only aggregators did."""
    alone = any(side.independent for side in sides)
    return None if alone else max(side.aggregators for side in sides) or None


def _gap_bytes(side: MpiioSide) -> int | None:
    """Return the bytes of all gaps of one side; None if unknown."""
    if not side.gaps:
        return side.gaps
    return None if side.average_gap_bytes is None else side.gaps * side.average_gap_bytes


_COUNTED = ("gaps", "stripe_sized", "modify_reads", "modify_bytes")


def _sum(values: Iterable[int | None]) -> int | None:
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if len(known) == len(every) else None


def _modify_bytes(use: FileUse) -> int | None:
    """Return the bytes that the system read beyond the requests to MPI-IO; None if unknown."""
    if use.calls(READS, layers=[IoLayer.MPIIO], own=False).count:
        return None
    return use.calls(READS, layers=SYSTEM, own=False).bytes


def _alignment(rows: NDArray[Any]) -> int:
    return int(rows["alignment"].max(initial=0))


def _aligned(use: FileUse, writing: bool) -> float | None:
    """Return the share of aligned calls; None if counters mix both directions."""
    other = READS if writing else WRITES
    rows = use.rows[np.isin(use.rows["layer"], SYSTEM)]
    unknown = not _alignment(rows) or (rows["unaligned"] < 0).any()
    if unknown or use.calls(other, layers=SYSTEM, own=False).count:
        return None
    count = use.calls(WRITES if writing else READS, layers=SYSTEM, own=False).count
    return 1.0 - share(float(rows["unaligned"].sum()), count) if count else None


def mpiio_stats(files: Sequence[FileUse], traced: dict[int, Sides]) -> tuple[MpiioStats, ...]:
    """Return blocks in the style of MPICH_MPIIO_STATS for a trace's files of MPI-IO."""
    blocks = []
    for use in files:
        if use.index not in traced:
            continue
        write, read = (_mpiio_side(use, traced[use.index][writing]) for writing in (True, False))
        if write is not None or read is not None:
            blocks.append(MpiioStats(use.path, write, read))
    return tuple(blocks)


def _mpiio_side(use: FileUse, side: Side) -> MpiioSide | None:
    if not len(side.program):
        return None
    alone = total(side.program[np.isin(side.program["op"], INDEPENDENT)])
    below, modify = total(side.system), total(side.modify)
    aggregators = total(side.aggregating).ranks
    stripe = use.layout.stripe_bytes
    gap = side.gaps.mean_bytes
    return MpiioSide(
        independent=alone.count,
        collective=total(side.together).count,
        independent_ranks=alone.ranks,
        aggregators=aggregators,
        stripe_count=use.layout.stripe_count or None,
        stripe_bytes=stripe or None,
        system_calls=below.count,
        stripe_sized=total(side.system, of_bytes=stripe).count if stripe else None,
        active=_active(side.active(), aggregators) if aggregators else None,
        total_bytes=below.bytes,
        average_bytes=below.bytes // below.count if below.count else None,
        modify_reads=modify.count,
        modify_bytes=modify.bytes,
        gaps=side.gaps.count,
        average_gap_bytes=None if gap is None else int(gap),
    )


def _active(count: NDArray[np.int64] | None, n: int) -> tuple[int, int, int, int] | None:
    """Count collective calls with 1, at most n/2, more than n/2, and all n aggregators."""
    if count is None:
        return None
    one, every = int((count == 1).sum()), int(((count == n) & (n > 1)).sum())
    middle = count[(count > 1) & (count < n)]
    half = int((middle <= n / 2).sum())
    return one, half, len(middle) - half, every


# MPI-IO calls of each file and the system calls below them, folded as in the trace.


@dataclass(frozen=True, eq=False)
class Side:
    """Calls of one direction of one file; rows are (n,) `TRACE_ROW`.

    Attributes:
        program: Calls of MPI-IO in this direction.
        system: System calls in this direction below any MPI-IO call of this direction.
        modify: System reads below writes that returned data.
        budget: Number of calls that may be expanded, for all files together.
    """

    program: NDArray[Any]
    system: NDArray[Any]
    modify: NDArray[Any]
    budget: ExpansionBudget

    @functools.cached_property
    def gaps(self) -> Gaps:
        """System calls that do not begin where the process's last one ended."""
        return find_gaps(self.system, self.budget)

    @functools.cached_property
    def together(self) -> NDArray[Any]:
        """Collective calls of the program."""
        rows: NDArray[Any] = self.program[np.isin(self.program["op"], COLLECTIVE)]
        return rows

    @functools.cached_property
    def aggregating(self) -> NDArray[Any]:
        """System calls below collective ones."""
        rows: NDArray[Any] = self.system[np.isin(self.system["parent"], self.together["name"])]
        return rows

    def active(self) -> NDArray[np.int64] | None:
        """Number of processes that make system calls in each collective call with any.

        (n,) int64; None if there are too many calls. The k-th collective calls of all processes
        are taken as one call.
        """
        at_work = np.isin(self.together["process"], self.aggregating["process"])
        pairs = calls_served(self.together[at_work], self.aggregating, self.budget)
        return None if pairs is None else np.unique(pairs[1], return_counts=True)[1]


Sides = dict[bool, Side]
"""Both directions of a file; True is writing."""


def total(rows: NDArray[Any], of_bytes: int | None = None) -> Calls:
    """Add up (n,) `TRACE_ROW`, or only those of calls with `of_bytes` each; without times."""
    if of_bytes is not None:
        rows = rows[rows["bytes"] == of_bytes]
    moved = int((rows["count"] * rows["bytes"]).sum())
    return Calls(int(rows["count"].sum()), moved, ranks=len(np.unique(rows["process"])))


def sides(trace: Trace | None) -> dict[int, Sides]:
    """Return both directions of each file that was used through MPI-IO, by its index."""
    if trace is None:
        return {}
    rows = trace.rows
    rows = rows[np.isin(rows["layer"], (IoLayer.MPIIO, *SYSTEM)) & np.isin(rows["op"], DATA)]
    used = np.unique(rows["file"][rows["layer"] == IoLayer.MPIIO])
    rows = rows[np.isin(rows["file"], used[used >= 0])]
    if not len(rows):
        return {}
    order = np.argsort(rows["file"], kind="stable")
    files, starts = np.unique(rows["file"][order], return_index=True)
    budget = ExpansionBudget()
    return {
        file: {writing: _side(rows[mine], writing, budget) for writing in (True, False)}
        for file, mine in zip(files.tolist(), np.split(order, starts[1:]), strict=True)
    }


def _side(rows: NDArray[Any], writing: bool, budget: ExpansionBudget) -> Side:
    """Select one direction; a function of MPI-IO moves data in one direction only."""
    ops = np.isin(rows["op"], WRITES if writing else READS)
    program = rows[ops & (rows["layer"] == IoLayer.MPIIO)]
    names = np.unique(program["name"])
    beneath = np.isin(rows["parent"], names[names >= 0]) & np.isin(rows["layer"], SYSTEM)
    modify = beneath & ~ops & (rows["bytes"] > 0) & writing
    return Side(program, rows[beneath & ops], rows[modify], budget)
