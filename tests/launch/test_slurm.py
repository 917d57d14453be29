# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in jobs, by a fake Slurm: the contract, and all that may happen to a job."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.errors import StudyError, UsageError
from stripewise.launch import (
    Allocation,
    PlainJobs,
    RunRequest,
    SlurmLauncher,
    Stage,
    create_launcher,
)
from stripewise.launch import _slurm_pool as pool
from stripewise.model import FailureCause, RunStatus
from stripewise.slurm import SubmissionError
from stripewise.testing.launcher_suite import LauncherSuite, same_handle
from support.fake_slurm import FakeSlurm


def forget(launcher):
    """Let the tuner be killed, as far as the launcher knows."""
    pool.forget_all()


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


class Jobs:
    """A launcher over a fake Slurm, and its runs."""

    def __init__(self, directory: Path, runs) -> None:
        self.fake = FakeSlurm(directory / "slurm")
        self.directory, self.runs = directory, runs
        self.launcher = self.launch()

    def launch(self, plan=None, bounds=None, **options):
        slurm = self.fake.slurm(**(bounds or {}))
        self.launcher = SlurmLauncher(
            None, plan or PlainJobs(), slurm, self.directory / "jobs", **options
        )
        self.runs.launcher = self.launcher
        return self.launcher

    def again(self, **options):
        pool.forget_all()
        return self.launch(**options)

    def begin(self, script, **options):
        """Submit a run and wait until its command runs."""
        request = self.runs.shell(f"touch began; {script}", **options)
        handle = self.launcher.submit(request)
        until(lambda: self.launcher.poll(handle) or (request.directory / "began").exists())
        return request, handle

    def end(self, handle, seconds=30):
        assert self.launcher.wait(handle, seconds)
        return self.launcher.collect(handle)


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


@pytest.fixture
def jobs(tmp_path, runs, monkeypatch):
    monkeypatch.setattr("stripewise.launch._slurm.SETTLE_SECONDS", 0.2)
    monkeypatch.setattr("stripewise.launch._slurm.STALE_SECONDS", 2.0)
    made = Jobs(tmp_path, runs)
    yield made
    pool.forget_all()
    made.fake.end()
    assert made.fake.processes() == []


# ---- one allocation ----------------------------------------------------------------------------


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
    assert jobs.fake.processes() == []


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


@pytest.mark.parametrize(
    ("reason", "left"),
    [("BurstBufferResources", [1]), ("QOSMaxJobsPerUserLimit", []), ("Priority", [0, 1])],
)
def test_idle_jobs_make_way_for_a_job_that_waits_for_what_they_hold(jobs, reason, left):
    class ByTime(PlainJobs):
        def allocation(self, request):
            directives = ("#DW jobdw capacity=1GiB",) if request.timeout_seconds == 10 else ()
            return Allocation(str(request.timeout_seconds), directives=directives)

    jobs.launch(ByTime(), places=2)
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


# ---- submission --------------------------------------------------------------------------------


def test_words_of_sbatch_are_data(jobs, tmp_path):
    odd = ("--comment=$(touch owned); 'x' \"y\"", "--nodes=2")
    jobs.launch(PlainJobs(arguments=odd, directives=("#DW jobdw capacity=1GiB",)))
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    (job,) = jobs.fake.jobs
    assert all(word in job["words"] for word in odd)
    script = Path(job["script"])
    assert script.read_text().splitlines()[1] == "#DW jobdw capacity=1GiB"
    assert not list(tmp_path.rglob("owned"))


def test_options_of_a_second_component_stay_behind_ours(jobs):
    jobs.launch(PlainJobs(arguments=("--nodes=1", ":", "--nodes=2", "--output=mine")))
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    words = jobs.fake.jobs[0]["words"]
    middle = words.index(":")
    assert any(word.startswith("--job-name=") for word in words[:middle])
    assert words[middle + 1 : -1] == ["--nodes=2", "--output=mine"]


@pytest.mark.parametrize("words", [("--array=1-3",), ("-a", "1,2"), ("--wait",), ("--wrap=x",)])
def test_options_that_no_run_survives_are_refused(words):
    with pytest.raises(UsageError):
        Allocation(arguments=words)


@pytest.mark.parametrize("words", [("--array=7",), ("-a", "7"), ("-a7",)])
def test_one_element_of_an_array_is_a_job(words):
    Allocation(arguments=words)


