# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs on the burst buffer of a fake Slurm."""

from __future__ import annotations

import os
from typing import ClassVar

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.run.launch import PlainJobs, Stage
from stripewise.run.launch.agent import _agent_files as files
from stripewise.run.launch.agent._agent import Agent
from stripewise.run.launch.agent._staging import MOST_CONTENT_BYTES
from support.slurm_jobs import until


@pytest.fixture
def staged(jobs, tmp_path):
    buffer = tmp_path / "bb"
    buffer.mkdir()
    jobs.fake.set(environment={"DW_JOB_STRIPED": str(buffer)})
    jobs.launch(PlainJobs(staged=Stage("DW_JOB_STRIPED")))
    return buffer


def test_a_run_works_on_the_burst_buffer(jobs, staged, tmp_path):
    large = tmp_path / "large"
    large.write_text("shared")
    request = jobs.runs.shell(
        "cat in; pwd; echo $SLURM_SUBMIT_DIR; echo new > out; echo more >> log; rm old; "
        "echo changed > in; mkdir -p sub; echo deep > sub/x"
    )
    for name in ("log", "old"):
        (request.directory / name).write_text("x\n")
    (request.directory / "in").symlink_to(large)
    outcome = jobs.end(jobs.launcher.submit(request))
    assert outcome.status is RunStatus.OK, outcome
    place = staged / f"stripewise-{request.run_id}"
    said = (request.record_directory / "stdout").read_text()
    assert said == f"shared{place}\n{place}\n"
    assert outcome.directory == place
    assert outcome.stage_in_seconds > 0
    assert outcome.stage_out_seconds > 0
    assert (request.directory / "out").read_text() == "new\n"
    assert (request.directory / "log").read_text() == "x\nmore\n"
    assert (request.directory / "sub" / "x").read_text() == "deep\n"
    assert (request.directory / "in").read_text() == "changed\n"
    assert large.read_text() == "shared"
    assert not (request.directory / "old").exists()
    assert list(staged.iterdir()) == []


OTHER = "stripewise-01234567-89ab-cdef-0123-456789abcdef"


def test_a_run_works_on_a_copy_of_what_a_persistent_burst_buffer_holds(jobs, staged, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("one")
    (two / "deep").mkdir(parents=True)
    (two / "deep" / "x").write_text("two")
    copies = ((str(one), "d/first"), (str(two), ""), (str(one), "d"))
    jobs.launch(PlainJobs(staged=Stage("DW_JOB_STRIPED", copies=copies, content=True)))
    for name in ("d", OTHER, "stripewise-mine"):
        (staged / name).mkdir()
        (staged / name / "x").write_text(name)
    (staged / "sub").mkdir()
    (staged / "sub" / "up").symlink_to("../d")
    (staged / "sub" / "whole").symlink_to(staged / "d")
    (staged / "out").symlink_to(two)
    request = jobs.runs.shell(
        "find . | sort; cat in d/x; for i in d/x d/first sub/up/new sub/whole/more; "
        "do echo new > $i; done; rm -r stripewise-mine; echo new > in"
    )
    (request.directory / "d").symlink_to(tmp_path)
    (request.directory / "in").write_text("mine ")
    outcome = jobs.end(jobs.launcher.submit(request))
    assert outcome.status is RunStatus.OK, outcome
    said = (request.record_directory / "stdout").read_text().splitlines()
    assert said == [
        ".", "./d", "./d/first", "./d/one", "./d/x", "./deep", "./deep/x", "./in", "./out",
        "./stripewise-mine", "./stripewise-mine/x", "./sub", "./sub/up", "./sub/whole", "mine d",
    ]  # fmt: skip
    assert outcome.stage_in_seconds > 0
    left = {str(p.relative_to(staged)): p.read_text() for p in staged.rglob("*") if p.is_file()}
    assert left == {f"{name}/x": name for name in ("d", OTHER, "stripewise-mine")}
    assert one.read_text() == "one"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("x", "new")) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("nodes", "works"), [("1", True), ("2", False)])
def test_storage_of_a_node_is_not_for_several(jobs, staged, nodes, works):
    stage = Stage("", directory=f"{staged.parent}/$A/", may_be_local=True)
    jobs.launch(PlainJobs(staged=stage))
    jobs.fake.set(environment={"A": "bb", "SLURM_JOB_NUM_NODES": nodes})
    request = jobs.runs.shell("pwd; echo $STRIPEWISE_STAGE")
    outcome = jobs.end(jobs.launcher.submit(request))
    if works:
        assert outcome.status is RunStatus.OK, outcome
        place = f"{staged}/stripewise-{request.run_id}\n"
        assert (request.record_directory / "stdout").read_text() == place + place
    else:
        assert outcome.cause is FailureCause.LAUNCH
        assert "which the 2 nodes of the job cannot share" in outcome.message
        assert "\n" not in outcome.message
    assert list(staged.iterdir()) == []


