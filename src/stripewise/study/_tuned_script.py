# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study of a job script leaves to submit: run.tuned.sh, and what its tasks get."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from stripewise.errors import StorageError, UsageError
from stripewise.formats import get
from stripewise.jobs import (
    OnTier,
    copies_on_tier,
    is_rewritten,
    kept_notes,
    place_of_script,
    results_place,
    script_on_tier,
)
from stripewise.launch import STAGE_VARIABLE, ScriptJobs, is_below, redirect_pair
from stripewise.model import Configuration, JobSettings
from stripewise.outputs import write_file
from stripewise.runtime import (
    Runtime,
    configured_environment,
    task_program,
    write_task_file,
)
from stripewise.workspace import InputSnapshot

TASK_FILE = "tuned.task"
LINKS_FILE = "tuned.links"
COPIES_FILE = "tuned.copies"


@dataclass(frozen=True)
class TunedScript:
    """A job script with the settings that a study found.

    Attributes:
        path: Where it was written.
        hints: The settings of files as MPICH_MPIIO_HINTS has them; "" if there are none.
        notes: What a user should know of it.
    """

    path: Path
    hints: str = ""
    notes: tuple[str, ...] = ()


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
) -> TunedScript:
    """Write the user's script with marked lines that apply a configuration.

    Args:
        jobs: How runs became jobs.
        configuration: To be applied.
        runtime: Library that applies it.
        script_path: The user's script; the new one is written beside it.
        study: The study's directory, which takes what the tasks read.
        snapshot: Inputs of the study.
        stage_in: Directory that the user named; "": that of the job.
        stage_out: For the results; "": one of their own beside the script, or the job's where only
            large files are on the burst buffer.
        is_cray: The program has Cray MPICH, which applies hints by itself.
        notes: Comments for people.

    Raises:
        StripewiseError: It cannot be written, or the tier cannot hold a name.
    """
    target = script_path.with_name(f"{script_path.stem}.tuned{script_path.suffix}")
    job = configuration.job
    hints = get("mpich-hints").write(configuration).text.strip()
    exports = jobs.hints(_of_tasks(jobs, configuration)) if is_cray else {}
    wrap: tuple[str, ...] = ()
    hybrid = job.burst_buffer_files is not None
    own_place = results_place(script_path)
    results = Path(stage_out) if stage_out else snapshot.source if hybrid else own_place
    left_out = {script_path.name, target.name, own_place.name}
    on = _on_tier(jobs, job, snapshot, stage_in, results, left_out)
    if on.request is not None and on.request.persistent and not on.own:
        on = replace(on, request=replace(on.request, place=place_of_script(script_path)))
    if hybrid and not jobs.links:
        on = replace(on, folders=_folders(job, snapshot, on))
    around = jobs.write_links(job, study / LINKS_FILE, on.place)
    within: tuple[str, ...] = ()
    if on.copies:
        within = ("sh", str(study / COPIES_FILE))
        _write_private(study / COPIES_FILE, copies_on_tier(on, links=bool(around)))
    if not exports and not _of_tasks(jobs, configuration).is_empty:
        path = study / TASK_FILE
        variables = configured_environment(runtime, configuration, study)
        write_task_file(path, variables, expanded=_redirected(jobs, job, on), preload=runtime.core)
        wrap = (str(task_program(runtime)), str(path), "--")
    if on.request is not None and not on.own:
        notes = (*notes, f"results are copied to {on.request.stage_out} when the job ends")
    notes = (*notes, *kept_notes(on))
    text = script_on_tier(
        jobs.script,
        on,
        step=jobs.step,
        wrap=wrap,
        around=around,
        job=jobs.of_launch(job),
        options=jobs.compute_options(job),  # what its trial was submitted with
        moved=jobs.moved,
        within=within,
        exports=exports,
        notes=notes,
    )
    return TunedScript(_written(target, study, text, script_path), hints)


def _of_tasks(jobs: ScriptJobs, configuration: Configuration) -> Configuration:
    """Return what is to be set in the tasks: not what the script's own lines say."""
    lines = {"burst_buffer_nodes": None, "ranks": None, "ranks_per_node": None, "threads": None}
    if jobs.links:
        lines["burst_buffer_files"] = None
    return replace(configuration, job=replace(configuration.job, **lines))  # type: ignore[arg-type]


def _on_tier(
    jobs: ScriptJobs,
    job: JobSettings,
    snapshot: InputSnapshot,
    stage_in: str,
    results: Path,
    left_out: set[str],
) -> OnTier:
    """Return how the job uses the tier; the scripts themselves are not copied to it."""
    asked = jobs.asked(job)
    if asked is None:
        return OnTier(jobs.tier)
    if jobs.own is not None:
        own = replace(jobs.own, nodes=asked.nodes)
        return OnTier(jobs.tier, own, jobs.pool, own=True)
    hybrid = job.burst_buffer_files is not None
    source = snapshot.source
    request = replace(
        asked,
        stage_in=Path(stage_in) if stage_in else None,
        stage_out=results,
    )
    inputs = {  # what a link leads to is copied, as it was for the runs
        name: (source / name).is_dir() if entry.kind == "link" else entry.kind == "directory"
        for name, entry in snapshot.entries.items()
        if "/" not in name and name not in left_out
    }
    if hybrid:
        inputs = {n: d for n, d in inputs.items() if not d and _matches(n, job)}
    return OnTier(jobs.tier, request, jobs.pool, inputs=inputs, source=source, is_hybrid=hybrid)


def _matches(name: str, job: JobSettings) -> bool:
    return any(fnmatchcase(name, glob) for glob in (job.burst_buffer_files or "").split(","))


def _folders(job: JobSettings, snapshot: InputSnapshot, on: OnTier) -> tuple[str, ...]:
    """Return the directories of the large files of a hybrid job, which it makes on the tier.

    Raises:
        UsageError: They cannot be there when the program begins.
    """
    below = [glob for glob in (job.burst_buffer_files or "").split(",") if "/" in glob]
    folders = tuple(dict.fromkeys(os.path.dirname(glob) for glob in below))
    is_input = any(is_below(name, below) for name in snapshot.entries)
    if below and (is_input or on.copies or any(set(name) & set("*?[") for name in folders)):
        raise UsageError(
            f"the large files {', '.join(below)} lie in directories, which a burst buffer has not "
            "before the job: let the program use them beside the script, or give --hybrid links"
        )
    return folders


def _redirected(jobs: ScriptJobs, job: JobSettings, on: OnTier) -> Mapping[str, str]:
    """Return the variable that leads the large files of a hybrid job to the burst buffer."""
    if jobs.links or job.burst_buffer_files is None or on.request is None:
        return {}
    variable = jobs.tier.directory_variable(on.request) or STAGE_VARIABLE
    globs = job.burst_buffer_files.split(",")
    here, there = "%{SLURM_SUBMIT_DIR}", "/".join(filter(None, (f"%{{{variable}}}", on.place)))
    pairs = (redirect_pair(glob, here, there) for glob in globs)
    return {"STRIPEWISE_REDIRECT": ":".join(pairs)}


def _write_private(path: Path, data: bytes) -> None:
    write_file(path, data)
    os.chmod(path, 0o600)


def _written(target: Path, study: Path, text: bytes, like: Path) -> Path:
    """Write beside the script, or into the study where something of the user's is in the way."""
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
