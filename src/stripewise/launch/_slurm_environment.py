# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a job's command and its tasks find in their environment.

A command that starts its tasks itself (a script with srun in it) gets the guard of the user's
files alone: what is recorded and set reaches its tasks, by a file that a small program in front of
each puts into its environment.  Other commands get all as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise.launch import _processes, _records
from stripewise.launch._agent_run import STAGE_VARIABLE
from stripewise.launch._base import RunRequest
from stripewise.launch._job_plan import Stage
from stripewise.runtime import (
    Runtime,
    guard_environment,
    launch_environment,
    preload_environment,
)

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
        runtime: Preloaded into the whole command; None: its tasks get what they need.
        request: The run.
        stage: What lies on the burst buffer.
        job_name: That the user's script has.
        guard: Preloaded into a command whose tasks get what they need: it guards the user's files
            from all else that the command does; None: nothing does.
    """
    before = dict(os.environ)
    if runtime is not None:
        after = _preloaded(runtime, request, before)
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


def _preloaded(runtime: Runtime, request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    containers = (request.record_directory / _records.CONTAINERS).absolute()
    containers.mkdir(mode=0o700, parents=True, exist_ok=True)
    return preload_environment(
        runtime,
        directory=containers,
        run_id=request.run_id,
        configuration=request.configuration,
        sync=request.sync,
        writable=request.writable,
        refused=_refused(request),
        keep_removed=request.directory if request.keep_removed else None,
        include=(request.directory,),
        capture=request.capture,
        base=base,
    )


def _refused(request: RunRequest) -> Path:
    return (request.record_directory / _records.REFUSED).absolute()


def _guarded(runtime: Runtime, request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    """Add the guard; what makes links of a run keeps a list of them in its record."""
    writable = (*request.writable, request.record_directory.absolute())
    return guard_environment(runtime, writable=writable, refused=_refused(request), base=base)


def _for_launchers(request: RunRequest, base: Mapping[str, str]) -> dict[str, str]:
    """What mpiexec and srun must find themselves: settings that they read, nothing of ours."""
    from stripewise import formats
    from stripewise.runtime import check_carried, resource_environment

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
    """Return the variables that name the run's files, with their places on the burst buffer.

    The stage has a name only on the node: "%{NAME}" stands for a variable there.
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
    """Return lists of directories with that on the burst buffer."""
    if stage is None:
        return {}
    there = f"%{{{STAGE_VARIABLE}}}"
    return {name: f"{there}:{variables[name]}" for name in _PLACES if variables.get(name)}


def redirect_pair(glob: str, here: str, there: str) -> str:
    """Return FROM=TO of the redirect for the files of a glob, below two directories.

    The redirect knows * and ?, and takes a name without them for one directory or file, which
    has its whole name in TO.  Instead of [...] it gets a ?.
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
    """Write what each task gets into the run's record; return the words before its program."""
    from stripewise.runtime import task_program, write_task_file

    variables = _preloaded(runtime, request, {})
    variables[_processes.RUN_ID_VARIABLE] = request.run_id
    variables.pop(_PRELOAD, None)
    expanded = staged_variables(variables, request, stage)
    plain = {name: text for name, text in variables.items() if name not in expanded}
    plain |= added or {}
    path = record.absolute() / TASK_FILE
    write_task_file(path, plain, expanded=expanded, preload=runtime.core)
    return (str(task_program(runtime)), str(path), "--")
