# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What one run of a program gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    """Non-zero exit status or a signal."""
    TIMEOUT = "timeout"
    """Stopped by its time limit; a deadlock looks like this."""
    CANCELLED = "cancelled"
    """Stopped by the tuner's end; it counts as never run."""
    UNSEEN = "unseen"
    """It ran, but the library did not see it (static program, preload dropped, ...)."""


@dataclass(frozen=True)
class ObservedFile:
    """What was observed of one file in one run: effective settings, not requested ones.

    Attributes:
        path: Relative to the run's directory where it lies inside, otherwise absolute.
        read_bytes / write_bytes: What the program asked to move (outermost calls).
        io_seconds: Outermost time, maximum over ranks.
        interface: Highest layer that the program used: "hdf5", "mpiio", "stdio", "posix".
        writers: Ranks (processes) that issued system writes.
        system_writes: Number of system writes; system_write_bytes: their bytes.
        median_write_bytes: Approximate (from bins) median size of a system write.
        largest_write_bytes: Largest system write.
        aligned_fraction: {alignment_bytes: fraction of system writes whose offset and size
            are multiples of it} for 4 KiB, 64 KiB and 1 MiB.
        requested / applied / reported: Hints that the program passed, that Stripewise added,
            and that MPI_File_get_info echoed.
    """

    path: str
    read_bytes: int = 0
    write_bytes: int = 0
    io_seconds: float = 0.0
    interface: str = ""
    writers: int = 0
    system_writes: int = 0
    system_write_bytes: int = 0
    median_write_bytes: int = 0
    largest_write_bytes: int = 0
    aligned_fraction: dict[int, float] = field(default_factory=dict)
    requested: dict[str, str] = field(default_factory=dict)
    applied: dict[str, str] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement:
    """One run.

    Attributes:
        run_id: UUID text.
        status: How it ended.
        exit_code: Of the command; negative: minus the signal; None if it never started.
        elapsed_seconds: Wall clock of the command.
        io_seconds: Maximum over ranks of the time in outermost I/O calls.
        read_bytes / write_bytes: What the program asked to move, over all ranks.
        started_unix_seconds: When it started.
        files: What was observed, largest first.
        message: One line where status is not OK.
    """

    run_id: str
    status: RunStatus
    exit_code: int | None = None
    elapsed_seconds: float = 0.0
    io_seconds: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0
    started_unix_seconds: float = 0.0
    files: tuple[ObservedFile, ...] = ()
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run counts as a measurement."""
        return self.status is RunStatus.OK

    @property
    def total_bytes(self) -> int:
        """Bytes that the program asked to move."""
        return self.read_bytes + self.write_bytes

    @property
    def bandwidth_bytes_per_second(self) -> float:
        """Bytes over I/O time; 0 without I/O time."""
        return self.total_bytes / self.io_seconds if self.io_seconds > 0 else 0.0
