# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records the MPI-IO statistics and timers that Cray MPICH prints for a job and its files.

Source: intro_mpi(3) of Cray MPICH, MPICH_VERSION_DISPLAY, MPICH_MPIIO_HINTS_DISPLAY,
MPICH_MPIIO_STATS, MPICH_MPIIO_TIMERS; sample outputs of jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# What Cray's MPICH_MPIIO_STATS=1 tells of one file, from whatever source.
#
# Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_STATS; sample blocks in job outputs.


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


# What Cray's MPICH_MPIIO_TIMERS=1 tells of the phases of one file's writes or reads.
#
# Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_TIMERS (documented).


@dataclass(frozen=True)
class MpiioPhase:
    """One phase of collective and independent calls; None: not told.

    Attributes:
        name: As the block names it: "file write", "data send", "wait for coll".
        minimum / maximum / average: Over the ranks of the block, in its time unit.
        share: Of the total, from 0; phases that overlap add up to more than 1.
    """

    name: str
    minimum: float | None = None
    maximum: float | None = None
    average: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class MpiioTimers:
    """One block: one direction of one file, on all ranks or some of them.

    Attributes:
        path: As the program named the file; "" where the output does not tell it.
        direction: "write" or "read".
        scale: Whose times these are: "all ranks", "writers", "readers" or "aggregators".
        active_ranks / idle_ranks: Ranks that wrote (read) and that did not; None: not told.
        ticks_per_unit: Clock ticks in one unit of the phases' times; None: they are seconds.
        phases: In the order of the block.
        data_send_bytes_per_second: Rate at which the ranks sent data to the aggregators.
        raw_bytes_per_second: Rate of the system calls alone.
        net_bytes_per_second: Rate of the whole transfer, with opening and waiting.
    """

    path: str
    direction: str
    scale: str
    active_ranks: int | None = None
    idle_ranks: int | None = None
    ticks_per_unit: int | None = None
    phases: tuple[MpiioPhase, ...] = ()
    data_send_bytes_per_second: float | None = None
    raw_bytes_per_second: float | None = None
    net_bytes_per_second: float | None = None


# What Cray MPICH prints of itself and of each file into the output of a job.


@dataclass(frozen=True)
class MpiioFile:
    """One file of one run; what was closed several times is added up.

    Attributes:
        path: Relative to the run's directory where it lies inside, otherwise as printed.
        write / read: Statistics of each direction; None: none were printed.
        timers: For each direction and scale the block with most time.
        hints: In use when the file was opened last.
    """

    path: str
    write: MpiioSide | None = None
    read: MpiioSide | None = None
    timers: tuple[MpiioTimers, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Bytes that its system calls moved."""
        return sum(side.total_bytes for side in (self.write, self.read) if side is not None)


@dataclass(frozen=True)
class MpiioOutput:
    """All that one run printed.

    Attributes:
        mpi_version: "CRAY MPICH version 8.1.27 ..."; "" if it was not printed.
        files: Largest first.
    """

    mpi_version: str = ""
    files: tuple[MpiioFile, ...] = ()
