# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All that may happen to a job of a fake Slurm, and what comes of its run."""

from __future__ import annotations

import os
import socket

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.core.errors import StudyError
from stripewise.run.launch.agent._agent_run import end_stale_steps, parse_orphans
from support.slurm_jobs import until


def test_a_job_pends_long(jobs):
    jobs.fake.set(hold=True)
    request = jobs.runs.shell("touch ran")
    handle = jobs.launcher.submit(request)
    said = jobs.waits(handle, "pending")
    assert said == f"job {handle.data['job_id']} is pending: Priority"
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert (request.directory / "ran").exists()


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("reason", "means"),
    [
        ("PartitionConfig", "no such nodes"),
        ("ReqNodeNotAvail, UnavailableNodes:n[1-2]", "sinfo -R"),
        ("AssocMaxJobsLimit", "when others have ended"),
        ("JobHeldUser", "scontrol release"),
    ],
)
def test_what_a_long_wait_is_for_is_said(jobs, reason, means):
    jobs.fake.set(hold=True, reason=reason)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    said = jobs.waits(handle, "pending")
    assert said.startswith(f"job {handle.data['job_id']} is pending: {reason} (")
    assert means in said


def test_a_pending_job_is_cancelled_without_a_run(jobs):
    jobs.fake.set(hold=True)
    request = jobs.runs.shell("touch ran")
    handle = jobs.launcher.submit(request)
    jobs.launcher.cancel(handle)
    assert jobs.launcher.collect(handle).status is RunStatus.CANCELLED
    until(lambda: jobs.fake.state() == "CANCELLED")
    assert not (request.directory / "ran").exists()


def test_a_job_that_can_never_start_is_an_error(jobs):
    jobs.fake.set(hold=True, reason="AssocGrpCPUMinutesLimit")
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"AssocGrpCPUMinutesLimit.*used up"):
        jobs.launcher.collect(handle)
    assert jobs.launcher.collect(handle).status is RunStatus.CANCELLED
    until(lambda: jobs.fake.state() == "CANCELLED")


def test_a_burst_buffer_that_fails_is_an_error(jobs):
    reason = "burst_buffer/datawarp: setup: Traceback\n  File x\nOSError: no room\n"
    jobs.fake.set(hold=True, reason=reason)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(
        StudyError, match=r"setup: Traceback; File x; OSError: no room.*show burst"
    ):
        jobs.launcher.collect(handle)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("order", "state"), [("cancel", "CANCELLED"), ("preempt", "PREEMPTED"), ("crash", "NODE_FAIL")]
)
@pytest.mark.parametrize("forget", [False, True, "all"])
def test_a_job_that_is_ended_says_nothing_of_its_run(jobs, order, state, forget):
    jobs.fake.set(forget=forget)
    _, handle = jobs.begin("sleep 60")
    jobs.fake.do(order)
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert outcome.cause is FailureCause.SIGNAL
    assert jobs.fake.state() == state
    assert jobs.runs.left() == []
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK


@pytest.mark.extended
def test_accounting_tells_of_forgotten_jobs(jobs):
    jobs.fake.set(forget="all", accounting=True)
    _, handle = jobs.begin("sleep 60")
    jobs.fake.do("crash")
    assert "NODE_FAIL" in jobs.end(handle).message


@pytest.mark.extended
@pytest.mark.parametrize(
    "said",
    [
        "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 101",
        "srun: error: Unable to create step for job 101: Invalid job id specified",
        "srun: error: Unable to create step for job 101: Job/step already completing or completed",
    ],
)
def test_an_allocation_that_slurm_has_forgotten_is_replaced(jobs, said):
    """As after a controller was killed before it had stored the job: no task starts there."""
    handle = jobs.launcher.submit(jobs.runs.shell(f"echo '{said}' >&2; exit 1"))
    outcome = jobs.end(handle)
    assert outcome.cause is FailureCause.SIGNAL
    assert "does not know its job 101" in outcome.message
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


@pytest.mark.extended
def test_a_program_that_speaks_of_jobs_fails_by_itself(jobs):
    script = "echo 'error: Expired or invalid job 101' >&2; exit 1"
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(script))).cause is FailureCause.PROGRAM
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