def test_a_place_whose_variables_are_not_set(jobs, staged):
    jobs.launch(PlainJobs(staged=Stage("", directory=f"{staged.parent}/$GONE/")))
    outcome = jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    assert outcome.cause is FailureCause.LAUNCH
    assert f"{staged.parent}/$GONE/ names no directory" in outcome.message


def test_a_persistent_burst_buffer_that_holds_too_much(jobs, staged):
    jobs.launch(PlainJobs(staged=Stage("DW_JOB_STRIPED", content=True)))
    with open(staged / "large", "wb") as stream:
        stream.truncate(MOST_CONTENT_BYTES + 1)
    outcome = jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    assert outcome.cause is FailureCause.LAUNCH
    assert "\n" not in outcome.message
    for text in ("holds 128.0 GiB", "at most", "--stage-in DIR"):
        assert text in outcome.message
    assert os.listdir(staged) == ["large"]


def test_a_run_with_some_files_on_the_burst_buffer(jobs, staged):
    jobs.launch(PlainJobs(staged=Stage("DW_JOB_STRIPED", "files", ("plt/p*", "x?"))))
    script = "cd $STRIPEWISE_STAGE; find $PWD -type f | sort; echo 2 > x1"
    request = jobs.runs.shell(f"pwd; {script}")
    (request.directory / "plt").mkdir()
    for name in ("plt/p1", "plt/q1", "x1", "y1"):
        (request.directory / name).write_text("1\n")
    outcome = jobs.end(jobs.launcher.submit(request))
    place = staged / f"stripewise-{request.run_id}"
    said = (request.record_directory / "stdout").read_text().split()
    assert said == [str(request.directory), f"{place}/plt/p1", f"{place}/x1"]
    assert outcome.directory == request.directory
    assert (request.directory / "x1").read_text() == "2\n"


def test_what_a_program_made_in_the_place_of_its_link_stays(jobs, staged):
    jobs.launch(PlainJobs(staged=Stage("DW_JOB_STRIPED", "links", ("x?",))))
    script = "rm $STRIPEWISE_STAGE/x1; echo new > x1; echo there > $STRIPEWISE_STAGE/x2"
    request = jobs.runs.shell(f"{script}; echo $STRIPEWISE_REDIRECT")
    (request.directory / "x1").write_text("old\n")
    outcome = jobs.end(jobs.launcher.submit(request))
    assert outcome.status is RunStatus.OK, outcome
    assert (request.directory / "x1").read_text() == "new\n"
    assert (request.directory / "x2").read_text() == "there\n"
    assert (request.record_directory / "stdout").read_text() == "\n"


def test_a_run_that_fails_leaves_no_stage(jobs, staged):
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell("exit 3"))).exit_code == 3
    request = jobs.runs.shell("sleep 60")
    handle = jobs.launcher.submit(request)
    until(lambda: list(staged.iterdir()))
    jobs.launcher.cancel(handle)
    assert list(staged.iterdir()) == []


def test_a_job_without_its_burst_buffer_is_no_fault_of_the_program(jobs, staged):
    jobs.fake.set()
    outcome = jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    assert outcome.cause is FailureCause.LAUNCH
    assert "DW_JOB_STRIPED" in outcome.message


def test_copies_take_time_before_slurms_signal_too(tmp_path, monkeypatch):
    class Copies:
        times: ClassVar = {"stage_in_seconds": 3.0, "stage_out_seconds": 1.0}

        def __init__(self, *_):
            pass

        def carry_out(self):
            return ""

    monkeypatch.setenv("SLURM_JOB_START_TIME", "100")
    monkeypatch.setenv("SLURM_JOB_END_TIME", "110")
    monkeypatch.setattr("stripewise.run.launch.agent._agent_run.OrderRun", Copies)
    order = {"timeout_seconds": 5.0, "stage": {"variable": "DW_JOB_STRIPED"}}
    order |= {"directory": str(tmp_path), "record_directory": str(tmp_path)}
    for number in (1, 2):
        files.replace(str(tmp_path / files.order_name(number)), order)
    files.replace(str(tmp_path / files.STATE), {"margin_seconds": 2.0})
    agent = Agent(str(tmp_path))
    assert agent._carry_out(1)
    assert not agent._carry_out(2), "5 s and 4 s of copies do not fit into 8 s"
    files.replace(str(tmp_path / files.order_name(2)), {**order, "stage": None})
    assert agent._carry_out(2)
