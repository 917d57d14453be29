# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The disk of a study gets full under an agent of a fake Slurm."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import StorageError
from stripewise.run.launch.agent import _agent_files as files
from support.slurm_jobs import until
from support.small_disk import fill


@pytest.fixture
def disk(jobs, small_disk):
    """It has what tuner and agent tell each other, and the records of runs."""
    jobs.directory = small_disk
    jobs.launch()
    return small_disk


def on(disk, request):
    """Return the request with its record on the disk."""
    return replace(request, record_directory=disk / request.run_id / "record")


def parsed(disk):
    """Return every document on the disk; none is half-written."""
    return {path: json.loads(path.read_text()) for path in disk.rglob("*.json")}


def one_line(error):
    """Return what the user reads."""
    text = str(error.value)
    assert "\n" not in text
    return text


def test_a_run_that_fills_the_disk_keeps_its_result(jobs, disk):
    request = on(disk, jobs.runs.shell(f"head -c 1M /dev/zero > {disk}/big; exit 4"))
    outcome = jobs.end(jobs.launcher.submit(request))
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, 4)
    assert parsed(disk)
    with pytest.raises(StorageError) as error:
        jobs.launcher.submit(on(disk, jobs.runs.shell(":")))
    assert "free some space" in one_line(error)
    assert "--resume" in one_line(error)
    (disk / "big").unlink()
    following = on(disk, jobs.runs.shell(":"))
    assert jobs.end(jobs.launcher.submit(following)).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1, "the agent lives on"


@pytest.mark.extended
def test_the_disk_is_full_before_a_run_begins(jobs, disk):
    jobs.fake.set(hold=True)
    request = on(disk, jobs.runs.shell("touch ran"))
    handle = jobs.launcher.submit(request)
    big = fill(disk)
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StorageError) as error:
        jobs.launcher.collect(handle)
    assert "free some space" in one_line(error)
    assert not (request.record_directory / "result.json").exists()
    assert not (request.directory / "ran").exists()
    big.unlink()
    jobs.again()
    following = on(disk, jobs.runs.shell(":"))
    assert jobs.end(jobs.launcher.submit(following)).status is RunStatus.OK


@pytest.mark.extended
def test_the_disk_is_full_when_the_agent_takes_an_order(jobs, disk):
    assert jobs.end(jobs.launcher.submit(on(disk, jobs.runs.shell(":")))).status is RunStatus.OK
    agent = jobs.fake.jobs[0]["pid"]
    os.kill(agent, signal.SIGSTOP)
    request = on(disk, jobs.runs.shell("touch ran"))
    handle = jobs.launcher.submit(request)
    big = fill(disk)
    os.kill(agent, signal.SIGCONT)
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(
        StorageError, match=r"could not be stored .* free some space .* --resume"
    ) as error:
        jobs.launcher.collect(handle)
    one_line(error)
    assert not (request.record_directory / "result.json").exists()
    assert not (request.directory / "ran").exists()
    big.unlink()
    following = on(disk, jobs.runs.shell(":"))
    assert jobs.end(jobs.launcher.submit(following)).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1, "the agent lives on"


def test_the_disk_is_full_when_a_job_was_submitted(jobs, disk, monkeypatch):
    """Its number cannot be noted; it is ended all the same."""
    jobs.fake.set(hold=True)
    submit = jobs.launcher.slurm.submit

    def fills(*words):
        number = submit(*words)
        fill(disk)
        return number

    monkeypatch.setattr(jobs.launcher.slurm, "submit", fills)
    with pytest.raises(StorageError) as error:
        jobs.launcher.submit(on(disk, jobs.runs.shell(":")))
    assert re.search(r"No space left .* free some space", one_line(error))
    jobs.launcher.close()
    until(lambda: jobs.fake.state() == "CANCELLED")


def test_what_is_written_in_part_is_an_error(tmp_path, monkeypatch):
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: whole(file, data[:100], at))
    with pytest.raises(OSError, match="No space left"):
        files.overwrite(str(tmp_path / "ran.json"), {"run_id": "x" * 200})
