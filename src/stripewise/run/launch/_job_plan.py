# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes a job: sbatch options, directives, the command and its environment."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stripewise.core.errors import UsageError
from stripewise.run.launch import _records
from stripewise.run.launch._base import RunRequest
from stripewise.run.launch.agent import _processes
from stripewise.run.launch.agent._agent_run import STAGE_VARIABLE
from stripewise.run.runtime import (
    Runtime,
    command_with_resources,
    guard_environment,
    launch_environment,
)
from stripewise.run.slurm import time_text

STAGE_MODES = ("all", "beside", "files", "links")
SIGNAL_SECONDS = 30
"""Time before the end of an allocation at which Slurm is requested to send SIGTERM."""
MARGIN_SECONDS = SIGNAL_SECONDS + 60.0 + 5.0
"""Time at the end of an allocation that no run may rely on.

Source: the signal "may be sent up to 60 seconds earlier than specified" (sbatch 22.05, --signal).
Assumed: 5 s for the agent to begin and a run to be ended.
"""


@dataclass(frozen=True)
class Allocation:
    """Allocation to submit for a run.

    Attributes:
        key: Key of the allocation; requests with the same key can share it.
        arguments: Options of sbatch, one word each.
        directives: Lines for the batch script, such as "#DW jobdw ..."; each begins with "#".
        nodes: Number of compute nodes.
        wall_seconds: Its time limit, which the arguments contain too; None if unknown.
        name: Name of the job in the user's script, which runs find in SLURM_JOB_NAME.
        margin_seconds: Time before its end at which Slurm's signal may arrive; no run may extend
            into it.
    """

    key: str = ""
    arguments: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    nodes: int = 1
    wall_seconds: float | None = None
    name: str = ""
    margin_seconds: float = MARGIN_SECONDS

    def __post_init__(self) -> None:
        for line in self.directives:
            if not line.startswith("#") or "\n" in line or "\0" in line:
                raise UsageError(f"{line!r} is not a directive: one line that begins with #")
        check_arguments(self.arguments)

    def limit_of_run(self, wanted_seconds: float | None) -> float | None:
        """Return the time limit of a run: the requested one, or the time before the signal."""
        if wanted_seconds is None or self.wall_seconds is None:
            return wanted_seconds
        most_seconds = self.wall_seconds - self.margin_seconds
        return min(wanted_seconds, most_seconds) if most_seconds > 0 else wanted_seconds


@dataclass(frozen=True)
class Stage:
    """Files of a run that are on the burst buffer.

    Attributes:
        variable: Environment variable of the job that names the burst buffer, such as
            DW_JOB_STRIPED; empty if `directory` names it.
        mode: Use of the burst buffer: "all" if the run works there; "beside" if it works in its
            own directory and names files there by the variable; "files" if files that match are
            there and the library redirects the program to them; "links" if links in the run's
            directory do.
        globs: Globs for names relative to the run's directory; "*" does not match "/".
        copies: Files and directories to copy there after the files of the run, with their relative
            destinations.
        directory: Path with variables of the job's environment, such as /flash/$USER.
        may_be_local: Whether the storage may be local to each node, so that nodes cannot share it.
        content: Whether the burst buffer is persistent and its content is copied too.
    """

    variable: str
    mode: str = "all"
    globs: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    may_be_local: bool = False
    content: bool = False

    def __post_init__(self) -> None:
        if self.mode not in STAGE_MODES:
            raise UsageError(f"stage {self.mode!r}: use one of {', '.join(STAGE_MODES)}")
        for glob in self.globs:
            if glob.startswith("/") or ".." in glob.split("/") or set(glob) & set("=:%"):
                raise UsageError(f"{glob!r} is not a name below the run's directory")


