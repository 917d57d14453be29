# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which stack a program's MPI-IO is."""

from __future__ import annotations

from stripewise.model import ProgramFacts, Value


def stack_of(facts: ProgramFacts, mca_io: Value | None = None) -> str:
    """Return the stack that the program's MPI-IO is, or becomes by the choice of MCA `io`."""
    if not facts.mpiio_implementation:
        return "posix-shared" if facts.shared_files else "posix-process"
    if "cray" in facts.mpi_version.lower():
        return "cray"
    name = str(mca_io or facts.mpiio_implementation)
    if not name.startswith("romio"):
        return name
    return "romio-lustre" if facts.mpiio_driver == "LUSTRE" else "romio"
