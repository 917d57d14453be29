# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's program for an MPI, and the words that start it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from stripewise.errors import UsageError
from stripewise.runtime import (
    built_program,
    find_launcher,
    find_runtime,
    mpi_of_command,
)


def kernel_program(
    family: str | None, mpiexec: str, ranks: Sequence[int], options: Sequence[str] = ()
) -> tuple[tuple[str, ...], str]:
    """Return the words before the number of ranks, and the path of the kernel's program.

    Args:
        family: MPI as `stripewise runtime list` names it; None: that of the launcher, or the
            first one that a kernel is built for.
        mpiexec: Name or path of the launcher; "": that of the MPI.
        ranks: Numbers of ranks that are to be started.
        options: For the launcher.

    Raises:
        UsageError: There is no such launcher, or its MPI cannot be told.
        RuntimeMissingError: No kernel is built for this MPI.
    """
    runtime = find_runtime()
    if mpiexec and family is None:
        family = _family(mpiexec, tuple(runtime.kernels))
    chosen, program = built_program(runtime, runtime.kernels, "kernel", family)
    if mpiexec:
        return (_located(mpiexec), *options, "-n"), str(program)
    mpi = find_launcher(chosen)
    crowded = mpi.family == "openmpi" and max(ranks) > len(os.sched_getaffinity(0))
    words = (*(["--oversubscribe"] if crowded else []), *options)
    return (str(mpi.mpiexec), *words, "-n"), str(program)


def _located(mpiexec: str) -> str:
    found = shutil.which(mpiexec)
    if found is None:
        raise UsageError(f"--mpiexec {mpiexec}: there is no such program; give its path")
    return os.path.abspath(found)


def _family(mpiexec: str, built: tuple[str, ...]) -> str:
    """Return the name of the kernel that a launcher can start."""
    mpi = mpi_of_command([_located(mpiexec)])
    if mpi is None:
        raise UsageError(
            f"--mpiexec {mpiexec}: its MPI cannot be told; add --mpi ({', '.join(built)})"
        )
    precise = f"{mpi.family}-{mpi.major}"
    return precise if precise in built else mpi.family