@pytest.mark.extended
@pytest.mark.parametrize("order", ["requeue", "crash-requeue"])
def test_a_requeued_job_does_not_repeat_what_it_was_at(jobs, order):
    request, handle = jobs.begin("echo once >> runs; sleep 60")
    jobs.fake.do(order)
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert outcome.cause is FailureCause.SIGNAL
    jobs.comes_back()  # a run before that gets another job
    following = jobs.runs.shell(":")
    assert jobs.end(jobs.launcher.submit(following)).status is RunStatus.OK
    assert (request.directory / "runs").read_text() == "once\n"
    assert len(jobs.fake.jobs) == 1
    assert jobs.runs.left() == []


def test_a_requeued_job_does_not_outlive_the_study(jobs):
    _, handle = jobs.begin("sleep 60")
    jobs.fake.set(hold=True)
    jobs.fake.do("requeue")
    assert jobs.end(handle).status is RunStatus.CANCELLED
    until(lambda: jobs.fake.state() == "PENDING")
    jobs.launcher.close()
    until(lambda: jobs.fake.state() == "CANCELLED")


@pytest.mark.extended
def test_a_job_that_dies_idle_is_replaced(jobs):
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    jobs.fake.do("crash")
    until(lambda: jobs.fake.state() == "NODE_FAIL")
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


@pytest.mark.extended
def test_the_controller_is_away_while_a_run_goes_on(jobs):
    _, handle = jobs.begin("sleep 1; touch done")
    jobs.fake.set(away=True)
    assert jobs.end(handle).status is RunStatus.OK
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    jobs.fake.set()


STEP = "StepId={} UserId=9 State=RUNNING Nodes=2 Name=a=b Dist=Block SrunHost:Pid={}:{}"


def test_steps_whose_srun_has_ended_here() -> None:
    alive, dead = os.getpid(), 2**22 + 1  # above the largest process of Linux
    listed = [
        STEP.format("5.batch", "(null)", 0),
        STEP.format("5.0", "n1.centre.org", dead),
        STEP.format("5.1", "n1", alive),
        STEP.format("5.2", "n2", dead),
        STEP.format("5.TDB", "n1", dead),
        STEP.format("5.3", "n1", dead),
        "",
    ]
    assert parse_orphans("\n".join(listed), "n1") == ["5.0", "5.3"]
    assert parse_orphans("\n".join(listed), "n1.centre.org") == ["5.0", "5.3"]
    assert parse_orphans("slurm_get_job_steps error: Invalid job id specified\n", "n1") == []


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Commands that answer from files, and note what they are asked for in the file `said`."""
    for name, act in (
        (
            "scontrol",
            f"case $1 in listpids) cat {tmp_path}/local ;; *) cat {tmp_path}/steps ;; esac",
        ),
        ("scancel", f'[ -e {tmp_path}/keeps ] || sed -i "/StepId=$1 /d" {tmp_path}/steps'),
    ):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >>{tmp_path}/said\n{act}\n')
        program.chmod(0o755)
    ended = STEP.format("5.0", socket.gethostname(), 2**22 + 1)
    alive = STEP.format("5.3", socket.gethostname(), os.getpid())
    (tmp_path / "steps").write_text(f"{ended}\n{alive}\n")
    (tmp_path / "local").write_text("PID JOBID STEPID\n9 5 batch\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    monkeypatch.delenv("SLURMD_NODENAME", raising=False)
    return tmp_path


def test_steps_of_earlier_runs_are_ended(slurm) -> None:
    assert end_stale_steps() == {"5.0"}
    said = (slurm / "said").read_text().splitlines()
    assert said == ["scontrol listpids 5", "scontrol --oneliner show step 5", "scancel 5.0"]


def test_nothing_is_asked_while_a_step_has_tasks_here(slurm) -> None:
    (slurm / "local").write_text("PID JOBID STEPID\n9 5 batch\n10 5 3\n")
    assert end_stale_steps() == set()
    assert (slurm / "said").read_text() == "scontrol listpids 5\n"


@pytest.mark.extended
def test_an_allocation_whose_processors_slurm_keeps_is_replaced(jobs):
    jobs.fake.set(steps=STEP.format("101.0", socket.gethostname(), 2**22 + 1))
    handle = jobs.launcher.submit(jobs.runs.shell("sleep 60"))
    outcome = jobs.end(handle)
    assert outcome.cause is FailureCause.SIGNAL
    assert "keeps processors for the step 101.0" in outcome.message
    jobs.fake.set()
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2
