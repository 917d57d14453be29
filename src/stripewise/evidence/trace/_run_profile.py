# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records the counters of one run from any source, with the marks of its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Amount, Gap, ReportedPart, reasons
from stripewise.evidence.trace._trace import RECORDED_LAYERS, Op, members

if TYPE_CHECKING:
    from stripewise.core import MpiioStats, MpiioTimers
    from stripewise.evidence.trace._trace import Pieces, Selections, Trace


SIZE_EDGES = (0, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30)
"""Lower edges of the ten size bins, bytes (Darshan's)."""

N_COMMON = 4
ALIGN_BINS = 32
ALL_RANKS = -2
"""Rank of a row that combines all ranks (a reduced record)."""

N_LAYERS = len(RECORDED_LAYERS)

PROCESS_ROW = np.dtype(
    members(
        "u4 pid ppid",
        "i8 host",  # index into `RunProfile.hosts`
        "i4 rank",  # in MPI_COMM_WORLD; -1 if it has none
        "i4 world_size",
        ("is_program", "?"),  # neither a launcher nor a shell beside ranks
        "u4 mpi_family",  # `MpiFamily`
        "u4 plugin_state",  # `PluginState`
        "u4 flags",  # `ProcessFlag`
        "u8 start_ns end_ns",  # since 1970; the end is 0 if unknown
        "i8 shift_ns",  # added to its own times: then since `RunProfile.start`
        "u8 outermost_ns outermost_read_bytes outermost_write_bytes lost_records lost_calls",
        "u4 capture",
        "u8 lost_events",
        ("own_ns", "<u8", (N_LAYERS,)),  # of the library in `own_samples` nested calls, by layer
        ("own_samples", "<u4", (N_LAYERS,)),
        ("mpi_version", "S256"),
        ("exe", "S512"),
        ("command", "S1024"),  # words, separated by \x1f
    ),
)

COUNTER_ROW = np.dtype(
    members(
        "i4 file",  # index into `RunProfile.paths`
        "i1 layer",  # `IoLayer`
        "i4 rank",  # -1: no MPI; -2: all ranks together (a reduced record)
        "i4 process",  # row of `RunProfile.processes`; -1 if unknown
        "u4 flags",  # `FileFlag`
        ("count", "<i8", (len(Op),)),
        ("bytes", "<i8", (len(Op),)),
        ("seconds", "<f8", (len(Op),)),
        "f8 outermost_seconds",  # in calls that no other I/O layer made
        "i8 outermost_read_bytes outermost_write_bytes",  # requested by the program
        "f8 waiting_seconds",  # in pipes, sockets and devices; part of no other time
        "f8 first last",  # data call, seconds since the start of the run; nan if none
        "i8 sequential_reads consecutive_reads sequential_writes consecutive_writes",
        ("read_sizes", "<i8", (len(SIZE_EDGES),)),
        ("write_sizes", "<i8", (len(SIZE_EDGES),)),
        "i8 unaligned",  # calls not aligned in the file to `alignment`; -1 if unknown
        "i8 alignment",  # bytes; 0 if unknown
        "i8 read_min read_max write_min write_max",  # sizes of calls, bytes; 0 if unknown
        ("write_alignment", "<u4", (ALIGN_BINS,)),  # writes by power of two of offsets
        ("common_size", "<i8", (N_COMMON,)),  # most common sizes, bytes; 0 if there is none
        ("common_count", "<i8", (N_COMMON,)),
        "i8 maximum_offset",  # end of the furthest byte; -1 if unknown
        "i4 slowest_rank",  # slowest rank of a reduced record; -1 if unknown
        "f8 slowest_seconds",
        "i8 slowest_bytes",
        "i4 fastest_rank",
        "f8 fastest_seconds",
        "i8 fastest_bytes",
        "f8 seconds_deviation",  # standard deviation over ranks; nan if unknown
        "f8 bytes_deviation",
    ),
)
"""Counters of one file in one layer by one rank, or by all together (rank -2).

`count`, `bytes` and `seconds` are by `Op`.
"""

N_ACTIONS = 16


class Action(IntEnum):
    """Kind of a call on a name."""

    OPEN = 0
    STAT = 1
    ACCESS = 2
    LIST = 3
    MKDIR = 4
    RMDIR = 5
    UNLINK = 6
    RENAME = 7
    LINK = 8
    SYMLINK = 9
    CHANGE = 10
    TRUNCATE = 11
    STATFS = 12


