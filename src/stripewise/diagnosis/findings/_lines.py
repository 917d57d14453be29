# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shell lines that set hints and layouts without Stripewise."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from stripewise.diagnosis.findings._base import Run

_OMPIO = {
    "cb_nodes": "io_ompio_num_aggregators",
    "striping_factor": "fs_lustre_stripe_width",
    "striping_unit": "fs_lustre_stripe_size",
}


def hint_lines(
    hints: Mapping[str, str], ompio: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Lines that give MPI-IO hints to any program.

    Args:
        hints: Of ROMIO.
        ompio: MCA parameters of Open MPI's own MPI-IO that do the same; None: those that
            follow from the hints.

    Sources: ROMIO user's guide (ROMIO_HINTS); intro_mpi(3) of Cray MPICH
    (MPICH_MPIIO_HINTS); `ompi_info --param io ompio --level 9`.
    """
    words = " ".join(shlex.quote(f"{key} {value}") for key, value in hints.items())
    cray = ":".join(["*", *(f"{key}={value}" for key, value in hints.items())])
    lines = [
        f"printf '%s\\n' {words} > romio-hints; export ROMIO_HINTS=$PWD/romio-hints"
        "   # ROMIO: MPICH, Intel MPI",
        f"export MPICH_MPIIO_HINTS='{cray}'   # Cray MPICH",
    ]
    if ompio is None:
        ompio = {_OMPIO[key]: value for key, value in hints.items() if key in _OMPIO}
    lines += [
        f"export OMPI_MCA_{key}={value}   # Open MPI (OMPIO)" for key, value in ompio.items()
    ]
    return tuple(lines)


def stripe_lines(path: str, stripe_count: int, stripe_bytes: int = 4 << 20) -> tuple[str, ...]:
    """Lines that stripe new files of a directory."""
    folder = shlex.quote(os.path.dirname(path) or ".")
    return (
        f"lfs setstripe -c {stripe_count} -S {stripe_bytes >> 20}M {folder}"
        "   # acts on files made afterwards",
    )


def tune_line(run: Run) -> str:
    """The command that tunes this program."""
    command = run.profile.command
    if not command:
        return "stripewise tune -- COMMAND"
    shown = "".join(letter if letter.isprintable() else "?" for letter in command)
    first = os.path.basename(shown.split()[0]) if shown.split() else ""
    launched = first.split(".")[0] in ("mpiexec", "mpirun", "srun", "aprun", "jsrun", "orterun")
    if run.n_ranks > 1 and not launched:
        shown = f"mpiexec -n {run.n_ranks} {shown}"
    return f"stripewise tune -- {shown}"
