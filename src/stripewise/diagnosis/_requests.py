# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests before and after MPI-IO: what the program asked, what reached the storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._boxes import count_aligned
from stripewise.diagnosis._records import RequestRow, share
from stripewise.diagnosis._sides import Side, Sides, total
from stripewise.diagnosis._usage import READS, SYSTEM, WRITES, FileUse
from stripewise.model import IoLayer

UNIT_BYTES = 1 << 20
"""Unit of alignment where the stripe is not known. Assumed."""


def unit_of(use: FileUse) -> int:
    """Stripe of a file, or 1 MiB."""
    return use.layout.stripe_bytes or UNIT_BYTES


def request_rows(files: Sequence[FileUse], traced: dict[int, Sides]) -> tuple[RequestRow, ...]:
    """Rows of the files that were used through MPI-IO, one for each direction.

    Args:
        files: Counters by file.
        traced: Calls by file, where there is a trace.
    """
    rows = []
    for use in files:
        if IoLayer.MPIIO not in use.seen:
            continue
        for writing in (True, False):
            both = traced.get(use.index)
            row = _exact(use, both[writing], writing) if both else _coarse(use, writing)
            if row is not None:
                rows.append(row)
    return tuple(sorted(rows, key=lambda row: (-row.system_seconds, row.path, not row.writing)))


def _exact(use: FileUse, side: Side, writing: bool) -> RequestRow | None:
    if not len(side.program):
        return None
    unit = unit_of(use)
    asked, below, modify = (total(rows) for rows in (side.program, side.system, side.modify))
    aligned = count_aligned(side.system, unit, side.budget)
    return RequestRow(
        path=use.path,
        writing=writing,
        exact=True,
        program_calls=asked.calls,
        collective_calls=total(side.together).calls,
        program_ranks=asked.processes,
        program_bytes=asked.bytes,
        program_mean_bytes=share(asked.bytes, asked.calls),
        system_calls=below.calls,
        system_ranks=below.processes,
        system_bytes=below.bytes,
        system_mean_bytes=share(below.bytes, below.calls),
        modify_reads=modify.calls,
        modify_bytes=modify.bytes,
        gaps=side.gaps.count,
        mean_gap_bytes=side.gaps.mean_bytes,
        aligned=None if aligned is None else share(aligned, below.calls),
        unit_sized=share(total(side.system, of_bytes=unit).calls, below.calls),
        unit_bytes=unit,
        system_seconds=_slowest_seconds(side),
    )


def _slowest_seconds(side: Side) -> float:
    rows = np.concatenate([side.system, side.modify])
    if not len(rows):
        return 0.0
    _, inverse = np.unique(rows["process"], return_inverse=True)
    return float(np.bincount(inverse, weights=rows["busy_ns"] * 1e-9).max())


def _coarse(use: FileUse, writing: bool) -> RequestRow | None:
    """From counters: the system's calls are all those of POSIX and stdio that are not own."""
    ops = WRITES if writing else READS
    asked = use.calls(ops, layers=[IoLayer.MPIIO], own=False)
    if not asked.count:
        return None
    together = use.calls(ops[1:], layers=[IoLayer.MPIIO], own=False)
    every = use.calls(ops, layers=SYSTEM, own=False)
    return RequestRow(
        path=use.path,
        writing=writing,
        exact=False,
        program_calls=asked.count,
        collective_calls=together.count,
        program_ranks=asked.ranks,
        program_bytes=asked.bytes,
        program_mean_bytes=asked.mean_bytes,
        system_calls=every.count,
        system_ranks=None if use.reduced.any() else every.ranks,
        system_bytes=every.bytes,
        system_mean_bytes=every.mean_bytes,
        modify_bytes=_modify_bytes(use) if writing else 0,
        aligned=_aligned(use, writing),
        unit_bytes=_alignment(use.rows) or unit_of(use),
        system_seconds=every.elapsed,
    )


def _modify_bytes(use: FileUse) -> int | None:
    """Bytes that the system read although nobody asked MPI-IO to read; None: cannot be told."""
    if use.calls(READS, layers=[IoLayer.MPIIO], own=False).count:
        return None
    return use.calls(READS, layers=SYSTEM, own=False).bytes


def _alignment(rows: NDArray[Any]) -> int:
    return int(rows["alignment"].max()) if len(rows) else 0


def _aligned(use: FileUse, writing: bool) -> float | None:
    """Share of aligned calls; counters do not tell directions, so only where there is one."""
    other = READS if writing else WRITES
    rows = use.rows[np.isin(use.rows["layer"], SYSTEM)]
    unknown = not _alignment(rows) or (rows["unaligned"] < 0).any()
    if unknown or use.calls(other, layers=SYSTEM, own=False).count:
        return None
    count = use.calls(WRITES if writing else READS, layers=SYSTEM, own=False).count
    return 1.0 - share(float(rows["unaligned"].sum()), count) if count else None
