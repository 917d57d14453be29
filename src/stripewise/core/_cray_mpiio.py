# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the MPI-IO statistics and timers that Cray MPICH prints for a job and its files.

Source: intro_mpi(3) of Cray MPICH, MPICH_VERSION_DISPLAY, MPICH_MPIIO_HINTS_DISPLAY,
MPICH_MPIIO_STATS, MPICH_MPIIO_TIMERS; sample outputs of jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Statistics of one file that Cray's MPICH_MPIIO_STATS=1 reports.
#
# Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_STATS; sample blocks in job outputs.


@dataclass(frozen=True)
class MpiioSide:
    """Statistics of the writes (or reads) of one file; None if a figure is not reported.

    Attributes:
        independent / collective: Calls that the program made, over all ranks.
        independent_ranks: Ranks that made independent calls ("independent writers").
        aggregators: Processes that made the system calls for collective calls.
        stripe_count / stripe_bytes: Layout of the file.
        system_calls: Writes (reads) that reached the operating system.
        stripe_sized: Number of these that were as large as a stripe.
        active: Collective calls in which 1, up to half, more than half, or all aggregators were
            active.
        total_bytes: Bytes that the system calls moved.
        average_bytes: Mean size of a system call.
        modify_reads / modify_bytes: Reads before a write that preserve the data between its
            pieces.
        gaps: System calls that did not begin where the previous one ended.
        average_gap_bytes: Mean size of these gaps.
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
    """Statistics of one file in both directions; None if there is no block for a direction."""

    path: str
    write: MpiioSide | None = None
    read: MpiioSide | None = None


# Times of the phases of a file's writes or reads that Cray's MPICH_MPIIO_TIMERS=1 reports.
#
# Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_TIMERS (documented).


@dataclass(frozen=True)
class MpiioPhase:
    """One phase of collective and independent calls; None if a time is not reported.

    Attributes:
        name: Name of the phase in the block: "file write", "data send", "wait for coll".
        minimum / maximum / average: Times over the ranks of the block, in its time unit.
        share: Share of the total time; phases that overlap can add up to more than 1.
    """

    name: str
    minimum: float | None = None
    maximum: float | None = None
    average: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class MpiioTimers:
    """Timers in one block: one direction of one file, on all ranks or some of them.

    Attributes:
        path: Name of the file as the program gave it; empty if the output does not contain it.
        direction: Direction of the calls: "write" or "read".
        scale: Processes whose times these are: "all ranks", "writers", "readers" or "aggregators".
        active_ranks / idle_ranks: Ranks that wrote (read), and ranks that did not; None if not
            reported.
        ticks_per_unit: Clock ticks in one unit of the phases' times; None if these are in seconds.
        phases: Phases in the order of the block.
        data_send_bytes_per_second: Rate at which the ranks sent data to the aggregators.
        raw_bytes_per_second: Rate of the system calls only.
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


# Everything that Cray MPICH prints about itself and each file in the output of a job.


@dataclass(frozen=True)
class MpiioFile:
    """MPI-IO figures of one file in one run, summed over all times it was closed.

    Attributes:
        path: Path relative to the run's directory if the file is inside, otherwise as printed.
        write / read: Statistics of each direction; None if none were printed.
        timers: The block with the longest time for each direction and scale.
        hints: Hints in use when the file was last opened.
    """

    path: str
    write: MpiioSide | None = None
    read: MpiioSide | None = None
    timers: tuple[MpiioTimers, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """The bytes that system calls on the file moved."""
        return sum(side.total_bytes for side in (self.write, self.read) if side is not None)


@dataclass(frozen=True)
class MpiioOutput:
    """All MPI-IO figures that one run printed.

    Attributes:
        mpi_version: Version line, "CRAY MPICH version 8.1.27 ..."; empty if it was not printed.
        files: Files, largest first.
    """

    mpi_version: str = ""
    files: tuple[MpiioFile, ...] = ()
