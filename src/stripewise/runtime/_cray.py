# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Variables that make Cray MPICH tell what it does; it prints to the output of the job."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_TELLING = MappingProxyType(
    {
        "MPICH_ENV_DISPLAY": "1",
        "MPICH_VERSION_DISPLAY": "1",
        "MPICH_MPIIO_HINTS_DISPLAY": "1",
        "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1",
        "MPICH_MPIIO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
    }
)


def cray_variables() -> Mapping[str, str]:
    """Return the variables that are set in trials under Cray MPICH, other MPIs ignore them.

    It then prints its version, all settings, hints and aggregators, and for each file its system
    calls and the phases of its writes and reads, which `readers.read_evidence` reads.
    MPICH_MPIIO_STATS is 1 and not 2, which writes files beside the program's own instead.

    Source: intro_mpi(3) of Cray MPICH (documented); Markomanolis (KAUST), ExPBB, CUG 2017.
    """
    return _TELLING