NAMES_ROW = np.dtype(
    members(
        "i4 directory",  # index into `RunProfile.directories`
        "i4 rank",  # -1: no MPI
        "i4 process",  # row of `RunProfile.processes`
        ("count", "<i8", (N_ACTIONS,)),  # by `Action`, including failed ones
        ("failed", "<i8", (N_ACTIONS,)),
        ("seconds", "<f8", (N_ACTIONS,)),
    ),
)
"""Calls on the names in one directory by one process; those on a file that was opened are also in
its counters."""

N_MODES = 5
N_CHUNK_MODES = 3
N_CAUSES = 16


class IoMode(IntEnum):
    """How HDF5 carried out a collective transfer (H5D_mpio_actual_io_mode_t)."""

    INDEPENDENT = 0
    CHUNKS_INDEPENDENT = 1
    CHUNKS_COLLECTIVE = 2
    CHUNKS_MIXED = 3
    CONTIGUOUS_COLLECTIVE = 4


class Cause(IntEnum):
    """Why HDF5 did not carry out a transfer collectively: bits of its answer.

    Source: H5D_mpio_no_collective_cause_t in H5Ppublic.h of HDF5 1.10 to 2.0.
    """

    NOT_REQUESTED = 0
    CONVERSION = 1
    TRANSFORMS = 2
    MPI_TYPES_DISABLED = 3
    NOT_SIMPLE_DATASPACE = 4
    STORAGE = 5
    FILTERED_WRITES = 6
    ERROR = 7
    NO_SELECTION_IO = 8


TRANSFER_ROW = np.dtype(
    members(
        "i4 file",  # index into `RunProfile.paths`
        "i4 dataset",  # index into `RunProfile.datasets`
        "i4 rank",  # -1: no MPI
        "i4 process",  # row of `RunProfile.processes`
        ("writes", "?"),
        "i8 element_bytes",  # in the file; 0: unknown, or of several datasets
        "i8 count bytes",  # bytes in memory
        "f8 seconds",
        "i8 compared",  # transfers whose types in memory and in the file were compared; of these:
        "i8 converted converted_bytes",  # HDF5 had to convert values
        "f8 converted_seconds",
        "i8 members members_bytes",  # only some members of a compound were moved
        "f8 members_seconds",
        "i8 collective",  # requested to be collective; of these:
        "f8 collective_seconds",
        "i8 answered",  # HDF5 reported what it did
        ("modes", "<i8", (N_MODES,)),  # by `IoMode`
        "f8 independent_seconds",  # in those that were carried out independently
        ("chunk_modes", "<i8", (N_CHUNK_MODES,)),  # none, one call for all chunks, one for each
        ("local_causes", "<i8", (N_CAUSES,)),  # by `Cause`: of this rank
        ("global_causes", "<i8", (N_CAUSES,)),  # of any rank
    ),
)
"""How HDF5 carried out the transfers of one dataset in one direction in one process."""


