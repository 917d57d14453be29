# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of one run, from whatever source: who, what, how much, how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model._access import Pieces, Selections
from stripewise.model._trace import Op, Trace

SIZE_EDGES = (0, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
"""Lower edges of the ten size bins, bytes (Darshan's)."""

N_COMMON = 4

COUNTER_ROW = np.dtype(
    [
        ("file", "<i4"),  # index into `RunProfile.paths`
        ("layer", "u1"),  # `IoLayer`
        ("rank", "<i4"),  # -1: no MPI; -2: all ranks together (a reduced record)
        ("process", "<i4"),  # -1: not known
        ("count", "<i8", (len(Op),)),
        ("bytes", "<i8", (len(Op),)),
        ("seconds", "<f8", (len(Op),)),
        ("outermost_seconds", "<f8"),  # in calls that no other I/O layer made
        ("outermost_read_bytes", "<i8"),  # what the program asked for
        ("outermost_write_bytes", "<i8"),
        ("first", "<f8"),  # seconds since the run began, first and last data call; nan
        ("last", "<f8"),
        ("sequential_reads", "<i8"),
        ("consecutive_reads", "<i8"),
        ("sequential_writes", "<i8"),
        ("consecutive_writes", "<i8"),
        ("read_sizes", "<i8", (len(SIZE_EDGES),)),
        ("write_sizes", "<i8", (len(SIZE_EDGES),)),
        ("unaligned", "<i8"),  # calls not aligned in the file to `alignment`; -1: not known
        ("alignment", "<i8"),  # bytes; 0: not known
        ("common_size", "<i8", (N_COMMON,)),  # most common sizes, bytes; 0: none
        ("common_count", "<i8", (N_COMMON,)),
        ("maximum_offset", "<i8"),  # end of the furthest byte; -1: not known
        ("slowest_rank", "<i4"),  # of a reduced record; -1: not known
        ("slowest_seconds", "<f8"),
        ("slowest_bytes", "<i8"),
        ("fastest_rank", "<i4"),
        ("fastest_seconds", "<f8"),
        ("fastest_bytes", "<i8"),
        ("seconds_deviation", "<f8"),  # standard deviation over ranks; nan
        ("bytes_deviation", "<f8"),
    ]
)
"""Counters of one file in one layer by one rank, or by all together (rank -2).

`count`, `bytes` and `seconds` are by `Op`.
"""

HEAT_ROW = np.dtype(
    [
        ("rank", "<i4"),
        ("file", "<i4"),  # -1: all files together
        ("layer", "u1"),
        ("bin", "<i4"),
        ("read_bytes", "<f8"),
        ("write_bytes", "<f8"),
        ("busy_seconds", "<f8"),
    ]
)


def _no_heat() -> NDArray[Any]:
    return np.zeros(0, HEAT_ROW)


@dataclass(frozen=True)
class FileHints:
    """Hints of one file: requested by the program, applied by Stripewise, reported by the MPI."""

    requested: dict[str, str] = field(default_factory=dict)
    applied: dict[str, str] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FileLayout:
    """Layout of one file on a parallel file system; 0: not known."""

    stripe_bytes: int = 0
    stripe_count: int = 0
    targets: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class RunProfile:
    """One run.

    Attributes:
        source: Where it comes from, in words: "stripewise trace", "Darshan 3.4.1 log".
        command: As it was called, "" if not known; `job_id`, `user`: likewise.
        n_ranks: 0 without MPI; `n_processes`: that were recorded.
        hosts: Names; empty: not known.
        start: Seconds since 1970; `elapsed_seconds`: of the whole run.
        paths: Of the files.
        counters: (n,) `COUNTER_ROW`.
        layers: Names of the layers that were watched; one that is absent from the counters
            was not used, one that is absent here was not looked at.
        heat: (m,) `HEAT_ROW`; `heat_bin_seconds`: width of a bin, 0 without a heat map.
        hints / layouts: By index of the file.
        mpi: Family of the MPI library: "mpich", "openmpi", "" if not known.
        partial: Some of it is missing; why is in `notes`.
        notes: What is missing or doubtful, in words.
    """

    source: str
    command: str = ""
    job_id: str = ""
    user: str = ""
    n_ranks: int = 0
    n_processes: int = 0
    hosts: tuple[str, ...] = ()
    start: float = 0.0
    elapsed_seconds: float = 0.0
    paths: tuple[str, ...] = ()
    counters: NDArray[Any] = field(default_factory=lambda: np.zeros(0, COUNTER_ROW))
    layers: tuple[str, ...] = ()
    heat: NDArray[Any] = field(default_factory=_no_heat)
    heat_bin_seconds: float = 0.0
    hints: dict[int, FileHints] = field(default_factory=dict)
    layouts: dict[int, FileLayout] = field(default_factory=dict)
    mpi: str = ""
    partial: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that one source tells of one run.

    Attributes:
        profile: Always there.
        trace: None where the source has no single calls.
        accesses: For patterns; empty where the source cannot tell.
        mpiio_stats: `readers` records of MPICH_MPIIO_STATS blocks, where the source is such.
    """

    profile: RunProfile
    trace: Trace | None = None
    accesses: tuple[Selections | Pieces, ...] = ()
    mpiio_stats: tuple[Any, ...] = ()
