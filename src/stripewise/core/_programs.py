# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the user's program in a command, and reads which libraries an ELF file needs."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun", "prun", "srun", "aprun", "jsrun", "ibrun")
"""Commands that start MPI ranks; a suffix such as `.mpich` or `.hydra` may follow."""

_DAEMONS = frozenset(
    "hydra_pmi_proxy hydra_bstrap_proxy orted prted ompirun_wrapper slurmstepd".split()
)
_WRAPPERS = frozenset(
    "sh bash dash zsh ksh csh tcsh busybox env nice nohup time timeout numactl taskset stdbuf "
    "setsid".split()
)


def is_launcher(name: str) -> bool:
    """Return whether a command's file name is that of an MPI launcher."""
    return name.split(".")[0] in LAUNCHERS


def starts_ranks(name: str) -> bool:
    """Return whether a file name is that of an MPI launcher or of one of its daemons."""
    return is_launcher(name) or name in _DAEMONS


def is_helper(name: str) -> bool:
    """Return whether a file name is that of a launcher, a daemon, a shell or a wrapper."""
    return starts_ranks(name) or name in _WRAPPERS


def drops_preload(path: Path) -> str:
    """Return why the loader ignores LD_PRELOAD for an executable; empty if it does not."""
    try:
        status = path.stat()
    except OSError:
        return ""
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return "is setuid"
    if status.st_mode & stat.S_ISGID and status.st_gid not in (os.getgid(), *os.getgroups()):
        return "is setgid"
    try:
        if "security.capability" in os.listxattr(path) and os.getuid() != 0:
            return "has file capabilities"
    except OSError:
        return ""
    return ""


def executables_in(command: Sequence[str], directory: Path | None = None) -> list[Path]:
    """Return the executable files that a command names, with symbolic links resolved.

    Args:
        command: The command; its options and data files are skipped.
        directory: Directory for relative names; the current one if not given.
    """
    base = directory or Path.cwd()
    found: list[Path] = []
    for word in command:
        option = word.startswith("-")
        named = None if option else shutil.which(str(base / word) if "/" in word else word)
        if named:
            found.append(Path(os.path.realpath(named)))
    return list(dict.fromkeys(found))


# ELF files, read without running them: whether preloading works, and which libraries they need.
#
# A library for ELF (pyelftools) takes longer to load than a short program takes to run.

_MAGIC = b"\x7fELF"
_PT_INTERP = 3
_MPI = re.compile(rb"libmpi(ch|_cray)?(?:_\w+)?\.so\.(\d+)")
_HDF5 = re.compile(rb"libhdf5(?:_(?!hl|cpp|fortran)[a-z]+)?\.so\.\d+")
_VERSIONS = {
    "hdf5": re.compile(rb"\0libhdf5(?:_(?:serial|openmpi|mpich|parallel\w*))?\.(so\.[0-9.]+)\0"),
    "netcdf": re.compile(rb"\0libnetcdf(?:_\w+)?\.(so\.[0-9.]+)\0"),
    "pnetcdf": re.compile(rb"\0libpnetcdf\.(so\.[0-9.]+)\0"),
    "adios2": re.compile(rb"\0libadios2_\w+\.(so\.[0-9.]+)\0"),
}
_HEADERS_BYTES = 64 << 10  # enough for any program header table
_MOST_BYTES = 64 << 20
_MOST_SEARCHED_BYTES = 256 << 20


def is_static(path: Path) -> bool:
    """Return whether an executable names no dynamic loader, so that nothing is preloaded.

    Return False if it is not an ELF file, or cannot be read.
    """
    data = _elf(path, _HEADERS_BYTES)
    if len(data) < 64:
        return False
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (kind,) = struct.unpack_from(order + "H", data, 16)
    if kind not in (2, 3):  # ET_EXEC, ET_DYN
        return False
    offset = struct.unpack_from(order + ("Q" if wide else "I"), data, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", data, 54 if wide else 42)
    if not count or offset + size * count > len(data):
        return False
    types = (struct.unpack_from(order + "I", data, offset + size * i)[0] for i in range(count))
    return _PT_INTERP not in types


def is_elf(path: Path) -> bool:
    """Return whether the file is an ELF object; False if it cannot be read."""
    return bool(_elf(path, len(_MAGIC)))


def holds(path: str | Path, text: bytes) -> bool:
    """Return whether the first 256 MiB of a file contain a text; False if it cannot be read."""
    try:
        if not os.path.isfile(path):
            return False
        size = min(os.path.getsize(path), _MOST_SEARCHED_BYTES)
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        with data:
            return data.find(text) >= 0
    except (OSError, ValueError):
        return False


def mpi_family_of_file(path: Path) -> str:
    """Return the family of the libmpi that an ELF file names; empty if it names none."""
    found = _MPI.search(_elf(path))
    if not found:
        return ""
    return "mpich" if found.group(1) or int(found.group(2)) < 20 else "openmpi"


def hdf5_names_in_file(path: Path) -> frozenset[str]:
    """Return the names of the libhdf5 that an ELF file needs or is."""
    return frozenset(name.decode() for name in _HDF5.findall(_elf(path)))


def library_versions(path: Path) -> dict[str, str]:
    """Return the I/O libraries that an ELF file names, with their interface numbers ("so.103").

    Scripts, and programs that load their libraries later, name none.
    """
    data = _elf(path)
    found = {name: pattern.search(data) for name, pattern in _VERSIONS.items()}
    return {name: match.group(1).decode() for name, match in found.items() if match}


def _elf(path: Path, most_bytes: int = _MOST_BYTES) -> bytes:
    """Return the beginning of an ELF file; empty for other files and if it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes)
    except OSError:
        return b""
    return data if data.startswith(_MAGIC) else b""
