# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks and threads of a job, put into the command that starts it.

The command stays a list of arguments.  Only the launcher's own options are changed, and only
where all of them are known, so that the program's arguments are never taken for them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.model import JobSettings
from stripewise.readers import is_launcher
from stripewise.runtime._dialects import HYDRA, OPENMPI, SRUN, Dialect
from stripewise.runtime._launcher_options import LauncherOption, launcher_options
from stripewise.runtime._mpi import launcher_family

THREADS_VARIABLE = "OMP_NUM_THREADS"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_OTHER_MAPPINGS = ("pernode", "bynode", "byslot", "bycore", "npersocket")
_PPR = re.compile(r"ppr:\d+:node(.*)")


def command_with_resources(
    command: Sequence[str], job: JobSettings, environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the command that starts a job with its ranks and threads.

    Args:
        command: Arguments; a launcher's line, or a plain program where only threads are set.
        job: Settings; what is None stays as it is.
        environment: Whose PATH finds the launcher; this process's own if not given.

    Raises:
        UsageError: The launcher, or one of its options, is not known, or there are several
            programs.
    """
    if not job.resources:
        return tuple(command)
    start = _launcher_at(command)
    if start is None:
        return _without_launcher(command, job)
    dialect = _dialect(command[start], os.environ if environment is None else environment)
    line = _Line(command, start, dialect)
    if job.ranks is not None:
        line.set(dialect.ranks, str(job.ranks))
    if job.ranks_per_node is not None:
        line.set_ranks_per_node(job.ranks_per_node)
    if job.threads is not None:
        line.set_threads(job.threads)
    return line.words


def launcher_line(
    command: Sequence[str], ranks: int, environment: Mapping[str, str] | None = None
) -> tuple[str, ...] | None:
    """Return the words of a command that stand before its program, with so many ranks.

    Args:
        command: Arguments.
        ranks: Of the program that will follow.
        environment: Whose PATH finds the launcher; this process's own if not given.

    Returns:
        None where the command begins with no launcher whose options are all known.
    """
    try:
        changed = command_with_resources(command, JobSettings(ranks=ranks), environment)
        start = _launcher_at(changed)
        if start is None:
            return None
        dialect = _dialect(changed[start], os.environ if environment is None else environment)
        program = launcher_options(changed, start, dialect)[1]
    except UsageError:
        return None
    return changed[: _after_env(changed, program)]


def resource_environment(job: JobSettings) -> dict[str, str]:
    """Return the variables that carry a job's resources."""
    return {} if job.threads is None else {THREADS_VARIABLE: str(job.threads)}


class _Line:
    """A launcher's line whose options are understood."""

    def __init__(self, command: Sequence[str], start: int, dialect: Dialect) -> None:
        self._words = list(command)
        self._start = start
        self._dialect = dialect
        self._options, self._program = launcher_options(command, start, dialect)
        self._added: list[str] = []

    @property
    def words(self) -> tuple[str, ...]:
        """The line with all changes."""
        head = self._words[: self._start + 1]
        return (*head, *self._added, *self._words[self._start + 1 :])

    def set(self, names: Sequence[str], value: str) -> None:
        """Give one of these options a value, in every place where it stands, or add it."""
        found = [option for option in self._options if option.name in names]
        for option in found:
            self._words[option.values[-1]] = option.prefix + value
        if not found:
            name = names[0]
            dash = "-" if len(name) == 1 or self._dialect is HYDRA else "--"
            self._added += [f"--{name}={value}"] if self._dialect is SRUN else [dash + name, value]

    def set_ranks_per_node(self, number: int) -> None:
        """Set the ranks of each host; Open MPI has several spellings."""
        if self._dialect is not OPENMPI:
            self.set(self._dialect.ranks_per_node, str(number))
            return
        mapping = [option for option in self._options if option.name in ("map-by", "ppr")]
        old = [option for option in self._options if option.name in ("npernode", "N")]
        if any(option.name in _OTHER_MAPPINGS for option in self._options):
            raise UsageError(
                "ranks_per_node: the command says --pernode, --bynode or the like; write "
                "--map-by ppr:N:node instead"
            )
        for option in old:
            self._words[option.values[0]] = option.prefix + str(number)
        for option in mapping:
            text = self._words[option.values[0]].removeprefix(option.prefix)
            match = _PPR.fullmatch(text)
            if match is None:
                raise UsageError(
                    f"ranks_per_node: the command maps ranks by {text!r}; write "
                    "--map-by ppr:N:node instead, or leave the mapping out"
                )
            self._words[option.values[0]] = f"{option.prefix}ppr:{number}:node{match[1]}"
        if not old and not mapping:
            self._added += ["--map-by", f"ppr:{number}:node"]

    def set_threads(self, number: int) -> None:
        """Let the ranks have so many threads: where the line sets the variable, and CPUs."""
        if self._dialect.cpus:
            self.set(self._dialect.cpus, str(number))
        said = self._set_variable(number)
        if self._dialect is OPENMPI and not said:
            self._added += ["-x", THREADS_VARIABLE]  # not passed to other hosts otherwise
        withheld = [option for option in self._options if option.name in self._dialect.withheld]
        if self._dialect is SRUN:
            for option in withheld:
                self._export(option, number)
        elif withheld and not said:  # what -genv sets is passed whatever they say
            self._added += ["-genv", THREADS_VARIABLE, str(number)]
        _set_assignments(self._words, 0, number)
        _set_assignments(self._words, self._program, number)

    def _set_variable(self, number: int) -> bool:
        """Change the variable where the launcher's options set it; tell whether they do."""
        said = False
        for option in self._options:
            if option.name not in self._dialect.environment:
                continue
            first = option.values[0]
            name = self._words[first].removeprefix(option.prefix).partition("=")[0]
            if name != THREADS_VARIABLE:
                continue
            said = True
            if len(option.values) == 2:
                self._words[option.values[1]] = str(number)
            else:
                self._words[first] = f"{option.prefix}{THREADS_VARIABLE}={number}"
        return said

    def _export(self, option: LauncherOption, number: int) -> None:
        """Let srun pass the variable: its --export names what the ranks get.

        Raises:
            UsageError: They get nothing.
        """
        place = option.values[0]
        text = self._words[place].removeprefix(option.prefix)
        if text.upper() in ("NONE", "NIL"):
            raise UsageError(
                f"threads: --export={text} keeps {THREADS_VARIABLE} from the ranks; write "
                "--export=ALL, or leave the threads out"
            )
        names = [item.partition("=")[0] for item in text.split(",")]
        said = [
            f"{THREADS_VARIABLE}={number}" if item.startswith(f"{THREADS_VARIABLE}=") else item
            for item in text.split(",")
        ]
        if THREADS_VARIABLE not in names and "ALL" not in (name.upper() for name in names):
            said.append(f"{THREADS_VARIABLE}={number}")
        self._words[place] = option.prefix + ",".join(said)


def _launcher_at(command: Sequence[str]) -> int | None:
    """Index of the launcher: the first word, or what `env NAME=VALUE...` starts."""
    place = _after_env(command, 0)
    if place < len(command) and is_launcher(os.path.basename(command[place])):
        return place
    return None


def _after_env(words: Sequence[str], place: int) -> int:
    """Index of what `env NAME=VALUE...` starts; the place itself where there is no env."""
    while place < len(words) and os.path.basename(words[place]) == "env":
        place += 1
        while place < len(words) and _ASSIGNMENT.fullmatch(words[place]):
            place += 1
    return place


def _set_assignments(words: list[str], place: int, number: int) -> None:
    """Change the variable where `env NAME=VALUE...` sets it.

    Raises:
        UsageError: env has options, which may unset it.
    """
    end = _after_env(words, place)
    if end > place and end < len(words) and words[end].startswith("-"):
        raise UsageError(
            f"threads: {words[end]} of env may keep {THREADS_VARIABLE} from the program; take "
            "the option out, or leave the threads out"
        )
    for i in range(place, min(end, len(words))):
        if words[i].startswith(f"{THREADS_VARIABLE}="):
            words[i] = f"{THREADS_VARIABLE}={number}"


def _without_launcher(command: Sequence[str], job: JobSettings) -> tuple[str, ...]:
    wanted = [name for name in job.resources if name != "threads"]
    if not wanted:
        words = list(command)
        if job.threads is not None:
            _set_assignments(words, 0, job.threads)
        return tuple(words)
    first = command[0] if command else ""
    raise UsageError(
        f"{wanted[0]}: the command begins with {first!r}, which is no launcher that is known; "
        "write mpiexec, mpirun or srun as its first word, or leave the resource out"
    )


def _dialect(word: str, environment: Mapping[str, str]) -> Dialect:
    name = os.path.basename(word)
    if name.split(".")[0] == "srun":
        return SRUN
    located = shutil.which(word, path=environment.get("PATH"))
    family = launcher_family(Path(os.path.realpath(located))) if located else ""
    found = {"mpich": HYDRA, "openmpi": OPENMPI}.get(family)
    if found is None:
        raise UsageError(
            f"the options of {word} are not known here; resources can be set for Hydra's and "
            "Open MPI's mpiexec and for srun: put the ranks into the command instead"
        )
    return found