class JobPlan(ABC):
    """Base class of plans that turn the runs of a study into jobs.

    Attributes:
        task_words: Whether the command starts its tasks with given words, so that only these load
            the library; otherwise the whole command does.
    """

    task_words: bool = False

    @property
    def run_seconds(self) -> float | None:
        """Time limit that a run would have as a separate job; None for no limit."""
        return None

    @abstractmethod
    def allocation(self, request: RunRequest) -> Allocation:
        """Return the allocation to submit for a run."""

    @abstractmethod
    def command(
        self, request: RunRequest, record_directory: Path, task_words: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the words of the command to run in the allocation.

        Args:
            request: Request of the run.
            record_directory: Existing directory to which scripts are written, with mode 0700.
            task_words: Words to put before the program of each rank.
        """

    def stage(self, request: RunRequest) -> Stage | None:
        """Return the files of the run that are on the burst buffer; None if there are none."""
        del request
        return None

    def variables(self, request: RunRequest) -> Mapping[str, str]:
        """Return the environment variables that only tasks of this run get."""
        del request
        return {}


@dataclass(frozen=True)
class PlainJobs(JobPlan):
    """Plan that runs the command itself, in allocations of the nodes and ranks that it needs.

    Attributes:
        arguments: Additional options of sbatch.
        directives: Lines for the batch script.
        wall_seconds: Time limit of an allocation, extended if a run needs more; None for the
            partition's default.
        staged: Files that are on the burst buffer.
        margin_seconds: Time before the end of an allocation at which Slurm's signal may arrive.
    """

    arguments: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    wall_seconds: float | None = None
    staged: Stage | None = field(default=None)
    margin_seconds: float = MARGIN_SECONDS

    def allocation(self, request: RunRequest) -> Allocation:
        """Return an allocation with the request's resources."""
        resources, words = request.resources, []
        if resources.nodes is not None:
            words.append(f"--nodes={resources.nodes}")
        if resources.ranks is not None:
            words.append(f"--ntasks={resources.ranks}")
        wall_seconds = self.wall_seconds
        if wall_seconds is not None:
            least_seconds = least_wall_seconds(request.timeout_seconds, self.margin_seconds)
            wall_seconds = max(wall_seconds, least_seconds)
            words.append(f"--time={time_text(wall_seconds)}")
        arguments = (*words, *self.arguments)
        key = "\n".join((*arguments, *self.directives))
        return Allocation(
            key, arguments, self.directives, resources.nodes or 1, wall_seconds,
            margin_seconds=self.margin_seconds,
        )  # fmt: skip

    def command(
        self, request: RunRequest, record_directory: Path, task_words: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the request's command with its ranks and threads."""
        del record_directory, task_words
        return command_with_resources(request.command, request.configuration.job)

    def stage(self, request: RunRequest) -> Stage | None:
        """Return the files on the burst buffer, which are the same for every run."""
        del request
        return self.staged


def least_wall_seconds(run_seconds: float | None, margin_seconds: float = MARGIN_SECONDS) -> float:
    """Return the minimum time limit of an allocation for a run with a time limit."""
    return 0.0 if run_seconds is None else run_seconds + margin_seconds


_REFUSED = frozenset(
    {"--wait", "-W", "--wrap", "--test-only", "--help", "--usage", "--version", "-V", "-h"}
)


def check_arguments(arguments: tuple[str, ...]) -> None:
    """Refuse sbatch options that are incompatible with jobs that serve several runs.

    Raises:
        UsageError: There is one; the message names it and the remedy.
    """
    for place, word in enumerate(arguments):
        if "\0" in word or "\n" in word:
            raise UsageError(f"the option {word!r} of sbatch holds a line end or a NUL")
        name, _, value = word.partition("=")
        if name in _REFUSED:
            raise UsageError(f"the option {name} of sbatch cannot be used here; take it out")
        if name == "--array" or (word.startswith("-a") and not word.startswith("--")):
            value = value or word[2:] if not word.startswith("--") else value
            following = arguments[place + 1] if place + 1 < len(arguments) else ""
            if not (value or following).isdecimal():
                raise UsageError(
                    f"{word}: an array would start each run several times; tune one element, "
                    "as --array=1"
                )


# Environment of a job's command and of its tasks.
#
# A command that starts its tasks itself (a script with srun in it) gets only the guard of the
# user's files: recording and settings reach its tasks through a file that a small program in front
# of each task loads into its environment.  Other commands get everything at once.

TASK_FILE = "task.environment"
_OWN = "STRIPEWISE_"
_PRELOAD = "LD_PRELOAD"
_PLACES = ("STRIPEWISE_INCLUDE", "STRIPEWISE_WRITABLE")
_KEEP_REMOVED = "STRIPEWISE_KEEP_REMOVED"
REDIRECT_VARIABLE = "STRIPEWISE_REDIRECT"


def order_environment(
    runtime: Runtime | None,
    request: RunRequest,
    stage: Stage | None,
    job_name: str,
    guard: Runtime | None = None,
) -> dict[str, Any]:
    """Return the part of an order that changes the environment of the job's command.

    Args:
        runtime: Runtime to preload into the whole command; None if only its tasks get it.
        request: Request of the run.
        stage: Files that are on the burst buffer.
        job_name: Name of the job in the user's script.
        guard: Runtime to preload into a command whose tasks get their own environment, which
            protects the user's files from the rest of the command; None for no guard.
    """
    before = dict(os.environ)
    if runtime is not None:
        after = _records.preloaded(runtime, request, before)
        expand = staged_variables(after, request, stage)
    else:
        after = _for_launchers(request, before)
        if guard is not None and request.writable:
            after = _guarded(guard, request, after)
        expand = _staged_places(after, stage)
    if job_name:
        after["SLURM_JOB_NAME"] = job_name
    portable = _records.portable
    changed = {name: text for name, text in after.items() if before.get(name) != text}
    return {
        "set": {portable(name): portable(text) for name, text in changed.items()},
        "unset": [portable(name) for name in before if name not in after],
        "expand": {name: portable(text) for name, text in expand.items()},
    }


def _guarded(runtime: Runtime, request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    """Add the guard, and the record's list of links if the run makes links."""
    record = request.record_directory.absolute()
    writable, refused = (*request.writable, record), record / _records.REFUSED
    return guard_environment(runtime, writable=writable, refused=refused, base=base)


def _for_launchers(request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for mpiexec and srun, with settings that they read."""
    from stripewise.run.runtime import check_carried, resource_environment
    from stripewise.settings import formats

    check_carried(request.configuration)
    added = {
        **formats.job_environment(request.configuration),
        **resource_environment(request.configuration.job),
    }
    outer = {name: text for name, text in base.items() if not name.startswith(_OWN)}
    return launch_environment({**outer, **added})


def staged_variables(
    variables: Mapping[str, str], request: RunRequest, stage: Stage | None
) -> dict[str, str]:
    """Return variables that name the run's files, with their paths on the burst buffer.

    The path of the stage is known only on the node: "%{NAME}" stands for a variable there.
    """
    if stage is None:
        return {}
    there = f"%{{{STAGE_VARIABLE}}}"
    found = _staged_places(variables, stage)
    found.setdefault(_PLACES[0], there)
    if stage.mode == "files":
        here = str(request.directory.absolute())
        pairs = (redirect_pair(glob, here, there) for glob in stage.globs)
        found[REDIRECT_VARIABLE] = ":".join(pairs)
    elif stage.mode == "all" and variables.get(_KEEP_REMOVED):
        found[_KEEP_REMOVED] = there
    return {name: text.rstrip("/") for name, text in found.items()}


def _staged_places(variables: Mapping[str, str], stage: Stage | None) -> dict[str, str]:
    """Return the lists of directories with the one on the burst buffer added."""
    if stage is None:
        return {}
    there = f"%{{{STAGE_VARIABLE}}}"
    return {name: f"{there}:{variables[name]}" for name in _PLACES if variables.get(name)}


def redirect_pair(glob: str, here: str, there: str) -> str:
    """Return the FROM=TO text that redirects files of a glob from one directory to another.

    The redirect supports * and ?, and treats a name without them as one directory or file, whose
    whole name is in TO.  Each [...] is replaced by a ?.
    """
    name = re.sub(r"\[[^\]]*\]", "?", glob)
    if not set(name) & set("*?"):
        return f"{here}/{name}={there}/{name}"
    return f"{here}/{name}={os.path.join(there, os.path.dirname(name))}".rstrip("/")


def write_tasks(
    runtime: Runtime,
    request: RunRequest,
    stage: Stage | None,
    record: Path,
    added: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Write the environment of the tasks to the record; return the words before their program."""
    from stripewise.run.runtime import task_program, write_task_file

    variables = _records.preloaded(runtime, request, {})
    variables[_processes.RUN_ID_VARIABLE] = request.run_id
    variables.pop(_PRELOAD, None)
    expanded = staged_variables(variables, request, stage)
    plain = {name: text for name, text in variables.items() if name not in expanded}
    plain |= added or {}
    path = record.absolute() / TASK_FILE
    write_task_file(path, plain, expanded=expanded, preload=runtime.core)
    return (str(task_program(runtime)), str(path), "--")
