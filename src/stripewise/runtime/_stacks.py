# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of MPI-IO of this machine on which the benchmark kernel can run."""

from __future__ import annotations

from stripewise.errors import RuntimeMissingError
from stripewise.machines import Stack
from stripewise.runtime._environment import launch_environment
from stripewise.runtime._locate import find_runtime
from stripewise.runtime._mpi import detect_mpis

WITHOUT_OMPIO = {"OMPI_MCA_io": "^ompio"}
"""Makes Open MPI use its ROMIO, whatever its version calls it."""

_RANKS = 2


def collective_stacks() -> dict[str, Stack]:
    """Return the stacks whose kernel is built, by family; Open MPI's ROMIO beside its own."""
    try:
        kernels = find_runtime().kernels
    except RuntimeMissingError:
        return {}
    found: dict[str, Stack] = {}
    for mpi in detect_mpis():
        kernel = kernels.get(mpi.family)
        if kernel is None or not mpi.mpiexec or mpi.family in found:
            continue
        words = (str(mpi.mpiexec), "-n", str(_RANKS), str(kernel))
        found[mpi.family] = Stack(words, _RANKS, launch_environment({}))
        if mpi.family == "openmpi":
            found["openmpi-romio"] = Stack(words, _RANKS, launch_environment(WITHOUT_OMPIO))
    return found
