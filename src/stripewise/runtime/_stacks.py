# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of MPI-IO of this machine on which the benchmark kernel can run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stripewise.errors import RuntimeMissingError
from stripewise.machines import Stack
from stripewise.runtime._environment import launch_environment
from stripewise.runtime._kernels import mpiexec_words
from stripewise.runtime._locate import find_runtime
from stripewise.runtime._mpi import MpiInstallation, detect_mpis

WITHOUT_OMPIO = {"OMPI_MCA_io": "^ompio"}
"""Makes Open MPI use its ROMIO, whatever its version calls it."""

_RANKS = (2, 4)


def collective_stacks() -> list[Stack]:
    """Return what is measured: each MPI whose kernel is built, on 2 and on 4 ranks.

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
            found[mpi.family] = list(_of_mpi(mpi, kernel))
    return [stack for stacks in found.values() for stack in stacks]


def _of_mpi(mpi: MpiInstallation, kernel: Path) -> Iterator[Stack]:
    for ranks in _RANKS:
        words = (*mpiexec_words(mpi, ranks), str(kernel))
        yield Stack(mpi.family, words, ranks, True, launch_environment({}))
        for collective in (True, False) if mpi.family == "openmpi" else ():
            environment = launch_environment(WITHOUT_OMPIO)
            yield Stack("openmpi-romio", words, ranks, collective, environment)
