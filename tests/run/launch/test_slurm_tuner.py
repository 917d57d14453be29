# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tuner of runs in jobs of a fake Slurm dies, ends, or cancels."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.run.launch import _slurm_pool as pool
from stripewise.testing.launcher_suite import same_handle
from support.slurm_jobs import until


@pytest.mark.extended
def test_a_run_outlives_the_tuner_and_is_found_again(jobs):
    request, handle = jobs.begin("sleep 1; touch done")
    restarted = jobs.again()
    found = restarted.find_again(request.run_id, request.record_directory)
    assert dict(found.data) == dict(handle.data)
    assert jobs.end(same_handle(handle)).status is RunStatus.OK
    assert (request.directory / "done").exists()
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


def test_a_tuner_that_dies_before_the_answer_of_sbatch(jobs):
    jobs.fake.set(silent=True, hold=True)
    request = jobs.runs.shell("touch done")
    jobs.launcher.submit(request)
    restarted = jobs.again()
    handle = restarted.find_again(request.run_id, request.record_directory)
    jobs.fake.set(hold=True)
    assert not restarted.wait(handle, 1.0)
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


def test_a_tuner_that_dies_before_sbatch(jobs):
    jobs.fake.set(away=True)
    request = jobs.runs.shell("touch done")
    jobs.launcher.submit(request)
    restarted = jobs.again()
    jobs.fake.set()
    handle = restarted.find_again(request.run_id, request.record_directory)
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


def test_a_run_that_was_never_ordered_is_not_found(jobs):
    request = jobs.runs.shell(":")
    assert jobs.launcher.find_again(request.run_id, request.record_directory) is None


@pytest.mark.extended
def test_the_allocation_of_a_dead_tuner_ends(jobs):
    jobs.launch(idle_seconds=1.5)
    _, handle = jobs.begin("sleep 2")
    pool.forget_all()
    until(lambda: jobs.fake.state() == "COMPLETED")
    assert jobs.end(handle).status is RunStatus.OK


@pytest.mark.extended
def test_an_allocation_that_nobody_needs_ends(jobs):
    jobs.launch(hold_seconds=1.0)
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    until(lambda: jobs.fake.state() == "COMPLETED")
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


@pytest.mark.extended
def test_a_tuner_that_ends_gives_its_jobs_back(jobs, tmp_path):
    """Also one that does not say so, and one whose job pends."""
    code = f"""
import json, sys
sys.path[:0] = {[*sys.path]!r}
from pathlib import Path
from stripewise.run.launch import PlainJobs, RunRequest, SlurmLauncher
from stripewise.run.slurm import Slurm
launcher = SlurmLauncher(None, PlainJobs(), Slurm(), Path({str(tmp_path / "jobs")!r}))
place = Path({str(tmp_path)!r}, sys.argv[1])
place.mkdir()
handle = launcher.submit(RunRequest(sys.argv[1], ("/bin/true",), place, place / "record"))
if sys.argv[2] == "wait":
    assert launcher.wait(handle, 60)
"""
    for how, states in (("wait", ("COMPLETED",)), ("leave", ("CANCELLED", "COMPLETED"))):
        jobs.fake.set(hold=how == "leave")
        words = [sys.executable, "-c", code, str(uuid4()), how]
        subprocess.run(words, check=True, env=jobs.fake.environment)
        until(lambda states=states: jobs.fake.state() in states)
    until(lambda: jobs.fake.processes() == [])


@pytest.mark.extended
def test_cancel_of_a_run_whose_agent_is_stopped(jobs, monkeypatch):
    monkeypatch.setattr("stripewise.run.launch._slurm.ANSWER_SECONDS", 1.5)
    _, handle = jobs.begin("sleep 60")
    agent = json.loads(next((jobs.directory / "jobs").glob("*/agent.json")).read_text())
    assert agent["order"] == 1
    pid = jobs.fake.jobs[0]["pid"]
    os.kill(pid, signal.SIGSTOP)
    cancelled = time.monotonic()
    try:
        jobs.launcher.cancel(handle)
    finally:
        with_pid = [p for p in jobs.fake.processes() if p == pid]
        for number in with_pid:
            os.kill(number, signal.SIGCONT)
    assert time.monotonic() - cancelled < 60
    assert jobs.launcher.collect(handle).status is RunStatus.CANCELLED
    assert jobs.fake.state() == "CANCELLED"
    assert jobs.runs.left() == []
