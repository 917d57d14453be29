# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark kernels: which are built, and the words that start one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from stripewise.errors import ProgramError, RuntimeMissingError
from stripewise.runtime._locate import Runtime
from stripewise.runtime._mpi import MpiInstallation, detect_mpis, mpi_of_command


def kernel_path(runtime: Runtime, family: str | None) -> tuple[str, Path]:
    """Return the family and the program of a built kernel; the first one without a family.

    Raises:
        RuntimeMissingError: No kernel is built, or none for this family.
    """
    return built_program(runtime, runtime.kernels, "kernel", family)


def built_program(
    runtime: Runtime, built: Mapping[str, Path], what: str, family: str | None
) -> tuple[str, Path]:
    """Return a family and its program out of those built; the first one without a family.

    Raises:
        RuntimeMissingError: None is built, or none for this family.
    """
    if family is None and built:
        return next(iter(built.items()))
    if family is None or family not in built:
        which = f" for {family}" if family else ""
        raise RuntimeMissingError(
            f"no {what}{which} in {runtime.directory / 'bin'} (built: {', '.join(built) or 'none'}"
            "); install that MPI's compiler wrapper and run: stripewise runtime build"
        )
    return family, built[family]


def kernel_of_mpiexec(runtime: Runtime) -> str | None:
    """Return the name of the kernel that the `mpiexec` on PATH can start; None: no telling."""
    mpi = mpi_of_command(["mpiexec"])
    names = () if mpi is None else (f"{mpi.family}-{mpi.major}", mpi.family)
    return next((name for name in names if name in runtime.kernels), None)


def find_launcher(family: str) -> MpiInstallation:
    """Find the installation of a family that has a launcher.

    Raises:
        ProgramError: There is none on PATH.
    """
    for mpi in detect_mpis():
        if family in (mpi.family, f"{mpi.family}-{mpi.major}") and mpi.mpiexec:
            return mpi
    raise ProgramError(
        f"there is no mpiexec of {family} on PATH; install it, or start the kernel yourself: "
        f"srun $(stripewise kernel --path --mpi {family})"
    )


def mpiexec_words(mpi: MpiInstallation, ranks: int, options: Sequence[str] = ()) -> list[str]:
    """Return the words that start ranks; Open MPI is told where there are more than cores."""
    words = [str(mpi.mpiexec), "-n", str(ranks)]
    if mpi.family == "openmpi" and ranks > len(os.sched_getaffinity(0)):
        words.append("--oversubscribe")
    return [*words, *options]


def kernel_command(
    mpi: MpiInstallation,
    ranks: int,
    program: Path,
    arguments: Sequence[str],
    launcher_options: Sequence[str] = (),
    *,
    as_json: bool = False,
) -> list[str]:
    """Return the words that start a kernel."""
    words = [*mpiexec_words(mpi, ranks, launcher_options), str(program), *arguments]
    return [*words, "--json", "-"] if as_json else words
