# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which variables reach a job's command, and which its tasks alone."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from stripewise.core import Configuration, JobSettings
from stripewise.core.errors import UsageError
from stripewise.run import runtime as library
from stripewise.run.launch import RunRequest, Stage
from stripewise.run.launch._job_plan import (
    REDIRECT_VARIABLE,
    order_environment,
    staged_variables,
    write_tasks,
)

STAGE = "%{STRIPEWISE_STAGE}"


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    written = {}

    def write(path, variables, *, expanded, preload):
        written.update(path=path, variables=dict(variables), expanded=expanded, preload=preload)

    monkeypatch.setattr(library, "write_task_file", write, raising=False)
    task = lambda runtime: Path("/lib/stripewise-task")  # noqa: E731
    monkeypatch.setattr(library, "task_program", task, raising=False)
    core, plugins = Path("/lib/libstripewise.so"), Path("/lib/plugins")
    return SimpleNamespace(core=core, plugin_directory=plugins), written


def request(tmp_path, **given):
    (tmp_path / "record").mkdir()
    return RunRequest(str(uuid4()), ("x",), Path("/run"), tmp_path / "record", **given)


def test_tasks_get_the_library_and_the_command_does_not(tmp_path, runtime):
    job = Configuration(job=JobSettings(threads=3))
    asked = request(tmp_path, writable=(Path("/run"),), configuration=job)
    words = write_tasks(runtime[0], asked, None, asked.record_directory)
    assert words[0] == "/lib/stripewise-task"
    assert words[1:] == (str(runtime[1]["path"]), "--")
    variables = runtime[1]["variables"]
    assert "LD_PRELOAD" not in variables
    assert runtime[1]["preload"] == Path("/lib/libstripewise.so")
    assert variables["STRIPEWISE_RUN_ID"] == asked.run_id
    assert variables["OMP_NUM_THREADS"] == "3"
    assert runtime[1]["expanded"] == {}
    changes = order_environment(None, asked, None, "mine")
    assert changes["set"]["OMP_NUM_THREADS"] == "3"
    assert changes["set"]["SLURM_JOB_NAME"] == "mine"
    assert not [name for name in changes["set"] if name.startswith(("STRIPEWISE", "LD_"))]


def test_the_commands_of_a_script_are_guarded(tmp_path, runtime, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/a/other.so")
    asked = request(tmp_path, writable=(Path("/run"), Path("/allowed")))
    changes = order_environment(None, asked, Stage("DW_JOB_STRIPED"), "", guard=runtime[0])
    record = asked.record_directory
    assert changes["set"]["LD_PRELOAD"] == "/lib/libstripewise.so:/a/other.so"
    assert changes["set"]["STRIPEWISE_REFUSED"] == f"{record}/refused"
    assert "STRIPEWISE_DIRECTORY" not in changes["set"]
    assert changes["expand"] == {"STRIPEWISE_WRITABLE": f"{STAGE}:/run:/allowed:{record}"}


def test_a_whole_command_gets_what_differs_from_this_process(tmp_path, runtime, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_CAPTURE", "fold")
    changes = order_environment(runtime[0], request(tmp_path), None, "")
    assert changes["set"]["LD_PRELOAD"].startswith("/lib/libstripewise.so")
    assert "STRIPEWISE_CAPTURE" in changes["unset"]
    assert not set(changes["set"].items()) & set(os.environ.items())


def test_files_on_the_burst_buffer_count_as_the_runs_own(tmp_path, runtime):
    asked = request(tmp_path, writable=(Path("/run"), Path("/data")), keep_removed=True)
    stage = Stage("DW_JOB_STRIPED")
    write_tasks(runtime[0], asked, stage, asked.record_directory)
    assert runtime[1]["expanded"] == {
        "STRIPEWISE_INCLUDE": f"{STAGE}:/run",
        "STRIPEWISE_WRITABLE": f"{STAGE}:/run:/data",
        "STRIPEWISE_KEEP_REMOVED": STAGE,
    }
    assert not set(runtime[1]["expanded"]) & set(runtime[1]["variables"])


def test_some_files_are_redirected(tmp_path):
    stage = Stage("DW_JOB_STRIPED", "files", ("x?", "plt/p*"))
    found = staged_variables({}, request(tmp_path), stage)
    assert found[REDIRECT_VARIABLE] == f"/run/x?={STAGE}:/run/plt/p*={STAGE}/plt"


@pytest.mark.parametrize("glob", ["/x", "../x", "a=b", "a:b", "%{HOME}"])
def test_globs_stay_below_the_run(glob):
    with pytest.raises(UsageError):
        Stage("X", "files", (glob,))
