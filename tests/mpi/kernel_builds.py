# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Build and start the kernel for the MPIs that are on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks import allowances, family_of, hdf5_flags, is_openmpi, suite_of, there

from stripewise.run.runtime import MpiInstallation, describe_mpi
from support import roots
from support.built import built

NATIVE = Path(__file__).resolve().parents[2] / "native"
KERNELS = NATIVE / "kernels"
PATIENCE_SECONDS = 240.0
"""Ranks spin while they wait: with others on the host a run takes many times as long."""
WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Kernel:
    """A kernel of one MPI, and how to start it; `family` may name the stack of a root."""

    family: str
    program: Path
    hdf5: bool
    libraries: frozenset[str] = frozenset()  # "NETCDF4", "PNETCDF", "ADIOS2"

    def alone(
        self, arguments: Sequence[str | bytes], *, cwd: Path, program: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run without mpiexec, as one rank: quick."""
        return subprocess.run(
            [*there(self.family, [program or self.program]), *arguments],
            cwd=cwd,
            env=os.environ | allowances(self.family),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )

    def run(
        self,
        n_ranks: int,
        arguments: Sequence[str | bytes],
        *,
        cwd: Path,
        io: str = "",
        before: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; Open MPI may have more ranks than there are processors.

        `before` are words that start mpiexec.
        """
        environment = os.environ | allowances(self.family)
        words = [*before, *there(self.family, [f"mpiexec.{family_of(self.family)}"])]
        words += ["-n", str(n_ranks)]
        if is_openmpi(self.family):
            words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
            environment |= {"OMPI_MCA_io": io} if io else {}
        return subprocess.run(
            [*words, str(self.program), *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=PATIENCE_SECONDS,
        )


def library_flags(mpi: MpiInstallation | None) -> list[str]:
    """What the further back ends link, found as `doctor build` does."""
    flags = []
    for library in mpi.libraries if mpi else ():
        flags += [f"-DSW_HAVE_{library.name}", *(f"-I{path}" for path in library.includes)]
        for path in library.libraries:
            flags += [str(path), f"-Wl,-rpath,{path.parent}"]
    return flags


def compile_kernel(
    family: str, *extra: str, hdf5: bool = True, libraries: bool = False
) -> Kernel | None:
    """Compile with that MPI's wrapper; None if it is not installed.

    `libraries`: also NetCDF, PnetCDF and ADIOS2, as far as they are there.
    """
    wrapper = f"mpicc.{family}"
    if not shutil.which(wrapper) or not shutil.which(f"mpiexec.{family}"):
        return None
    flags = hdf5_flags(family) if hdf5 else []
    mpi = describe_mpi(wrapper) if libraries else None
    name = f"stripewise-kernel-{family}"
    sources = [str(path) for path in sorted(KERNELS.rglob("*.c"))]
    define = ["-DSW_HAVE_HDF5"] if flags else []
    words = [wrapper, *WARNINGS, *extra, *define, f"-I{NATIVE / 'include'}", *sources]
    words += ["-o", name, *flags]
    directory = built(f"kernel-{family}", [NATIVE], [*words, *library_flags(mpi), "-lm"])
    names = frozenset(library.name for library in mpi.libraries) if mpi else frozenset()
    return Kernel(family, directory / name, bool(flags), names)


def kernel_in_root(stack: str) -> Kernel:
    """The kernel of a root's Open MPI, with all back ends."""
    program = roots.runtime(suite_of(stack)) / "bin" / f"stripewise-kernel-{family_of(stack)}"
    return Kernel(stack, program, True, frozenset({"NETCDF4", "PNETCDF", "ADIOS2"}))
