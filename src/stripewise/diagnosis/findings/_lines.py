# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shell lines that set hints and layouts without Stripewise, and the one that tunes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from stripewise.diagnosis.findings._base import Run
from stripewise.diagnosis.findings._mpi import Mpiio

_OMPIO = {
    "cb_nodes": "io_ompio_num_aggregators",
    "striping_factor": "fs_lustre_stripe_width",
    "striping_unit": "fs_lustre_stripe_size",
}
_LAUNCHERS = ("mpiexec", "mpirun", "srun", "aprun", "jsrun", "orterun", "prterun", "flux")


def hint_lines(
    run: Run, hints: Mapping[str, str], ompio: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Lines that give MPI-IO hints to this program: for its MPI, or for each if it is not known.

    Args:
        run: Tells the MPI.
        hints: Of ROMIO.
        ompio: MCA parameters of Open MPI's own MPI-IO, which does not hear these hints, that
            do the same; None: those that follow from the hints.  Where there are none, Open
            MPI is told to use its ROMIO.

    Sources: ROMIO user's guide (ROMIO_HINTS); intro_mpi(3) of Cray MPICH
    (MPICH_MPIIO_HINTS); `ompi_info --param io ompio --level 9`.
    """
    words = " ".join(shlex.quote(f"{key} {value}") for key, value in hints.items())
    cray = ":".join(["*", *(f"{key}={value}" for key, value in hints.items())])
    if ompio is None:
        ompio = {_OMPIO[key]: value for key, value in hints.items() if key in _OMPIO}
    file_line = f"printf '%s\\n' {words} > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
    own = [f"export OMPI_MCA_{key}={value}   # Open MPI (OMPIO)" for key, value in ompio.items()]
    switch = "export OMPI_MCA_io=romio321   # Open MPI 4: OMPIO does not hear ROMIO's hints"
    if run.mpiio is Mpiio.ROMIO:
        return (f"{file_line}   # ROMIO",)
    if run.mpiio is Mpiio.CRAY:
        return (f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",)
    if run.mpiio is Mpiio.OMPIO:
        return tuple(own) if own else (switch, f"{file_line}   # ROMIO")
    return (
        f"{file_line}   # ROMIO: MPICH, Intel MPI",
        f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",
        *(own or [f"{switch}; and the first line"]),
    )


def stripe_lines(path: str, stripe_count: int, stripe_bytes: int = 4 << 20) -> tuple[str, ...]:
    """Lines that stripe new files of a directory."""
    folder = shlex.quote(os.path.dirname(path) or ".")
    return (
        f"lfs setstripe -c {stripe_count} -S {_lustre_size(stripe_bytes)} {folder}"
        "   # acts on files made afterwards",
    )


def _lustre_size(stripe_bytes: int) -> str:
    if stripe_bytes % (1 << 20):
        return f"{stripe_bytes >> 10}K"
    return f"{stripe_bytes >> 20}M"


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
