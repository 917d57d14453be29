# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a program or library names as needed, read from the file without running it."""

from __future__ import annotations

import re
from pathlib import Path

_MPI = re.compile(rb"libmpi(ch|_cray)?(?:_\w+)?\.so\.(\d+)")
_HDF5 = re.compile(rb"libhdf5(?:_(?!hl|cpp|fortran)[a-z]+)?\.so\.\d+")
_MOST_BYTES = 64 << 20


def mpi_family_of_file(path: Path) -> str:
    """Family of the libmpi that an ELF file names; "" for other files and without MPI."""
    found = _MPI.search(_elf(path))
    if not found:
        return ""
    return "mpich" if found.group(1) or int(found.group(2)) < 20 else "openmpi"


def hdf5_names_in_file(path: Path) -> frozenset[str]:
    """The libhdf5 (without its companions) that an ELF file needs, or is."""
    return frozenset(name.decode() for name in _HDF5.findall(_elf(path)))


def _elf(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return b""
    return data if data[:4] == b"\x7fELF" else b""
