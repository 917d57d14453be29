# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray's MPICH_MPIIO_STATS=1 tells of one file, from whatever source.

Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_STATS; sample blocks in job outputs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MpiioSide:
    """Writes (or reads) of one file; None: not told.

    Attributes:
        independent / collective: Calls of the program, over all ranks.
        independent_ranks: Ranks that made independent calls ("independent writers").
        aggregators: Processes that did the system calls of collective ones.
        stripe_count / stripe_bytes: Layout of the file.
        system_calls: Writes (reads) that reached the operating system.
        stripe_sized: Of these, as large as a stripe.
        active: Collective calls with 1, up to half, more than half, all aggregators active.
        total_bytes: Moved by the system calls.
        average_bytes: Of one system call.
        modify_reads / modify_bytes: Reads before a write, to keep what lies between its pieces.
        gaps: System calls that did not begin where the one before ended.
        average_gap_bytes: Mean distance of these.
    """

    independent: int = 0
    collective: int = 0
    independent_ranks: int = 0
    aggregators: int = 0
    stripe_count: int | None = None
    stripe_bytes: int | None = None
    system_calls: int = 0
    stripe_sized: int | None = None
    active: tuple[int, int, int, int] | None = None
    total_bytes: int = 0
    average_bytes: int | None = None
    modify_reads: int | None = None
    modify_bytes: int | None = None
    gaps: int | None = None
    average_gap_bytes: int | None = None


@dataclass(frozen=True)
class MpiioStats:
    """Both sides of one file; None: there is no block for it."""

    path: str
    write: MpiioSide | None = None
    read: MpiioSide | None = None
