# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray's MPICH_MPIIO_TIMERS=1 tells of the phases of one file's writes or reads.

Source: intro_mpi(3) of Cray MPICH, MPICH_MPIIO_TIMERS (documented).
"""

from __future__ import annotations

from dataclasses import dataclass


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
