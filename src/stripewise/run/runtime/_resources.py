# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Puts numbers of ranks and threads into a launch line of this or another machine.

The command stays a list of arguments.  Only the launcher's own options are changed, and only if
all of them are known, so that the program's arguments are never mistaken for them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import JobSettings, is_launcher
from stripewise.core.errors import UsageError
from stripewise.run.runtime._launch_lines import (
    APRUN,
    HYDRA,
    OPENMPI,
    SRUN,
    Dialect,
    LauncherOption,
    LauncherOptionError,
    launcher_options,
)
from stripewise.run.runtime._mpi import launcher_family

THREADS_VARIABLE = "OMP_NUM_THREADS"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_OTHER_MAPPINGS = ("pernode", "bynode", "byslot", "bycore", "npersocket")
_PPR = re.compile(r"ppr:\d+:node(.*)")


def command_with_resources(command: Sequence[str], job: JobSettings) -> tuple[str, ...]:
    """Return the command that starts a job with its ranks and threads.

    Args:
        command: Words of a launch line, or of a plain program if only threads are set.
        job: Settings; values of None are not changed.

    Raises:
        UsageError: The launcher or one of its options is unknown, or there are several programs.
    """
    if not job.resources:
        return tuple(command)
    start = _launcher_at(command)
    if start is None:
        return _without_launcher(command, job)
    line = _Line(command, start)
    line.set_job(job)
    return line.words


@dataclass(frozen=True)
class LauncherChange:
    """Changes to a launch line for the resources of a job.

    Attributes:
        replaced: Index of a word to the word that replaces it.
        added: Words to add after that of the launcher.
    """

    replaced: Mapping[int, str]
    added: tuple[str, ...]


def launcher_change(
    command: Sequence[str], start: int, dialect: Dialect, job: JobSettings
) -> LauncherChange:
    """Return the changes that set a job's resources in a line with the launcher at `start`.

    Raises:
        UsageError: One of its options is unknown, or there are several programs.
    """
    line = _Line(command, start, dialect)
    line.set_job(job)
    return line.change(command)


def launcher_line(command: Sequence[str], ranks: int) -> tuple[str, ...] | None:
    """Return the words of a command before its program, with a number of ranks.

    Returns:
        None if the command does not begin with a launcher whose options are all known.
    """
    start = _launcher_at(command)
    if start is None:
        return None
    try:
        line = _Line(command, start)
    except UsageError:
        return None
    line.set_ranks(ranks)
    return line.head


def resource_environment(job: JobSettings) -> dict[str, str]:
    """Return the environment variables that set a job's resources."""
    return {} if job.threads is None else {THREADS_VARIABLE: str(job.threads)}


