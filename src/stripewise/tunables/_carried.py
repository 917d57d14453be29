# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Variables that a configuration may carry: those of I/O and MPI that load and start no code.

A configuration is passed around.  A loader's, a shell's or a launcher's variable in it would run
what its author wants; such a one needs the word of the user who applies it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

from stripewise.model import Configuration

ENVIRONMENT = (
    "BGLOCKLESSMPIO_F_TYPE", "GPFSMPIO_*", "IOBUF_PARAMS", "MPICH_MPIIO_*", "ROMIO_*",
    "I_MPI_EXTRA_FILESYSTEM", "I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_EXTRA_FILESYSTEM_LIST",
    "HDF5_DO_MPI_FILE_SYNC", "HDF5_MPI_OPT_TYPES", "HDF5_USE_FILE_LOCKING", "PNETCDF_*",
    "FI_OFI_RXM_SAR_LIMIT", "FORT_BLOCKSIZE", "FORT_BUFFERCOUNT", "FORT_BUFFERED",
    "GFORTRAN_FORMATTED_BUFFER_SIZE", "GFORTRAN_UNBUFFERED_*", "GFORTRAN_UNFORMATTED_BUFFER_SIZE",
    "OMP_DYNAMIC", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "OMP_SCHEDULE",
)  # fmt: skip
"""Globs of variables that a configuration may set."""
MCA_PREFIX = "OMPI_MCA_"
MCA_FRAMEWORKS = frozenset(
    {"btl", "coll", "fbtl", "fcoll", "fs", "io", "mpi", "osc", "pml", "sharedfp"}
)
"""First words of the MCA parameters that a configuration may set."""
_CODE = re.compile(
    r"(^|_)(path|paths|file|files|filename|dir|directory|agent|prefix|env|cmd|command|exec|program"
    r"|library|plugin|tool|hook|abort|debugger|signal)(_|$)"
)
"""Words in MCA parameters that name what is loaded, started or written."""


def refused_variables(configuration: Configuration, allowed: Collection[str] = ()) -> list[str]:
    """Return the variables of a configuration's job that could run code, by name.

    Args:
        configuration: Of whatever origin.
        allowed: Names that the user who applies it has allowed.
    """
    job = configuration.job
    names = [*job.environment, *(MCA_PREFIX + key for key in job.mca)]
    return [name for name in names if name not in allowed and not _is_tuning(name)]


def _is_tuning(name: str) -> bool:
    if name.startswith(MCA_PREFIX):
        key = name.removeprefix(MCA_PREFIX)
        return key.partition("_")[0] in MCA_FRAMEWORKS and not _CODE.search(key)
    return any(fnmatchcase(name, glob) for glob in ENVIRONMENT)
