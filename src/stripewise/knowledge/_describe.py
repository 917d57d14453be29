# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From what a first run showed to the case that studies are compared by."""

from __future__ import annotations

import hashlib
import re
from math import log2
from pathlib import Path

from stripewise.elf import library_versions
from stripewise.knowledge._machine import one_line
from stripewise.knowledge._records import Case, Fingerprint, Machine, Stack
from stripewise.model import ProgramFacts

_LARGEST_BYTES = 256 << 20
_BLOCK_BYTES = 1 << 20


def describe_case(
    machine: Machine,
    facts: ProgramFacts,
    *,
    program: str,
    executable: Path | None = None,
    synced: bool = True,
) -> Case:
    """Describe a case.

    Args:
        machine: Where it runs.
        facts: Of its first run.
        program: Name of the program.
        executable: Its file, None if that is not known.
        synced: Whether runs wait for the storage.
    """
    return Case(
        machine, _stack(facts, executable), _fingerprint(facts, program, executable), synced
    )


def version_of(text: str) -> str:
    """Return the number in what an MPI says of itself; "" if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return found.group() if found else ""


def digest_of(executable: Path | None) -> str:
    """Return the SHA-256 of a regular file that can be read; "" otherwise."""
    try:
        if executable is None or not executable.is_file():
            return ""
        if executable.stat().st_size > _LARGEST_BYTES:
            return ""
        digest = hashlib.sha256()
        with executable.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()


def _stack(facts: ProgramFacts, executable: Path | None) -> Stack:
    return Stack(
        mpi_family=facts.mpi_family,
        mpi_version=version_of(facts.mpi_version),
        mpiio=facts.mpiio_implementation,
        **(library_versions(executable) if executable else {}),
    )


def _fingerprint(facts: ProgramFacts, program: str, executable: Path | None) -> Fingerprint:
    moved = facts.read_bytes + facts.write_bytes
    calls = facts.read_calls + facts.write_calls
    by_interface = facts.collective_bytes + facts.independent_bytes + facts.posix_bytes
    return Fingerprint(
        program=one_line(program),
        executable_sha256=digest_of(executable),
        n_ranks=facts.n_ranks,
        n_hosts=facts.n_hosts,
        collective_share=_share(facts.collective_bytes, by_interface),
        independent_share=_share(facts.independent_bytes, by_interface),
        posix_share=_share(facts.posix_bytes, by_interface),
        read_share=_share(facts.read_bytes, moved),
        noncontiguous=facts.noncontiguous,
        bytes_per_call_log2=_logarithm(moved, calls),
        calls_per_rank_log2=_logarithm(calls, facts.n_ranks),
        shared_files=facts.shared_files,
        uses_hdf5=facts.uses_hdf5,
        uses_parallel_hdf5=facts.uses_parallel_hdf5,
        uses_pnetcdf=facts.uses_pnetcdf,
        uses_netcdf4=facts.uses_netcdf4,
        uses_adios2=facts.uses_adios2,
        patterns=facts.patterns,
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole > 0 else 0.0


def _logarithm(amount: int, number: int) -> float:
    return round(log2(amount / number), 3) if amount > 0 and number > 0 else 0.0
