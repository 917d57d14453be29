# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Questions for tests: programs on an emulated Lustre, and what was learnt of others."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from stripewise.core import PatternSummary, ProgramFacts
from stripewise.learning.adoption import Question, adoptable_space
from stripewise.learning.knowledge import Machine, describe_case
from stripewise.settings import Policy
from stripewise.storage.machines import find_storage

HOPPER = find_storage("hopper@1/16")
MACHINE = Machine("x86_64", "Good CPU", 64, 256 << 30, "5.14.0-427", "lustre", "network", "ab" * 8)


def facts_of(
    *distributions: str, grid=(8,), block=(1 << 20,), datasets=6, collective=1.0, **more
) -> ProgramFacts:
    """Facts of a program that writes datasets of 4-byte elements through ROMIO's Lustre driver."""
    amount = prod(grid) * prod(block) * 4 * datasets
    one = PatternSummary(
        True, distributions or ("BLOCK",), grid, block, 4, 1, collective, datasets, bytes=amount
    )
    given = {
        "n_ranks": prod(grid),
        "mpi_family": "mpich",
        "mpi_version": "MPICH Version: 4.0.2",
        "mpiio_implementation": "romio",
        "mpiio_driver": "LUSTRE",
        "uses_hdf5": True,
        "uses_parallel_hdf5": True,
        "collective_bytes": int(amount * collective),
        "independent_bytes": int(amount * (1 - collective)),
        "write_bytes": amount,
        "shared_files": 1,
        "write_calls": prod(grid) * datasets,
        "matched_calls": True,
        "matched_metadata": True,
        "patterns": (one,),
        "filesystem": "lustre",
        "striping": HOPPER.striping,
        "interleaved": len(grid) > 1,
    }
    return ProgramFacts(**{**given, **more})


def question(
    facts: ProgramFacts | None = None, policy: Policy | None = None, executable=None, **more
) -> Question:
    """A question about a program; without facts, about one that writes in blocks."""
    facts = facts or facts_of()
    case = describe_case(MACHINE, facts, program="asked", executable=executable)
    return Question(case, facts, adoptable_space(facts, policy or Policy()), **more)


def tuned(question: Question, program: str = "vpic", **changes):
    """The case of a study of another program with the same I/O."""
    print_ = replace(question.case.fingerprint, program=program, executable_sha256="", **changes)
    return replace(question.case, fingerprint=print_)
