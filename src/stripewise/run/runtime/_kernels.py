# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark kernels: which are built, and the words that start them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stripewise.core.errors import ProgramError, RuntimeMissingError
from stripewise.run.runtime._environment import launch_environment
from stripewise.run.runtime._locate import Runtime, find_runtime
from stripewise.run.runtime._mpi import MpiInstallation, detect_mpis, mpi_of_command
from stripewise.storage.machines import Stack

WITHOUT_OMPIO = {"OMPI_MCA_io": "^ompio"}
"""Makes Open MPI use its ROMIO, whatever its version calls it."""

_STACK_RANKS = (2, 4)


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


def collective_stacks() -> list[Stack]:
    """Return the stacks of MPI-IO that are measured: each MPI whose kernel is built.

    Open MPI's ROMIO stands beside its own MPI-IO; its independent transfers are a remedy too.
    """
    try:
        kernels = find_runtime().kernels
    except RuntimeMissingError:
        return []
    found: dict[str, list[Stack]] = {}
    for mpi in detect_mpis():
        kernel = kernels.get(mpi.family)
        if kernel is not None and mpi.mpiexec and mpi.family not in found:
            found[mpi.family] = list(_stacks_of(mpi, kernel))
    return [stack for stacks in found.values() for stack in stacks]


def _stacks_of(mpi: MpiInstallation, kernel: Path) -> Iterator[Stack]:
    for ranks in _STACK_RANKS:
        words = (*mpiexec_words(mpi, ranks), str(kernel))
        yield Stack(mpi.family, words, ranks, True, launch_environment({}))
        for collective in (True, False) if mpi.family == "openmpi" else ():
            environment = launch_environment(WITHOUT_OMPIO)
            yield Stack("openmpi-romio", words, ranks, collective, environment)
