# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose MPI-IO a run used: it decides which hints are heard, and how they are given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
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


def hint_lines(mpiio: Mpiio, hints: Mapping[str, str]) -> tuple[str, ...]:
    """Shell lines that give hints of ROMIO to a program: for its MPI, or for each if unknown.

    Sources: ROMIO user's guide (ROMIO_HINTS); intro_mpi(3) of Cray MPICH
    (MPICH_MPIIO_HINTS).  Open MPI's own MPI-IO ignores these hints.
    """
    words = " ".join(shlex.quote(f"{key} {value}") for key, value in hints.items())
    cray = ":".join(["*", *(f"{key}={value}" for key, value in hints.items())])
    file_line = f"printf '%s\\n' {words} > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
    if mpiio is Mpiio.ROMIO:
        return (f"{file_line}   # ROMIO",)
    if mpiio is Mpiio.CRAY:
        return (f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",)
    if mpiio is Mpiio.OMPIO:
        return (without_ompio(), f"{file_line}   # ROMIO")
    return (
        f"{file_line}   # ROMIO: MPICH, Intel MPI",
        f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",
        f"{without_ompio()}; and the first line",
    )


def without_ompio() -> str:
    """Return the line by which Open MPI uses its ROMIO, whatever its version calls it."""
    return "export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO"
