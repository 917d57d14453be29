# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in jobs, by a fake Slurm: the contract, and many runs in one allocation."""

from __future__ import annotations

import stat
import time
from dataclasses import replace
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import UsageError
from stripewise.run.launch import Allocation, PlainJobs, RunRequest, SlurmLauncher, create_launcher
from stripewise.run.launch import _slurm_pool as pool
from stripewise.run.launch._slurm_spool import Spool
from stripewise.testing.launcher_suite import LauncherSuite
from support.fake_slurm import FakeSlurm
from support.slurm_jobs import until


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    pool.forget_all()


class TestSlurm(LauncherSuite):
    @pytest.fixture(autouse=True)
    def _fake(self, tmp_path):
        self.fake = FakeSlurm(tmp_path / "slurm")
        yield
        self.fake.end()

    def make_launcher(self, directory):
        pool.forget_all()
        return SlurmLauncher(None, PlainJobs(), self.fake.slurm(), directory / "jobs")

    def make_request(self, directory, kind):
        commands = {"ok": "exit 0", "fail": "exit 3"}
        command = ("/bin/sh", "-c", commands.get(kind, "sleep 60"))
        if kind == "missing":
            command = ("./no-such-program",)
        (directory / "work").mkdir(parents=True)
        return RunRequest(
            str(uuid4()),
            command,
            directory / "work",
            directory / "record",
            timeout_seconds=0.2 if kind == "limited" else None,
        )


@pytest.mark.extended
def test_many_runs_share_one_job_and_ask_the_controller_rarely(jobs):
    jobs.launch(bounds={"poll_seconds": 10.0, "status_per_minute": 6, "actions_per_minute": 30})
    begun = time.monotonic()
    for number in range(30):
        request = jobs.runs.shell(f"echo {number}")
        outcome = jobs.end(jobs.launcher.submit(request))
        assert outcome.status is RunStatus.OK
        assert (request.record_directory / "stdout").read_text() == f"{number}\n"
    assert len(jobs.fake.jobs) == 1
    looks = (time.monotonic() - begun) / 10  # at most one each 10 s, on a slow host too
    assert len(jobs.fake.calls) <= 3 + looks
    jobs.launcher.close()
    assert jobs.fake.state() in ("COMPLETED", "RUNNING")
    until(lambda: jobs.fake.state() == "COMPLETED")
    until(lambda: jobs.fake.processes() == [])


@pytest.mark.extended
def test_a_job_for_each_run(jobs):
    jobs.launch(per_run=True)
    for _ in range(3):
        assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 3
    until(lambda: {job["state"] for job in jobs.fake.jobs} == {"COMPLETED"})


def test_everything_is_private(jobs):
    request, handle = jobs.begin(":")
    jobs.end(handle)
    for top in (jobs.directory / "jobs", request.record_directory):
        for path in [top, *top.rglob("*")]:
            if path.name != "containers":
                assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


@pytest.mark.parametrize("unseen", range(4))
def test_a_run_whose_agent_begins_while_it_is_cancelled_has_ended(jobs, monkeypatch, unseen):
    """Looks at the agent come before it, then after it."""
    _, handle = jobs.begin("sleep 60")
    agent, looks = Spool.agent, iter([None] * unseen)
    monkeypatch.setattr(Spool, "agent", lambda self: next(looks, "no") and agent(self))
    jobs.launcher.cancel(handle)
    assert jobs.launcher.poll(handle)
    assert jobs.launcher.collect(handle).status is RunStatus.CANCELLED
    until(lambda: not [line for line in jobs.fake.processes() if "sleep 60" in str(line)])


def test_the_environment_is_the_jobs_own_with_changes(jobs, monkeypatch):
    jobs.fake.set(environment={"DW_JOB_STRIPED": "/bb"})
    script = 'echo "$DW_JOB_STRIPED $SLURM_SUBMIT_DIR $PWD $SLURM_JOB_NAME $SLURM_JOB_ID"'

    class Named(PlainJobs):
        def allocation(self, request):
            return replace(super().allocation(request), name="mine")

    jobs.launch(Named())
    request, handle = jobs.begin(script)
    jobs.end(handle)
    said = (request.record_directory / "stdout").read_text().split()
    work = str(request.directory)
    assert said == ["/bb", work, work, "mine", str(handle.data["job_id"])]


@pytest.mark.extended
def test_requests_of_other_needs_get_a_job_of_their_own(jobs):
    class ByTime(PlainJobs):
        def allocation(self, request):
            seconds = 60 * int(request.timeout_seconds)
            return Allocation(str(seconds), (f"--time={seconds}",), wall_seconds=None)

    jobs.launch(ByTime())
    for limit in (10, 11, 10, 11, 12, 12):
        jobs.end(jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=limit)))
    assert len(jobs.fake.jobs) == 3
    until(lambda: [job["state"] for job in jobs.fake.jobs].count("RUNNING") == 2)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("reason", "left"),
    [("BurstBufferResources", [1]), ("QOSMaxJobsPerUserLimit", []), ("Priority", [0, 1])],
)
def test_idle_jobs_make_way_for_a_job_that_waits_for_what_they_hold(jobs, reason, left):
    class ByTime(PlainJobs):
        def allocation(self, request):
            directives = ("#DW jobdw capacity=1GiB",) if request.timeout_seconds == 10 else ()
            return Allocation(str(request.timeout_seconds), directives=directives)

    jobs.launch(ByTime(), max_in_flight=2)
    for limit in (10, 11):
        jobs.end(jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=limit)))
    jobs.fake.set(hold=True, reason=reason)
    handle = jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=12))

    def running():
        assert not jobs.launcher.poll(handle)
        return [n for n, job in enumerate(jobs.fake.jobs) if job["state"] == "RUNNING"]

    until(lambda: running() == left and reason in jobs.launcher.describe(handle))
    time.sleep(0.3)
    assert running() == left
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK


def test_node_seconds_are_counted(jobs):
    jobs.end(jobs.launcher.submit(jobs.runs.shell("sleep 1.2")))
    until(lambda: jobs.launcher.node_seconds > 1.0)


def test_it_is_made_by_its_name(tmp_path):
    assert create_launcher("slurm", None, None, tmp_path).name == "slurm"
    with pytest.raises(UsageError, match="directory"):
        create_launcher("slurm", None)
