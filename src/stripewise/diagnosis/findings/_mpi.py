# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose MPI-IO a run used: it decides which hints are heard."""

from __future__ import annotations

import os
from enum import StrEnum

from stripewise.model import RunProfile

ROMIO_SIGNS = ("cb_buffer_size", "romio_cb_write", "romio_cb_read")
_CRAY_SIGNS = ("cray_cb_nodes_multiplier", "aggregator_placement_stride", "cb_align")


class Mpiio(StrEnum):
    """Implementation of MPI-IO."""

    ROMIO = "romio"
    CRAY = "cray"
    OMPIO = "ompio"
    UNKNOWN = ""


def mpiio_of(profile: RunProfile) -> Mpiio:
    """Tell it by the hints that it reported, the library, the launcher, the notes."""
    reported = {key for hints in profile.hints.values() for key in hints.reported}
    if not reported.isdisjoint(_CRAY_SIGNS) or "MPICH_MPIIO_STATS" in profile.source:
        return Mpiio.CRAY
    if not reported.isdisjoint(ROMIO_SIGNS):
        return Mpiio.ROMIO
    if profile.mpi:
        return Mpiio.OMPIO if profile.mpi == "openmpi" else Mpiio.ROMIO
    words = profile.command.split()
    launcher = os.path.basename(words[0]) if words else ""
    if launcher in ("mpiexec.openmpi", "mpirun.openmpi", "orterun", "prterun"):
        return Mpiio.OMPIO
    if launcher in ("mpiexec.mpich", "mpirun.mpich", "mpiexec.hydra"):
        return Mpiio.ROMIO
    if launcher == "aprun":
        return Mpiio.CRAY
    return Mpiio.OMPIO if any("OMPIO" in text for text in profile.notes) else Mpiio.UNKNOWN


def stack_of(profile: RunProfile, mpiio: Mpiio) -> str:
    """Name the stack as the measured ones are: "mpich", "openmpi", "openmpi-romio", or ""."""
    if mpiio is Mpiio.OMPIO:
        return "openmpi"
    if mpiio is Mpiio.ROMIO:
        return "openmpi-romio" if profile.mpi == "openmpi" else "mpich"
    return ""
