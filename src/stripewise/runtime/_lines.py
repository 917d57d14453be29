# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launcher lines of another machine: read by what they say alone, not by what is installed here.

A script that says `mpirun` may mean MPICH's or Open MPI's.  Every dialect that understands the
whole line is asked, and an answer is given where all of them agree.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.errors import UsageError
from stripewise.model import JobSettings
from stripewise.runtime._dialects import APRUN, HYDRA, OPENMPI, SRUN, Dialect
from stripewise.runtime._launcher_options import (
    LauncherOption,
    LauncherOptionError,
    launcher_options,
)
from stripewise.runtime._resources import LauncherChange, launcher_change

_DIALECTS = {
    "srun": (SRUN,),
    "aprun": (APRUN,),
    "orterun": (OPENMPI,),
    "prterun": (OPENMPI,),
    "prun": (OPENMPI,),
    "mpirun": (HYDRA, OPENMPI),
    "mpiexec": (HYDRA, OPENMPI),
}
_SUFFIXES = {"hydra": (HYDRA,), "mpich": (HYDRA,), "openmpi": (OPENMPI,), "ompi": (OPENMPI,)}


@dataclass(frozen=True)
class LauncherReading:
    """What the options of a launcher's line say.

    Attributes:
        program: Index of the word that is the program.
        ranks / ranks_per_node / cpus_per_rank: As written; "" where the line does not say.
        nodes: As written, of srun.
    """

    program: int
    ranks: str = ""
    ranks_per_node: str = ""
    cpus_per_rank: str = ""
    nodes: str = ""


def read_launcher(words: Sequence[str]) -> LauncherReading:
    """Read a line whose first word is the launcher.

    Raises:
        UsageError: The launcher or one of its options is not known, its dialects disagree on
            where the program begins, there is no program, or there are several.
    """
    found = [_reading(words, *each) for each in _understood(words)]
    if len({reading.program for reading in found}) > 1:
        raise LauncherOptionError(
            f"the program of {words[0]} begins in another place for MPICH than for Open MPI"
        )
    if found[0].program >= len(words):
        raise LauncherOptionError(f"{words[0]} starts no program")
    return found[0]


def change_launcher(words: Sequence[str], job: JobSettings) -> LauncherChange:
    """Return what sets a job's resources in a line whose first word is the launcher.

    Raises:
        UsageError: As of `read_launcher`, or MPICH and Open MPI set the resource differently and
            the line does not tell which of them it is for.
    """
    understood = _understood(words)
    changes = [launcher_change(words, 0, dialect, job) for dialect, _, _ in understood]
    if any(change != changes[0] for change in changes):
        raise UsageError(
            f"{' and '.join(job.resources)}: MPICH's {words[0]} and Open MPI's set this "
            "differently, and the line does not tell which one it is; write mpiexec.hydra or "
            "orterun"
        )
    return changes[0]


def _understood(words: Sequence[str]) -> list[tuple[Dialect, list[LauncherOption], int]]:
    """The dialects that understand the line, with its options and the index of its program."""
    found: list[tuple[Dialect, list[LauncherOption], int]] = []
    refusals: list[UsageError] = []
    for dialect in _dialects(words[0]):
        try:
            found.append((dialect, *launcher_options(words, 0, dialect)))
        except UsageError as error:
            refusals.append(error)
    if not found:
        raise refusals[0]
    return found


def _dialects(word: str) -> tuple[Dialect, ...]:
    name, _, suffix = os.path.basename(word).partition(".")
    if name not in _DIALECTS:
        raise LauncherOptionError(f"the options of {word} are not known here")
    return _SUFFIXES.get(suffix.split(".")[0], _DIALECTS[name])


def _reading(
    words: Sequence[str], dialect: Dialect, options: list[LauncherOption], program: int
) -> LauncherReading:
    def said(names: tuple[str, ...]) -> str:
        found = [o for o in options if o.name in names and len(o.values) == 1]
        return words[found[-1].values[0]].removeprefix(found[-1].prefix) if found else ""

    return LauncherReading(
        program=program,
        ranks=said(dialect.ranks),
        ranks_per_node=said(tuple(n for n in dialect.ranks_per_node if n != "map-by")),
        cpus_per_rank=said(dialect.cpus),
        nodes=said(("nodes", "N")) if dialect is SRUN else "",
    )
