# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The words that start the ranks of a case, alone or beside another one."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench._options import CampaignOptions
from stripewise.errors import StorageError
from stripewise.machines import find_mount, find_storage
from stripewise.runtime import find_launcher, mpiexec_words

Part = tuple[int, list[str]]
"""Ranks, and program with arguments of each."""


def through_srun(options: CampaignOptions) -> bool:
    """Whether srun starts the ranks: in jobs, and in the allocation that this process is in."""
    return options.launcher == "slurm" or bool(
        options.storage is None and os.environ.get("SLURM_JOB_ID")
    )


def start_words(
    options: CampaignOptions, family: str, nodes: int, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    """Return the command of a run.

    Args:
        options: Of the campaign.
        family: MPI of the programs, for mpiexec.
        nodes: Of the job.
        parts: One program, or several that run at once, each with its ranks.
        record: Directory of the run's record, for a file that srun reads.

    Raises:
        ProgramError: There is no mpiexec of the family.
        StorageError: The file cannot be written.
    """
    if through_srun(options):
        return _srun(options, nodes, parts, record)
    words: list[str] = []
    mpi = find_launcher(family)
    if path := options.mpiexec or _of_lustre(options, mpi.family):
        mpi = replace(mpi, mpiexec=Path(path))
    for ranks, program in parts:
        own = mpiexec_words(mpi, ranks, options.launcher_options)
        words += [":", *own[1:]] if words else own
        words += program
    return tuple(words)


def family_of(options: CampaignOptions, case: Case) -> str:
    """Return the MPI whose program makes a case; "": the one that its runner finds.

    On emulated Lustre that is MPICH where its ROMIO has the Lustre driver, for the libraries that
    distributions build for MPICH, and Open MPI for the others.
    """
    if options.family or options.storage is None or not _has_lustre_driver(options):
        return options.family
    return "openmpi" if case.backend in _OPENMPI_ONLY else "mpich"


def mpiio_stack(options: CampaignOptions, family: str) -> str:
    """Return the software stack of MPI-IO that a program of a family has on the storage.

    Args:
        options: Of the campaign.
        family: "mpich", "openmpi", "openmpi-5"; others are taken for MPICH's kin.
    """
    if family.startswith("openmpi"):
        return "ompio"
    on_lustre = options.storage is None and find_mount(options.inside).kind == "lustre"
    return "romio-lustre" if on_lustre or _has_lustre_driver(options) else "romio"


_OPENMPI_ONLY = ("netcdf4", "pnetcdf", "adios2")
"""Libraries that Debian has for Open MPI alone, or that are built for it."""


def _has_lustre_driver(options: CampaignOptions) -> bool:
    if options.storage is None or find_storage(options.storage.machine).kind != "lustre":
        return False
    return lustre_mpiexec().is_file()


def _of_lustre(options: CampaignOptions, family: str) -> str:
    """Return the mpiexec of the MPICH with ROMIO's Lustre driver; "": it is not to be used."""
    use = family == "mpich" and _has_lustre_driver(options)
    return str(lustre_mpiexec()) if use else ""


def lustre_mpiexec() -> Path:
    """Return where `make lustre-mpi` puts the mpiexec of its MPICH."""
    usual = Path.home() / ".cache" / "stripewise"
    return Path(os.environ.get("STRIPEWISE_CACHE") or usual, "lustre-mpi", "bin", "mpiexec")


def _srun(
    options: CampaignOptions, nodes: int, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    """Return the words of srun: each program has nodes of its own, one after another."""
    ranks = sum(number for number, _ in parts)
    words = ["srun", f"--nodes={nodes}", f"--ntasks={ranks}"]
    words += [f"--ntasks-per-node={-(-ranks // nodes)}", *options.launcher_options]
    if len(parts) == 1:
        return (*words, *parts[0][1])
    lines, first = [], 0
    for number, program in parts:
        lines.append(f"{first}-{first + number - 1} {' '.join(map(shlex.quote, program))}\n")
        first += number
    file = record / "multi-prog.conf"
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}: make room there") from error
    return (*words, "--distribution=block", "--multi-prog", str(file))
