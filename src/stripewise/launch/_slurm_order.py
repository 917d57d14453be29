# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What an agent is told of a run: command, environment, time limit, burst buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stripewise.launch import _records
from stripewise.launch._base import RunRequest
from stripewise.launch._command import resolve_program
from stripewise.launch._job_plan import Allocation, JobPlan
from stripewise.launch._local import umask
from stripewise.launch._slurm_environment import order_environment, write_tasks
from stripewise.runtime import Runtime


def make_order(
    runtime: Runtime | None,
    plan: JobPlan,
    request: RunRequest,
    allocation: Allocation,
    record: Path,
) -> dict[str, Any]:
    """Return what the agent is told of a run; its record directory is made.

    Raises:
        ProgramError: The command does not exist or cannot be executed.
        UsageError: It cannot be made a job.
        StorageError: The record cannot be written.
    """
    try:
        record.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _records.storage_error(error, record) from error
    stage = plan.stage(request)
    words: tuple[str, ...] = ()
    if plan.task_words and runtime is not None:
        words = write_tasks(runtime, request, stage, record, plan.variables(request))
    command = plan.command(request, record, words)
    program = resolve_program(command, request.directory)
    whole = runtime if not plan.task_words else None
    changes = order_environment(whole, request, stage, allocation.name, guard=runtime)
    portable = _records.portable
    return {
        "run_id": request.run_id,
        "program": portable(program),
        "command": [portable(word) for word in command],
        "directory": portable(str(request.directory.absolute())),
        "record_directory": portable(str(record)),
        "timeout_seconds": allocation.limit_of_run(_limit(plan, request)),
        "umask": umask(),
        "libraries": [portable(str(path)) for path in _libraries(runtime, words)],
        "stage": None
        if stage is None
        else {
            "variable": stage.variable,
            "mode": stage.mode,
            "globs": list(stage.globs),
            "copies": [[portable(text) for text in copy] for copy in stage.copies],
            "directory": portable(stage.directory),
            "may_be_local": stage.may_be_local,
            "content": stage.content,
        },
        **changes,
    }


def _limit(plan: JobPlan, request: RunRequest) -> float | None:
    """Return the time limit of a run: the one asked for, and none beyond that of its job."""
    limits = (request.timeout_seconds, plan.run_seconds)
    return min((limit for limit in limits if limit is not None), default=None)


def _libraries(runtime: Runtime | None, task_words: tuple[str, ...]) -> list[str]:
    """Return the files of the runtime without which the run would fail, or not be seen."""
    return [*task_words[:1], str(runtime.core)] if runtime is not None else []