def test_directives_are_comments():
    with pytest.raises(UsageError):
        Allocation(directives=("touch x",))
    with pytest.raises(UsageError):
        Allocation(directives=("#DW x\ntouch x",))


def test_a_refused_job_says_why_and_what_helps(jobs):
    jobs.fake.set(
        refuse="sbatch: error: Batch job submission failed: "
        "Invalid account or account/partition combination specified"
    )
    with pytest.raises(SubmissionError, match=r"Invalid account.*sacctmgr"):
        jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.fake.jobs == []


def test_there_is_no_slurm_here(jobs):
    jobs.fake.environment["PATH"] = "/nonexistent"
    with pytest.raises(UsageError, match="login node"):
        jobs.launcher.submit(jobs.runs.shell(":"))


def test_a_controller_that_is_away_gets_the_job_later(jobs):
    jobs.fake.set(away=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert not jobs.launcher.wait(handle, 1.0)
    assert "not submitted yet" in jobs.launcher.describe(handle)
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


def test_a_submission_without_an_answer_is_not_made_twice(jobs):
    jobs.fake.set(silent=True, hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert not jobs.launcher.wait(handle, 1.0)
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


# ---- what happens to jobs ----------------------------------------------------------------------


def test_a_job_pends_long(jobs):
    jobs.fake.set(hold=True)
    request = jobs.runs.shell("touch ran")
    handle = jobs.launcher.submit(request)
    assert not jobs.launcher.wait(handle, 1.0)
    assert jobs.launcher.describe(handle) == f"job {handle.data['job_id']} pends: Priority"
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert (request.directory / "ran").exists()


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


def test_accounting_tells_of_forgotten_jobs(jobs):
    jobs.fake.set(forget="all", accounting=True)
    _, handle = jobs.begin("sleep 60")
    jobs.fake.do("crash")
    assert "NODE_FAIL" in jobs.end(handle).message


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


def test_a_program_that_speaks_of_jobs_fails_by_itself(jobs):
    script = "echo 'error: Expired or invalid job 101' >&2; exit 1"
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(script))).cause is FailureCause.PROGRAM
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


@pytest.mark.parametrize("order", ["requeue", "crash-requeue"])
def test_a_requeued_job_does_not_repeat_what_it_was_at(jobs, order):
    request, handle = jobs.begin("echo once >> runs; sleep 60")
    jobs.fake.do(order)
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert outcome.cause is FailureCause.SIGNAL
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


def test_a_job_that_dies_idle_is_replaced(jobs):
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    jobs.fake.do("crash")
    until(lambda: jobs.fake.state() == "NODE_FAIL")
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


def test_the_time_limit_of_the_job_is_that_of_its_first_run(jobs):
    jobs.launch(PlainJobs(wall_seconds=60))
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "110"})
    _, handle = jobs.begin("sleep 60")
    jobs.fake.do("limit")
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.TIMEOUT


def test_a_run_for_which_the_rest_is_too_short_goes_to_another_job(jobs):
    times = {"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "108"}
    jobs.fake.set(environment=times)
    jobs.launch(PlainJobs(margin_seconds=2.0))
    first = jobs.launcher.submit(jobs.runs.shell("sleep 2.5", timeout_seconds=5.0))
    assert jobs.end(first).status is RunStatus.OK
    second = jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=5.0))
    assert jobs.end(second).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2
    assert jobs.launcher.collect(same_handle(second)).status is RunStatus.OK


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


