# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray MPICH prints of itself and of each file into the output of a job.

Source: intro_mpi(3) of Cray MPICH, MPICH_VERSION_DISPLAY, MPICH_MPIIO_HINTS_DISPLAY,
MPICH_MPIIO_STATS, MPICH_MPIIO_TIMERS; sample outputs of jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stripewise.model._mpiio_stats import MpiioSide
from stripewise.model._mpiio_timers import MpiioTimers


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
