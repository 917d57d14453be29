# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stacks: the MPI, and the HDF5 that comes with it, of a test program.

`mpich` and `openmpi` are this machine's (Debian 12: MPICH 4, Open MPI 4, HDF5 1.10).  The others
are of the roots that `make roots` makes, and programs of theirs are built and run there.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from support import roots

_SUITES = {"openmpi-5": "trixie", "mpich-5": "forky", "openmpi-6": "forky", "abi-1": "forky"}
MPIS = tuple(_SUITES)
HDF5_1_14, HDF5_2 = "openmpi-5", "mpich-5"
ADIOS2_2_10, ADIOS2_2_12 = "openmpi-5", "openmpi-6"
CASE_OF_HDF5_2 = pytest.param(HDF5_2, marks=pytest.mark.roots)
"""For tests that run on this machine too."""


def suite_of(stack: str) -> str:
    """The suite in whose root a stack is; "" for this machine."""
    return _SUITES.get(stack, "")


def family_of(stack: str) -> str:
    """Whose plug-in it takes: `mpich`, `openmpi` or `abi`."""
    return stack.partition("-")[0]


def major_of(stack: str) -> str:
    """Version of that plug-in; this machine's both are 4."""
    return stack.partition("-")[2] or "4"


def is_openmpi(stack: str) -> bool:
    """Whether its mpiexec takes the options of Open MPI."""
    return family_of(stack) == "openmpi"


def allowances(stack: str) -> dict[str, str]:
    """What Open MPI is told: that root may start it; in a root, to use shared memory alone."""
    if not is_openmpi(stack):
        return {}
    told = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return told | ({"OMPI_MCA_btl": "self,sm"} if suite_of(stack) else {})


def there(
    stack: str, words: Sequence[str | Path], variables: Mapping[str, str] | None = None
) -> list[str]:
    """Words that start a program where a stack is; in a root, with these variables."""
    suite = suite_of(stack)
    return roots.inside(suite, words, variables) if suite else [str(word) for word in words]


def tool(stack: str, name: str) -> str:
    """`mpicc`, `mpif90` or `mpiexec` of a stack, to be started `there`; skips where it is not."""
    family = family_of(stack)
    if family == "abi":
        if name not in ("mpicc", "mpiexec"):
            pytest.skip(f"Debian's MPICH has no {name} for the ABI")
        return roots.abi_wrapper(suite_of(stack)) if name == "mpicc" else "mpiexec.mpich"
    command = f"{name}.{family}"
    if suite_of(stack):
        there(stack, [])
    elif shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")
    return command


@cache
def hdf5_flags(stack: str) -> tuple[str, ...]:
    """What Debian's pkg-config says; empty without parallel HDF5."""
    asked = ["pkg-config", "--cflags", "--libs", f"hdf5-{family_of(stack)}"]
    if not suite_of(stack) and not shutil.which("pkg-config"):
        return ()
    answer = subprocess.run(there(stack, asked), capture_output=True, text=True)
    return () if answer.returncode else tuple(answer.stdout.split())