def test_a_run_that_exceeds_its_limit_stays_so_when_the_signal_comes(jobs):
    """It comes while the run, which does not hear SIGTERM, is being ended."""
    jobs.fake.set(environment={"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "110"})
    script = "trap 'touch told' TERM; while :; do sleep 0.1; done"
    request, handle = jobs.begin(script, timeout_seconds=1.0)
    until((request.directory / "told").exists)
    jobs.fake.do("limit")
    exceeded = jobs.end(handle)
    assert (exceeded.status, exceeded.cause) == (RunStatus.TIMEOUT, FailureCause.HANG)


def test_a_limit_that_no_allocation_has_is_cut_before_the_signal(jobs):
    class Short(PlainJobs):
        def allocation(self, request):
            return Allocation("short", wall_seconds=4.0, margin_seconds=3.0)

    jobs.launch(Short())
    outcome = jobs.end(jobs.launcher.submit(jobs.runs.shell("sleep 60", timeout_seconds=30.0)))
    assert outcome.cause is FailureCause.HANG
    assert 1.0 <= outcome.elapsed_seconds < 4.0


def test_an_allocation_is_asked_for_in_which_a_run_fits(jobs):
    jobs.launch(PlainJobs(wall_seconds=60))
    for limit in (10.0, 30.0):
        jobs.end(jobs.launcher.submit(jobs.runs.shell(":", timeout_seconds=limit)))
    times = [w for job in jobs.fake.jobs for w in job["words"] if w.startswith("--time=")]
    assert times == ["--time=0-00:02:00", "--time=0-00:03:00"]


def test_the_controller_is_away_while_a_run_goes_on(jobs):
    _, handle = jobs.begin("sleep 1; touch done")
    jobs.fake.set(away=True)
    assert jobs.end(handle).status is RunStatus.OK
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    jobs.fake.set()


def test_a_node_without_python(jobs, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    jobs.fake.set(environment={"PATH": "/nonexistent"})
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"python3.*not found"):
        jobs.launcher.collect(handle)


def test_a_record_that_the_node_does_not_see(jobs):
    jobs.fake.set(hold=True)
    request = jobs.runs.shell(":")
    handle = jobs.launcher.submit(request)
    request.directory.rename(request.directory.with_name("elsewhere"))
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"does not see .*work.*--study-dir"):
        jobs.launcher.collect(handle)


def test_a_spool_that_the_node_does_not_see(jobs):
    jobs.fake.set(hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    (agent,) = (jobs.directory / "jobs").glob("agent-*")
    agent.rename(jobs.directory / "elsewhere")
    jobs.fake.set()
    assert jobs.launcher.wait(handle, 20)
    with pytest.raises(StudyError, match=r"_agent\.py.*must see"):
        jobs.launcher.collect(handle)


# ---- the tuner ---------------------------------------------------------------------------------


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


def test_the_allocation_of_a_dead_tuner_ends(jobs):
    jobs.launch(idle_seconds=1.5)
    _, handle = jobs.begin("sleep 2")
    pool.forget_all()
    until(lambda: jobs.fake.state() == "COMPLETED")
    assert jobs.end(handle).status is RunStatus.OK


def test_an_allocation_that_nobody_needs_ends(jobs):
    jobs.launch(hold_seconds=1.0)
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    until(lambda: jobs.fake.state() == "COMPLETED")
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 2


def test_a_tuner_that_ends_gives_its_jobs_back(jobs, tmp_path):
    """Also one that does not say so, and one whose job pends."""
    code = f"""
import json, sys
sys.path[:0] = {[*sys.path]!r}
from pathlib import Path
from stripewise.launch import PlainJobs, RunRequest, SlurmLauncher
from stripewise.slurm import Slurm
launcher = SlurmLauncher(None, PlainJobs(), Slurm(), Path({str(tmp_path / "jobs")!r}))
place = Path({str(tmp_path)!r}, sys.argv[1])
place.mkdir()
handle = launcher.submit(RunRequest(sys.argv[1], ("/bin/true",), place, place / "record"))
if sys.argv[2] == "wait":
    assert launcher.wait(handle, 30)
"""
    for how, states in (("wait", ("COMPLETED",)), ("leave", ("CANCELLED", "COMPLETED"))):
        jobs.fake.set(hold=how == "leave")
        words = [sys.executable, "-c", code, str(uuid4()), how]
        subprocess.run(words, check=True, env=jobs.fake.environment)
        until(lambda states=states: jobs.fake.state() in states)
    assert jobs.fake.processes() == []


def test_cancel_of_a_run_whose_agent_is_stopped(jobs, monkeypatch):
    monkeypatch.setattr("stripewise.launch._slurm.ANSWER_SECONDS", 1.5)
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


def test_node_seconds_are_counted(jobs):
    jobs.end(jobs.launcher.submit(jobs.runs.shell("sleep 1.2")))
    until(lambda: jobs.launcher.node_seconds > 1.0)


# ---- burst buffers -----------------------------------------------------------------------------


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


# ---- registration ------------------------------------------------------------------------------


def test_it_is_made_by_its_name(tmp_path):
    assert create_launcher("slurm", None, None, tmp_path).name == "slurm"
    with pytest.raises(UsageError, match="directory"):
        create_launcher("slurm", None)
