# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All containers of one run, joined: who, what, how much, how long."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ObservedFile, ProgramFacts
from stripewise.readers._container import MpiFamily, PluginState, ProcessFlag
from stripewise.readers._launchers import starts_ranks


@dataclass(frozen=True)
class Settings:
    """Settings of one process for one file (`path` is -1: for the process).

    Attributes:
        process: Row of `Profile.processes`.
        path: Index into `Profile.paths`.
        layer: `ContainerLayer`.
        kind: `SettingsKind`.
        values: Key to value, as texts.
    """

    process: int
    path: int
    layer: int
    kind: int
    values: Mapping[str, str]


@dataclass(frozen=True)
class OpenedFiles:
    """Files that a run opened below a directory, as relative or absolute paths.

    Attributes:
        read: Opened for reading, or read.
        written: Opened for writing, or written.
        created: Did not exist before the run made them.
        replaced: Written without a look at what they held before, all of it: emptied or made
            anew at open, or written from end to end.
    """

    read: frozenset[Path]
    written: frozenset[Path]
    created: frozenset[Path]
    replaced: frozenset[Path] = frozenset()


@dataclass(frozen=True, eq=False)
class Profile:
    """One run as its containers tell it.

    Attributes:
        hosts: Host of each container.
        processes: (n_processes,) of dtype `PROCESS` plus `host`, the index into `hosts`.
        records: (n_records,) of dtype `FILE_RECORD` plus `process` and `path`, the indices
            of the process and of the path: one row per process, file and layer.
        paths: Absolute paths; bytes that are not UTF-8 are kept as surrogate escapes.
        settings: Requested, applied and reported settings.
        notes: Trouble that the library wrote down.
    """

    hosts: tuple[str, ...]
    processes: NDArray[Any]
    records: NDArray[Any]
    paths: tuple[str, ...]
    settings: tuple[Settings, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def is_rank(self) -> NDArray[np.bool_]:
        """(n_processes,) bool: the process initialised MPI and knows its rank."""
        return np.asarray(self.processes["rank"] >= 0)

    @cached_property
    def used_mpi(self) -> NDArray[np.bool_]:
        """(n_processes,) bool: the process initialised MPI, plug-in or not."""
        return np.asarray(
            ((self.processes["flags"] & ProcessFlag.MPI_INITIALIZED) != 0)
            | (self.processes["mpi_family"] != MpiFamily.NONE)
            | (self.processes["plugin_state"] != PluginState.UNUSED)
            | self.is_rank
        )

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """(n_processes,) bool: whose I/O is the program's.

        The ranks if there are any (then shells are not the program); otherwise the processes
        that called MPI_Init; otherwise all but MPI launchers and their daemons.
        """
        names = (Path(os.fsdecode(bytes(exe))).name for exe in self.processes["exe"])
        program = np.array([not starts_ranks(name) for name in names], dtype=bool)
        candidates = (self.is_rank, self.used_mpi, program)
        found = next((mask for mask in candidates if mask.any()), None)
        return np.ones(len(self.processes), dtype=bool) if found is None else found

    @cached_property
    def counted_records(self) -> NDArray[Any]:
        """Rows of `records` that belong to `counted` processes."""
        if not len(self.records):
            return self.records
        return np.asarray(self.records[self.counted[self.records["process"]]])

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """(n_paths,) int64: path that a path is accounted under: its own, or ADIOS2's."""
        from stripewise.readers._directories import owners

        return owners(self.records, self.paths)

    @property
    def n_ranks(self) -> int:
        """Ranks in MPI_COMM_WORLD (the largest world seen); 1 without MPI."""
        if not self.is_rank.any():
            return 1
        seen = int(self.processes["rank"].max()) + 1
        return max(seen, int(self.processes["world_size"][self.is_rank].max()))

    @property
    def io_seconds(self) -> float:
        """Time in outermost I/O calls, maximum over ranks; without MPI over processes.

        A rank number that occurs several times (several mpiexec lines in a script) counts
        with the sum of its times.
        """
        return self.over_ranks(self.processes["outermost_ns"]) * 1e-9

    @property
    def read_bytes(self) -> int:
        """Bytes that the program asked to read, over all counted processes."""
        return int(self.processes["outermost_read_bytes"][self.counted].sum())

    @property
    def write_bytes(self) -> int:
        """Bytes that the program asked to write, over all counted processes."""
        return int(self.processes["outermost_write_bytes"][self.counted].sum())

    def over_ranks(self, per_process: NDArray[Any]) -> float:
        """Sum (n_processes,) values over the processes of each rank; return the maximum."""
        values = per_process[self.counted].astype(np.float64)
        if not values.size:
            return 0.0
        if not self.is_rank.any():
            return float(values.max())
        return float(np.bincount(self.processes["rank"][self.counted], weights=values).max())

    def observed_files(self, root: Path) -> tuple[ObservedFile, ...]:
        """What was observed of each file that was read or written, largest first.

        Args:
            root: Directory of the run; paths below it are given relative to it.
        """
        from stripewise.readers._files import observed_files

        return observed_files(self, root)

    def opened(self, root: Path) -> OpenedFiles:
        """Files that any process opened, the launcher's and the shells' too.

        Args:
            root: Directory of the run; paths below it are given relative to it.
        """
        from stripewise.readers._files import opened_files

        return opened_files(self, root)

    def facts(
        self,
        elapsed_seconds: float = 0.0,
        *,
        environment: Mapping[str, str] | None = None,
        mpiio_alternatives: Sequence[str] | None = None,
    ) -> ProgramFacts:
        """Facts that tunables and strategies consult.

        Args:
            elapsed_seconds: Wall clock of the run.
            environment: Of the run, for MCA parameters; the caller's own if not given.
            mpiio_alternatives: Values of MCA `io` that this Open MPI offers; asked of
                `ompi_info` if not given.
        """
        from stripewise.readers._facts import program_facts

        return program_facts(self, elapsed_seconds, environment, mpiio_alternatives)
