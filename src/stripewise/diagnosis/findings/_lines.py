# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shell lines that set hints and layouts without Stripewise, and the one that tunes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from stripewise.diagnosis.findings._base import Run
from stripewise.diagnosis.findings._mpi import Mpiio

_LAUNCHERS = ("mpiexec", "mpirun", "srun", "aprun", "jsrun", "orterun", "prterun", "flux")


def hint_lines(run: Run, hints: Mapping[str, str]) -> tuple[str, ...]:
    """Lines that give MPI-IO hints to this program: for its MPI, or for each if it is not known.

    Args:
        run: Tells the MPI.
        hints: Of ROMIO.

    Sources: ROMIO user's guide (ROMIO_HINTS); intro_mpi(3) of Cray MPICH
    (MPICH_MPIIO_HINTS).  Open MPI's own MPI-IO ignores these hints.
    """
    words = " ".join(shlex.quote(f"{key} {value}") for key, value in hints.items())
    cray = ":".join(["*", *(f"{key}={value}" for key, value in hints.items())])
    file_line = f"printf '%s\\n' {words} > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
    if run.mpiio is Mpiio.ROMIO:
        return (f"{file_line}   # ROMIO",)
    if run.mpiio is Mpiio.CRAY:
        return (f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",)
    if run.mpiio is Mpiio.OMPIO:
        return (without_ompio(), f"{file_line}   # ROMIO")
    return (
        f"{file_line}   # ROMIO: MPICH, Intel MPI",
        f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",
        f"{without_ompio()}; and the first line",
    )


def without_ompio() -> str:
    """Return the line by which Open MPI uses its ROMIO, whatever its version calls it."""
    return "export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO"


def tune_line(run: Run, options: str = "") -> str:
    """The command that tunes this program; "" where what the source calls a command is none.

    Args:
        run: Tells the command (an anonymised Darshan log has a number instead).
        options: Of `stripewise tune`.
    """
    tune = f"stripewise tune {options} --" if options else "stripewise tune --"
    command = run.profile.command
    if not command:
        return f"{tune} COMMAND"
    shown = "".join(letter if letter.isprintable() else "?" for letter in command)
    first = os.path.basename(shown.split()[0]) if shown.split() else ""
    if not any(letter.isalpha() for letter in first):
        return ""
    launched = first.split(".")[0] in _LAUNCHERS
    if run.n_ranks > 1 and not launched:
        shown = f"mpiexec -n {run.n_ranks} {shown}"
    return f"{tune} {shown}"
