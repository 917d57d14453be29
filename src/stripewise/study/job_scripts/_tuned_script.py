# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes run.tuned.sh, the script with the result of a study, and the files its tasks read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path

from stripewise.core import Configuration, JobSettings, write_file
from stripewise.core.errors import StorageError, UsageError
from stripewise.run.jobs import (
    OnTier,
    check_staging,
    copies_note,
    copies_on_tier,
    is_rewritten,
    script_on_tier,
)
from stripewise.run.launch import ScriptJobs, redirect_pair
from stripewise.run.launch.agent import STAGE_VARIABLE
from stripewise.run.runtime import Runtime, configured_environment, task_program, write_task_file
from stripewise.study.workspace import InputSnapshot

TASK_FILE = "tuned.task"
LINKS_FILE = "tuned.links"
COPIES_FILE = "tuned.copies"
UNSAVED = "unsaved"


def write_tuned_script(
    jobs: ScriptJobs,
    configuration: Configuration,
    *,
    runtime: Runtime,
    script_path: Path,
    study: Path,
    snapshot: InputSnapshot,
    stage_in: str = "",
    stage_out: str = "",
    is_cray: bool = False,
    notes: tuple[str, ...] = (),
) -> Path:
    """Write the user's script with marked lines that apply a configuration; return its path.

    Args:
        jobs: Converts runs to jobs.
        configuration: Configuration to apply.
        runtime: Library that applies it.
        script_path: Script of the user; the new one is written beside it.
        study: Directory of the study, in which the files that tasks read are written.
        snapshot: Inputs of the study.
        stage_in: Directory of the inputs that the user named; empty for that in which a job
            begins.
        stage_out: Directory for files that a job changes; empty for the directory of its
            inputs.
        is_cray: Whether the program has Cray MPICH, which applies hints by itself.
        notes: Comments for the script.

    Raises:
        StripewiseError: The script cannot be written, or the tier does not support a file name.
    """
    target = script_path.with_name(f"{script_path.stem}.tuned{script_path.suffix}")
    job = configuration.job
    exports = jobs.hints(_task_configuration(jobs, configuration)) if is_cray else {}
    wrap: tuple[str, ...] = ()
    on = _on_tier(jobs, job, snapshot)
    if on.copies:
        on = replace(
            on,
            source=Path(stage_in) if stage_in else snapshot.source if jobs.moved else None,
            results=Path(stage_out) if stage_out else None,
            left_out=(escape(target.name), *_left_out(snapshot, study)),
            unsaved=study / UNSAVED,
        )
        check_staging(
            jobs.script,
            jobs.tier,
            jobs.ask,
            source=Path(stage_in) if stage_in else None,
            results=on.results,
        )
    around = jobs.write_links(job, study / LINKS_FILE)
    within: tuple[str, ...] = ()
    if on.copies:
        within = ("sh", str(study / COPIES_FILE))
        copies = copies_on_tier(on, jobs.script, links=bool(around))
        _write_private(study / COPIES_FILE, copies)
        notes = (*notes, copies_note(on))
    if not exports and not _task_configuration(jobs, configuration).is_empty:
        path = study / TASK_FILE
        variables = configured_environment(runtime, configuration, study)
        write_task_file(path, variables, expanded=_redirected(jobs, job, on), preload=runtime.core)
        wrap = (str(task_program(runtime)), str(path), "--")
    text = script_on_tier(
        jobs.script,
        on,
        step=jobs.step,
        wrap=wrap,
        around=around,
        job=jobs.of_launch(job),
        options=jobs.compute_options(job),  # those with which its trial was submitted
        moved=jobs.moved,
        within=within,
        exports=exports,
        notes=notes,
    )
    return _written(target, study, text, script_path)


def _task_configuration(jobs: ScriptJobs, configuration: Configuration) -> Configuration:
    """Return the configuration for the tasks, without what the script's own lines set."""
    lines = {"burst_buffer_nodes": None, "ranks": None, "ranks_per_node": None, "threads": None}
    if jobs.links:
        lines["burst_buffer_files"] = None
    return replace(configuration, job=replace(configuration.job, **lines))  # type: ignore[arg-type]


def _on_tier(jobs: ScriptJobs, job: JobSettings, snapshot: InputSnapshot) -> OnTier:
    """Return how the job uses the tier."""
    request = jobs.tier_request(job)
    if request is None:
        return OnTier(jobs.tier)
    if jobs.own is not None:
        own = replace(jobs.own, nodes=request.nodes)
        return OnTier(jobs.tier, own, jobs.pool, own=True)
    files = tuple(filter(None, (job.burst_buffer_files or "").split(",")))
    return OnTier(jobs.tier, request, jobs.pool, files=files, folders=_folders(jobs, files))


def _left_out(snapshot: InputSnapshot, study: Path) -> Iterator[str]:
    """Yield files that were beside the script at the start of the study but unused by its runs.

    The user did not name them with --input; files created since then are inputs.
    """
    taken = {name.partition("/")[0] for name in snapshot.entries}
    try:
        began = snapshot.directory.stat().st_mtime_ns
        with os.scandir(snapshot.source) as entries:
            for one in entries:
                there = one.stat(follow_symlinks=False).st_ctime_ns
                if one.name not in taken and there < began and one.path != str(study):
                    yield escape(one.name)
    except OSError:
        return


def _folders(jobs: ScriptJobs, files: Sequence[str]) -> tuple[str, ...]:
    """Return the directories of the large files of a hybrid job, to be created on the tier.

    Raises:
        UsageError: Their names are not known before the job.
    """
    folders = tuple(dict.fromkeys(filter(None, map(os.path.dirname, files))))
    wild = [name for name in folders if set(name) & set("*?[") or ".." in name.split("/")]
    if wild and not jobs.links:
        raise UsageError(
            f"the large files {', '.join(files)} lie in directories whose names are not known "
            "before the job, which has to make them on the burst buffer: let the program use "
            "them beside the script, or give --hybrid links"
        )
    return folders if not jobs.links else ()


def _redirected(jobs: ScriptJobs, job: JobSettings, on: OnTier) -> Mapping[str, str]:
    """Return the variable that redirects the large files of a hybrid job to the burst buffer."""
    if jobs.links or job.burst_buffer_files is None or on.request is None:
        return {}
    variable = jobs.tier.directory_variable(on.request) or STAGE_VARIABLE
    globs = job.burst_buffer_files.split(",")
    here, there = "%{SLURM_SUBMIT_DIR}", f"%{{{variable}}}"
    pairs = (redirect_pair(glob, here, there) for glob in globs)
    return {"STRIPEWISE_REDIRECT": ":".join(pairs)}


def _write_private(path: Path, data: bytes) -> None:
    write_file(path, data)
    os.chmod(path, 0o600)


def _written(target: Path, study: Path, text: bytes, like: Path) -> Path:
    """Write the script beside the user's, or into the study if a user's file is in the way."""
    if os.path.lexists(target):
        try:
            ours = is_rewritten(target.read_bytes())
        except OSError:
            ours = False
        if not ours or target.is_symlink():
            target = study / target.name
    try:
        write_file(target, text)
        os.chmod(target, os.stat(like).st_mode & 0o777)
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror}") from error
    return target
