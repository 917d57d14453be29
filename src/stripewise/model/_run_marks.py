# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Marks that the processes of a run leave, with the numbers that a container stores."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class MpiFamily(IntEnum):
    """MPI ABI family of a process."""

    NONE = 0
    MPICH = 1
    OPENMPI = 2
    OTHER = 3


class PluginState(IntEnum):
    """What became of the MPI plug-in in a process."""

    UNUSED = 0
    LOADED = 1
    MISSING = 2
    WRONG = 3


class ProcessFlag(IntFlag):
    """Bits of `PROCESS_ROW`'s flags."""

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
    """Bits of `COUNTER_ROW`'s flags."""

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


class SettingsKind(IntEnum):
    """Whose settings a record holds."""

    PROGRAM = 1
    APPLIED = 2
    REPORTED = 3