class _Line:
    """A launch line whose options are understood.

    Raises:
        UsageError: The launcher or one of its options is unknown, or there are several programs.
    """

    def __init__(self, command: Sequence[str], start: int, dialect: Dialect | None = None) -> None:
        self._words = list(command)
        self._start = start
        self._dialect = dialect or _dialect(command[start])
        self._options, self._program = launcher_options(command, start, self._dialect)
        self._added: list[str] = []

    @property
    def head(self) -> tuple[str, ...]:
        """Words before the program, with all changes."""
        first, end = self._start + 1, _after_env(self._words, self._program)
        return (*self._words[:first], *self._added, *self._words[first:end])

    @property
    def words(self) -> tuple[str, ...]:
        """All words of the line, with all changes."""
        return (*self.head, *self._words[_after_env(self._words, self._program) :])

    def change(self, original: Sequence[str]) -> LauncherChange:
        """Return the changes relative to the original line."""
        words = enumerate(zip(original, self._words, strict=True))
        replaced = {i: new for i, (old, new) in words if old != new}
        return LauncherChange(replaced, tuple(self._added))

    def set_job(self, job: JobSettings) -> None:
        """Set the resources that a job specifies."""
        if job.ranks is not None:
            self.set_ranks(job.ranks)
        if job.ranks_per_node is not None:
            self.set_ranks_per_node(job.ranks_per_node)
        if job.threads is not None:
            self.set_threads(job.threads)

    def set_ranks(self, number: int) -> None:
        """Set the number of ranks."""
        self._set(self._dialect.ranks, number)

    def set_ranks_per_node(self, number: int) -> None:
        """Set the ranks per host, for which Open MPI has several spellings."""
        if self._dialect is not OPENMPI:
            self._set(self._dialect.ranks_per_node, number)
            return
        if self._named(_OTHER_MAPPINGS):
            raise UsageError(
                "ranks_per_node: the command says --pernode, --bynode or the like; write "
                "--map-by ppr:N:node instead"
            )
        mapping, old = self._named(("map-by", "ppr")), self._named(("npernode", "N"))
        for option in old:
            self._put(option, str(number))
        for option in mapping:
            text = self._value(option)
            match = _PPR.fullmatch(text)
            if match is None:
                raise UsageError(
                    f"ranks_per_node: the command maps ranks by {text!r}; write "
                    "--map-by ppr:N:node instead, or leave the mapping out"
                )
            self._put(option, f"ppr:{number}:node{match[1]}")
        if not old and not mapping:
            self._added += ["--map-by", f"ppr:{number}:node"]

    def set_threads(self, number: int) -> None:
        """Set the number of threads per rank, in the variable if the line sets it and as CPUs."""
        if self._dialect.cpus:
            self._set(self._dialect.cpus, number)
        is_set = self._set_variable(number)
        if self._dialect is OPENMPI and not is_set:
            self._added += ["-x", THREADS_VARIABLE]  # not passed to other hosts otherwise
        withheld = self._named(self._dialect.withheld)
        if self._dialect is SRUN:
            for option in withheld:
                self._export(option, number)
        elif withheld and not is_set:  # variables of -genv are passed independent of these options
            self._added += ["-genv", THREADS_VARIABLE, str(number)]
        _set_assignments(self._words, 0, number)
        _set_assignments(self._words, self._program, number)

    def _named(self, names: Sequence[str]) -> list[LauncherOption]:
        return [option for option in self._options if option.name in names]

    def _value(self, option: LauncherOption) -> str:
        return self._words[option.values[0]].removeprefix(option.prefix)

    def _put(self, option: LauncherOption, value: str) -> None:
        self._words[option.values[-1]] = option.prefix + value

    def _set(self, names: Sequence[str], number: int) -> None:
        """Set one of these options wherever it occurs, or add it."""
        found = self._named(names)
        for option in found:
            self._put(option, str(number))
        if not found:
            name, value = names[0], str(number)
            dash = "-" if len(name) == 1 or self._dialect is HYDRA else "--"
            self._added += [f"--{name}={value}"] if self._dialect is SRUN else [dash + name, value]

    def _set_variable(self, number: int) -> bool:
        """Change the variable in the launcher's options; return whether any of them sets it."""
        assignment = f"{THREADS_VARIABLE}={number}"
        found = [
            option
            for option in self._named(self._dialect.environment)
            if self._value(option).partition("=")[0] == THREADS_VARIABLE
        ]
        for option in found:
            self._put(option, str(number) if len(option.values) == 2 else assignment)
        return bool(found)

    def _export(self, option: LauncherOption, number: int) -> None:
        """Add the variable to srun's --export, which lists those passed to the ranks.

        Raises:
            UsageError: No variables are passed to them.
        """
        text = self._value(option)
        if text.upper() in ("NONE", "NIL"):
            raise UsageError(
                f"threads: --export={text} keeps {THREADS_VARIABLE} from the ranks; write "
                "--export=ALL, or leave the threads out"
            )
        items = text.split(",")
        assignment = f"{THREADS_VARIABLE}={number}"
        items = [assignment if item.startswith(f"{THREADS_VARIABLE}=") else item for item in items]
        if not any(i.upper() == "ALL" or i.partition("=")[0] == THREADS_VARIABLE for i in items):
            items.append(assignment)
        self._put(option, ",".join(items))


