# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The words that start the ranks of a case, alone or beside another one."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from stripewise.bench._case import Case
from stripewise.bench._options import CampaignOptions
from stripewise.errors import StorageError
from stripewise.runtime import find_launcher, mpiexec_words

Part = tuple[int, list[str]]
"""Ranks, and program with arguments of each."""


def through_srun(options: CampaignOptions) -> bool:
    """Whether srun starts the ranks: in jobs, and in the allocation that this process is in."""
    return options.launcher == "slurm" or bool(
        options.storage is None and os.environ.get("SLURM_JOB_ID")
    )


def start_words(
    options: CampaignOptions, family: str, case: Case, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    """Return the command of a run.

    Args:
        options: Of the campaign.
        family: MPI of the programs, for mpiexec.
        case: Tells the nodes.
        parts: One program, or several that run at once, each with its ranks.
        record: Directory of the run's record, for a file that srun reads.

    Raises:
        ProgramError: There is no mpiexec of the family.
        StorageError: The file cannot be written.
    """
    if through_srun(options):
        return _srun(options, case, parts, record)
    words: list[str] = []
    mpi = find_launcher(family)
    for ranks, program in parts:
        own = mpiexec_words(mpi, ranks, options.launcher_options)
        words += [":", *own[1:]] if words else own
        words += program
    return tuple(words)


def _srun(
    options: CampaignOptions, case: Case, parts: Sequence[Part], record: Path
) -> tuple[str, ...]:
    ranks = sum(number for number, _ in parts)
    each = -(-ranks // case.nodes)
    words = ["srun", f"--nodes={case.nodes}", f"--ntasks={ranks}", f"--ntasks-per-node={each}"]
    words += options.launcher_options
    if len(parts) == 1:
        return (*words, *parts[0][1])
    # Each node has ranks of every part: they are dealt out in blocks, node by node.
    lines, first = [], 0
    owners: list[list[int]] = [[] for _ in parts]
    for _ in range(case.nodes):
        for place, (number, _) in enumerate(parts):
            here = number // case.nodes
            owners[place] += range(first, first + here)
            first += here
    for (_, program), own in zip(parts, owners, strict=True):
        lines.append(f"{','.join(map(str, own))} {' '.join(map(shlex.quote, program))}\n")
    file = record / "multi-prog.conf"
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}: make room there") from error
    return (*words, "--multi-prog", str(file))
