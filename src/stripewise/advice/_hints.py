# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings as users write them: hints in a variable, in a file, or in the program."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.advice._base import How, Trial
from stripewise.advice._basis import FACTOR, UNIT, Basis

COLLECTIVE_ONLY = "romio_no_indep_rw=true"
"""Promises that no call is independent, which one lock for all writers needs."""
_PREFIX = "mpiio."
_LAYOUT = (FACTOR, UNIT)


def hint_variable(basis: Basis, trial: Trial) -> Iterator[How]:
    """Yield how the MPI-IO hints of a trial are set, without its striping.

    Cray MPICH reads them from MPICH_MPIIO_HINTS, ROMIO from the file that ROMIO_HINTS names.
    """
    hints = {
        name.removeprefix(_PREFIX): value
        for name, value in trial.settings
        if name.startswith(_PREFIX) and name not in _LAYOUT
    }
    if not hints:
        return
    if basis.storage.stack == "cray":
        words = ":".join(f"{name}={value}" for name, value in hints.items())
        yield How("variable", f'export MPICH_MPIIO_HINTS="*:{words}"')
        return
    lines = "\\n".join(f"{name} {value}" for name, value in hints.items())
    yield How("command", f"printf '{lines}\\n' > $HOME/romio-hints")
    yield How("variable", "export ROMIO_HINTS=$HOME/romio-hints")