def _launcher_at(command: Sequence[str]) -> int | None:
    """Return the index of the launcher: the first word, or the one after `env NAME=VALUE...`."""
    place = _after_env(command, 0)
    if place < len(command) and is_launcher(os.path.basename(command[place])):
        return place
    return None


def _after_env(words: Sequence[str], place: int) -> int:
    """Return the index of the word after `env NAME=VALUE...`; the given index without env."""
    while place < len(words) and os.path.basename(words[place]) == "env":
        place += 1
        while place < len(words) and _ASSIGNMENT.fullmatch(words[place]):
            place += 1
    return place


def _set_assignments(words: list[str], place: int, number: int) -> None:
    """Change the variable if `env NAME=VALUE...` sets it.

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
        f"{wanted[0]}: the command begins with {first!r}, which is not a known launcher; write "
        "mpiexec, mpirun or srun as its first word, or leave the resource out"
    )


def _dialect(word: str) -> Dialect:
    name = os.path.basename(word)
    if name.split(".")[0] in ("srun", "aprun"):
        return SRUN if name.startswith("srun") else APRUN
    located = shutil.which(word)
    family = launcher_family(Path(os.path.realpath(located))) if located else ""
    found = {"mpich": HYDRA, "openmpi": OPENMPI}.get(family)
    if found is None:
        raise UsageError(
            f"the options of {word} are not known here; resources can be set for Hydra's and "
            "Open MPI's mpiexec, for srun and for aprun: put the ranks into the command instead"
        )
    return found


# Launch lines of another machine, parsed independent of the software installed here.
#
# `mpirun` in a script may be that of MPICH or Open MPI.  Every dialect that understands the whole
# line is tried, and a result is returned only if all of them agree.

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
    """Result of parsing the options of a launch line.

    Attributes:
        program: Index of the word that is the program.
        ranks / ranks_per_node / cpus_per_rank: Values as written; empty if the line does not set
            them.
        nodes: Number of nodes as written, for srun.
    """

    program: int
    ranks: str = ""
    ranks_per_node: str = ""
    cpus_per_rank: str = ""
    nodes: str = ""


def read_launcher(words: Sequence[str]) -> LauncherReading:
    """Parse a line whose first word is the launcher.

    Raises:
        UsageError: The launcher or one of its options is unknown, its dialects disagree on where
            the program begins, there is no program, or there are several.
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
    """Return the changes that set a job's resources in a line that begins with the launcher.

    Raises:
        UsageError: See `read_launcher`; or MPICH and Open MPI set the resource differently and the
            line does not show which of them it is for.
    """
    understood = _understood(words)
    changes = [launcher_change(words, 0, dialect, job) for dialect, _, _ in understood]
    if any(change != changes[0] for change in changes):
        raise UsageError(
            f"{' and '.join(job.resources)}: MPICH's {words[0]} and Open MPI's set this "
            "differently, and the line does not show which one it is; write mpiexec.hydra or "
            "orterun"
        )
    return changes[0]


def _understood(words: Sequence[str]) -> list[tuple[Dialect, list[LauncherOption], int]]:
    """Return the dialects that understand a line, with its options and the program's index."""
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
    def value_of(names: tuple[str, ...]) -> str:
        found = [o for o in options if o.name in names and len(o.values) == 1]
        return words[found[-1].values[0]].removeprefix(found[-1].prefix) if found else ""

    return LauncherReading(
        program=program,
        ranks=value_of(dialect.ranks),
        ranks_per_node=value_of(tuple(n for n in dialect.ranks_per_node if n != "map-by")),
        cpus_per_rank=value_of(dialect.cpus),
        nodes=value_of(("nodes", "N")) if dialect is SRUN else "",
    )