def fell_back(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: the transfers that were not collective although this was requested.

    A rank that has no part in a transfer may report that it did nothing collectively without any
    cause: this is no fallback.
    """
    causes = rows["global_causes"].max(axis=1)
    return np.asarray(
        np.minimum(rows["modes"][:, IoMode.INDEPENDENT], causes)
        + rows["modes"][:, IoMode.CHUNKS_INDEPENDENT]
    )


HEAT_ROW = np.dtype(
    members(
        "i4 rank",
        "i4 file",  # -1: all files together
        "u1 layer",
        "i4 bin",
        "f8 read_bytes write_bytes busy_seconds",
    ),
)


@dataclass(frozen=True)
class FileHints:
    """Hints of one file: requested by the program, applied by Stripewise, reported by the MPI."""

    requested: dict[str, str] = field(default_factory=dict)
    applied: dict[str, str] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FileLayout:
    """Layout of one file on a parallel file system; 0 if unknown.

    Attributes:
        stripe_bytes / stripe_count: Size and number of stripes.
        targets: Storage targets of the file.
        n_targets: Number of targets of the file system.
        emulated: Whether the storage was emulated.
    """

    stripe_bytes: int = 0
    stripe_count: int = 0
    targets: tuple[int, ...] = ()
    n_targets: int = 0
    emulated: bool = False


@dataclass(frozen=True)
class Settings:
    """Settings of one process for one file (for the whole process if `path` is -1).

    Attributes:
        process: Row of `RunProfile.processes`.
        path: Index into `RunProfile.paths`.
        layer: `IoLayer` of the settings.
        kind: `SettingsKind` of the record.
        values: Values by key, as texts.
    """

    process: int
    path: int
    layer: int
    kind: int
    values: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class RunProfile:
    """Counters and settings of one run, from any evidence.

    Attributes:
        source: Name of the source: "stripewise trace", "Darshan 3.4.1 log".
        command: Command line, empty if unknown; the same for `job_id` and `user`.
        n_ranks: Number of ranks, 0 without MPI; `n_processes`: number of the program's processes.
        hosts: Names of the hosts; empty if unknown.
        start: Start of the run, seconds since 1970; `elapsed_seconds`: its duration.
        paths: Absolute paths; bytes that are not UTF-8 are kept as surrogate escapes.
        counters: (n,) `COUNTER_ROW` of the program's processes.
        helpers: (n,) `COUNTER_ROW` of launchers and shells, as far as they were seen.
        processes: (p,) `PROCESS_ROW`, the program's first; empty if unknown.
        issued: (i,) `COUNTER_ROW` of the system calls that the C library made for streams.
        names: (d,) `NAMES_ROW` of the program's processes; empty if unknown.
        directories: Absolute paths; the empty one represents all that have no row of their own.
        transfers: (t,) `TRANSFER_ROW` of the program's processes; empty if unknown.
        datasets: Names of datasets; the empty one represents several of one file.
        settings: Requested, applied and reported settings, by process.
        layers: Names of the layers that were observed; an observed layer without counters was not
            used, one that is missing here was not observed.
        heat: (m,) `HEAT_ROW`; `heat_bin_seconds`: width of a bin, 0 without a heat map.
        hints / layouts: Hints and layouts by index of the file.
        properties: File access properties of HDF5 that the program set, by index of the file.
        hdf5_unseen: Indices of HDF5 files of which no call was seen, since HDF5 is linked
            statically into the program.
        mpi: Family of the MPI library: "mpich", "openmpi", "other"; empty if unknown.
        mpi_version: First line of MPI_Get_library_version, empty if unknown.
        partial: Whether some of the profile is missing; `notes` contains the reasons.
        damaged: Whether the input itself is damaged: it was cut off, or a part cannot be read.
        gaps: Amounts that are unknown or incomplete; the tables contain what is known.
        notes: Messages on what is missing or doubtful.
        troubles: Notes that the runtime library recorded itself.
        unchecked: Number of processes recorded without a valid checksum; None for other sources.
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
    helpers: NDArray[Any] = field(default_factory=lambda: np.zeros(0, COUNTER_ROW))
    processes: NDArray[Any] = field(default_factory=lambda: np.zeros(0, PROCESS_ROW))
    issued: NDArray[Any] = field(default_factory=lambda: np.zeros(0, COUNTER_ROW))
    names: NDArray[Any] = field(default_factory=lambda: np.zeros(0, NAMES_ROW))
    directories: tuple[str, ...] = ()
    transfers: NDArray[Any] = field(default_factory=lambda: np.zeros(0, TRANSFER_ROW))
    datasets: tuple[str, ...] = ()
    settings: tuple[Settings, ...] = ()
    layers: tuple[str, ...] = ()
    heat: NDArray[Any] = field(default_factory=lambda: np.zeros(0, HEAT_ROW))
    heat_bin_seconds: float = 0.0
    hints: dict[int, FileHints] = field(default_factory=dict)
    properties: dict[int, dict[str, str]] = field(default_factory=dict)
    layouts: dict[int, FileLayout] = field(default_factory=dict)
    hdf5_unseen: tuple[int, ...] = ()
    mpi: str = ""
    mpi_version: str = ""
    partial: bool = False
    damaged: bool = False
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    unchecked: int | None = None

    @property
    def is_mpi(self) -> bool:
        """Whether the program had ranks; without MPI its processes are just processes."""
        return self.n_ranks > 0

    @cached_property
    def program(self) -> NDArray[Any]:
        """Processes whose I/O is the program's: (n_processes,) `PROCESS_ROW`."""
        rows: NDArray[Any] = self.processes[self.processes["is_program"]]
        return rows

    @cached_property
    def used_mpi(self) -> NDArray[np.bool_]:
        """Whether each process initialised MPI, with or without the plug-in: (p,) bool."""
        return uses_mpi(self.processes)

    @cached_property
    def actors(self) -> NDArray[np.int64]:
        """Rank that made the calls of each counter row, without MPI the process: (n,) int64.

        Rows that combine all ranks have `ALL_RANKS`.
        """
        return _actors(self.counters)

    @property
    def io_seconds(self) -> float:
        """Time in outermost I/O calls, maximum over ranks; without MPI over processes.

        For a rank number that occurs several times (several mpiexec lines in a script), the sum of
        its times counts.
        """
        if len(self.processes):
            program = self.program
            return self.over_ranks(program["outermost_ns"] * 1e-9, np.arange(len(program)))
        return self.seconds_of(self.counters)

    def seconds_of(self, rows: NDArray[Any]) -> float:
        """Return the outermost time of counter rows, e.g. of a file: maximum over ranks.

        For a row that combines all ranks, this is the time of the slowest one.
        """
        if len(self.processes):
            return self.over_ranks(rows["outermost_seconds"], rows["process"])
        reduced = rows["rank"] == ALL_RANKS
        mean = rows["outermost_seconds"][reduced] / max(self.n_ranks, 1)
        slowest = np.minimum(rows["slowest_seconds"], rows["outermost_seconds"])[reduced]
        single = rows[~reduced]
        own = np.bincount(
            np.unique(_actors(single), return_inverse=True)[1],
            weights=single["outermost_seconds"],
        )
        return float(own.max(initial=0.0) + np.maximum(mean, slowest).sum())

    def over_ranks(self, seconds: NDArray[Any], process: NDArray[Any]) -> float:
        """Sum values over the processes of each rank; return the maximum.

        Args:
            seconds: (n,) values in seconds.
            process: (n,) rows of `processes` that they belong to.
        """
        if not len(seconds):
            return 0.0
        owner = self.processes["rank"][process] if self.is_mpi else process
        return float(np.bincount(owner, weights=seconds).max())

    @property
    def read_bytes(self) -> int:
        """Bytes that the program requested to read, as far as they are known."""
        return self._moved("outermost_read_bytes")

    @property
    def write_bytes(self) -> int:
        """Bytes that the program requested to write, as far as they are known."""
        return self._moved("outermost_write_bytes")

    def why_missing(self, part: ReportedPart, file: int | None = None) -> str:
        """Return why an amount of the run or of a file is incomplete; empty if it is complete."""
        return reasons(
            gap.why
            for gap in self.gaps
            if gap.parts & part and (file is None or file in gap.files)
        )

    @property
    def missing(self) -> dict[str, str]:
        """Reasons why `io_seconds`, `read_bytes` or `write_bytes` are unknown, by name."""
        parts = {
            "io_seconds": ReportedPart.SECONDS,
            "read_bytes": ReportedPart.READ_BYTES,
            "write_bytes": ReportedPart.WRITE_BYTES,
        }
        return {name: why for name, part in parts.items() if (why := self.why_missing(part))}

    @property
    def read_amount(self) -> Amount:
        """Bytes that the program requested to read."""
        return Amount.of(self.read_bytes, self.why_missing(ReportedPart.READ_BYTES))

    @property
    def write_amount(self) -> Amount:
        """Bytes that the program requested to write."""
        return Amount.of(self.write_bytes, self.why_missing(ReportedPart.WRITE_BYTES))

    @property
    def io_amount(self) -> Amount:
        """Seconds in outermost I/O calls, maximum over ranks."""
        return Amount.of(self.io_seconds, self.why_missing(ReportedPart.SECONDS))

    def _moved(self, name: str) -> int:
        return int((self.program if len(self.processes) else self.counters)[name].sum())


def _actors(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: the rank that made the calls of each row, without MPI the process."""
    without = rows["rank"] == -1
    return np.where(without, rows["process"], rows["rank"]).astype(np.int64)


def uses_mpi(processes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (p,) bool: whether a process initialised MPI, with or without the plug-in."""
    return np.asarray(
        ((processes["flags"] & ProcessFlag.MPI_INITIALIZED) != 0)
        | (processes["mpi_family"] != MpiFamily.NONE)
        | (processes["plugin_state"] != PluginState.UNUSED)
        | (processes["rank"] >= 0)
    )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that one source contains about one run.

    Attributes:
        profile: Profile of the run; always present.
        trace: Trace of the run; None if the source has no single calls.
        accesses: Accesses for patterns; empty if the source cannot provide them.
        mpiio_stats: Blocks of MPICH_MPIIO_STATS, for a source of that kind.
        mpiio_timers: Blocks of MPICH_MPIIO_TIMERS in the same output.
    """

    profile: RunProfile
    trace: Trace | None = None
    accesses: tuple[Selections | Pieces, ...] = ()
    mpiio_stats: tuple[MpiioStats, ...] = ()
    mpiio_timers: tuple[MpiioTimers, ...] = ()


# Marks that the processes of a run leave, with the numbers stored in a container.


class MpiFamily(IntEnum):
    """MPI ABI family of a process."""

    NONE = 0
    MPICH = 1
    OPENMPI = 2
    OTHER = 3


class PluginState(IntEnum):
    """State of the MPI plug-in in a process."""

    UNUSED = 0
    LOADED = 1
    MISSING = 2
    WRONG = 3


class ProcessFlag(IntFlag):
    """Bits of the flags of a `PROCESS_ROW`."""

    MPI_INITIALIZED = 0x1
    MPI_FINALIZED = 0x2
    EXITED = 0x4
    EXECED = 0x8
    FORKED = 0x10
    USES_IO_URING = 0x20
    USES_SHARED_MMAP = 0x40
    HDF5 = 0x80
    HDF5_PARALLEL = 0x100
    CONFIG_BAD = 0x200
    GUARD_HIT = 0x400
    PNETCDF = 0x800
    NETCDF4 = 0x1000
    ADIOS2 = 0x2000
    ROMIO_CHOSEN = 0x4000
    LOST_OTHERS = 0x8000
    STARTED_UNSEEN = 0x10000


class FileFlag(IntFlag):
    """Bits of the flags of a `COUNTER_ROW`."""

    READ = 0x1
    WRITTEN = 0x2
    CREATED = 0x4
    OPENED_WRITE = 0x8
    OPENED_READ = 0x10
    UNLINKED = 0x20
    TRUNCATED = 0x40
    INTERLEAVED = 0x80
    CHARACTERS = 0x100
    WIDE = 0x200
    MAPPED = 0x400
    MAPPED_SHARED = 0x800
    UNFETCHED = 0x1000
    POSTED = 0x2000


class SettingsKind(IntEnum):
    """Origin of the settings in a record."""

    PROGRAM = 1
    APPLIED = 2
    REPORTED = 3


# Renaming of files as if a run had worked elsewhere: on a burst buffer, then copied back.


def relocated(evidence: Evidence, worked_in: Path, directory: Path) -> Evidence:
    """Return evidence with the files below one directory moved to another.

    Args:
        evidence: Evidence of a run.
        worked_in: Directory of its files while it ran.
        directory: Directory in which they are now.
    """
    trace = evidence.trace
    accesses = tuple(
        replace(access, file=_moved((access.file,), worked_in, directory)[0])
        for access in evidence.accesses
    )
    if trace is not None:
        trace = replace(trace, paths=_moved(trace.paths, worked_in, directory))
    profile = relocated_profile(evidence.profile, worked_in, directory)
    return replace(evidence, profile=profile, trace=trace, accesses=accesses)


def relocated_profile(profile: RunProfile, worked_in: Path, directory: Path) -> RunProfile:
    """Return a profile with the files below one directory moved to another."""
    return replace(
        profile,
        paths=_moved(profile.paths, worked_in, directory),
        directories=_moved(profile.directories, worked_in, directory),
    )


def _moved(paths: tuple[str, ...], worked_in: Path, directory: Path) -> tuple[str, ...]:
    top = str(worked_in)
    return tuple(
        f"{directory}{path[len(top) :]}" if path == top or path.startswith(f"{top}/") else path
        for path in paths
    )
