# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time limits of runs and of allocations of a fake Slurm."""

from __future__ import annotations

import time

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.run.launch import Allocation, PlainJobs
from stripewise.run.launch.agent._agent import _late_seconds
from stripewise.testing.launcher_suite import same_handle
from support.slurm_jobs import until


def test_the_time_limit_of_the_job_is_that_of_its_first_run(jobs):
    jobs.launch(PlainJobs(wall_seconds=60))
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "110"})
    _, handle = jobs.begin("sleep 60")
    jobs.fake.do("limit")
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.TIMEOUT


@pytest.mark.extended
def test_a_run_for_which_the_rest_is_too_short_goes_to_another_job(jobs):
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "400"})
    jobs.launch(PlainJobs(margin_seconds=2.0))
    first = jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=5.0))
    assert jobs.end(first).status is RunStatus.OK
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "1000"})
    second = jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=298.0))
    assert jobs.end(second).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2
    assert jobs.launcher.collect(same_handle(second)).status is RunStatus.OK


@pytest.mark.extended
def test_no_run_is_begun_that_slurms_signal_could_cut(jobs):
    """It may come 95 s before the end: of 100 s, a run may count on 5."""
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "200"})
    for _ in range(2):
        handle = jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=5.0))
        assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


def test_a_run_that_is_cut_did_not_exceed_its_own_limit(jobs):
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "110"})
    _, handle = jobs.begin("sleep 60", timeout_seconds=30.0)
    jobs.fake.do("limit")
    cut = jobs.end(handle)
    assert (cut.status, cut.cause) == (RunStatus.CANCELLED, FailureCause.SIGNAL)
    assert "reached its time limit" in cut.message


@pytest.mark.extended
def test_a_run_that_exceeds_its_limit_stays_so_when_the_signal_comes(jobs):
    """It comes while the run, which does not hear SIGTERM, is being ended."""
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "110"})
    script = "trap 'touch told' TERM; while :; do sleep 0.1; done"
    request, handle = jobs.begin(script, timeout_seconds=3.0)  # it is to listen before that
    until((request.directory / "told").exists)
    jobs.fake.do("limit")
    exceeded = jobs.end(handle)
    assert (exceeded.status, exceeded.cause) == (RunStatus.TIMEOUT, FailureCause.HANG)


def test_a_limit_that_no_allocation_has_is_cut_before_the_signal(jobs):
    class Short(PlainJobs):
        def allocation(self, request):
            return Allocation("short", wall_seconds=30.0, margin_seconds=29.0)

    jobs.launch(Short())
    outcome = jobs.end(jobs.launcher.submit(jobs.runs.shell("sleep 60", timeout_seconds=60.0)))
    assert outcome.cause is FailureCause.HANG
    assert 1.0 <= outcome.elapsed_seconds < 30.0


@pytest.mark.extended
def test_an_allocation_is_asked_for_in_which_a_run_fits(jobs):
    jobs.launch(PlainJobs(wall_seconds=60))
    for limit in (10.0, 30.0):
        jobs.end(jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=limit)))
    times = [w for job in jobs.fake.jobs for w in job["words"] if w.startswith("--time=")]
    assert times == ["--time=0-00:02:00", "--time=0-00:03:00"]


def test_what_a_job_took_before_its_agent_began_is_charged(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    for start, seconds in (("998", 2.0), ("1003", 0.0), ("100", 0.0), ("soon", 0.0), (None, 0.0)):
        monkeypatch.delenv("SLURM_JOB_START_TIME", raising=False)
        if start is not None:
            monkeypatch.setenv("SLURM_JOB_START_TIME", start)
        assert _late_seconds() == seconds, start
