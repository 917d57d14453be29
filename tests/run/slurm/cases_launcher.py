# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs in jobs of a real Slurm; `test_launcher.py` calls pytest for it as the cluster's user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.run.launch import PlainJobs, RunRequest, SlurmLauncher, Stage
from stripewise.run.launch import _slurm_pool as pool
from stripewise.run.slurm import JobState, RateLimiter, Slurm, SubmissionError
from stripewise.testing.launcher_suite import LauncherSuite

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "cluster"))

import cluster as cluster_tool

TOP = Path(os.environ["STRIPEWISE_TEST_CLUSTER"])
CLUSTER = cluster_tool.Cluster(TOP)


def quick():
    """Return a client that asks more often than one may ask a controller of others."""
    bounds = {"poll_seconds": 0.3, "status_per_minute": 600, "actions_per_minute": 600}
    return Slurm(limiter=RateLimiter(**bounds), environment=CLUSTER.environment)


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.1)


def start(name):
    """Start a daemon again; the cluster's own log of them may be another user's."""
    null = subprocess.DEVNULL
    words = CLUSTER.daemon(name)
    environment, place = CLUSTER.environment, CLUSTER.directory
    subprocess.Popen(
        words, env=environment, cwd=place, stdin=null, stdout=null, stderr=null,
        start_new_session=True,
    ).wait(30)  # fmt: skip
    until(lambda: CLUSTER.run("scontrol", "ping").returncode == 0)


def queue():
    """Return the jobs of the user that have not ended: id and state."""
    words = ("squeue", "-h", "-o", "%A %T")
    lines = CLUSTER.run(*words).stdout.splitlines()
    return dict(line.split() for line in lines)


class Jobs:
    """A launcher over the cluster, and its runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.launcher = self.launch()

    def launch(self, plan=None, slurm=None, **options):
        pool.forget_all()
        self.launcher = SlurmLauncher(
            None, plan or PlainJobs(), slurm or quick(), self.directory / "jobs", **options
        )
        return self.launcher

    def shell(self, script, **options):
        run_id = str(uuid4())
        work = self.directory / run_id / "work"
        work.mkdir(parents=True)
        command = ("/bin/sh", "-c", script)
        return RunRequest(run_id, command, work, self.directory / run_id / "record", **options)

    def begin(self, script, **options):
        request = self.shell(f"touch began; {script}", **options)
        handle = self.launcher.submit(request)
        until(lambda: self.launcher.poll(handle) or (request.directory / "began").exists())
        assert (request.directory / "began").exists(), self.launcher.collect(handle)
        return request, handle

    def end(self, handle, seconds=120):
        assert self.launcher.wait(handle, seconds)
        return self.launcher.collect(handle)

    def outcome(self, script, **options):
        request = self.shell(script, **options)
        return request, self.end(self.launcher.submit(request))

    def left(self):
        """Processes of runs."""
        mark = f"{self.directory}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int(entry.name) != os.getpid():
                    words = (entry / "cmdline").read_bytes()
                    if mark in words or mark in os.readlink(entry / "cwd").encode():
                        found.append((int(entry.name), words))
            except OSError:
                continue
        return found


@pytest.fixture
def place():
    directory = TOP / "home" / f"test-{uuid4().hex[:8]}"
    directory.mkdir()
    return directory


@pytest.fixture
def jobs(place):
    made = Jobs(place)
    yield made
    made.launcher.close()
    until(lambda: not queue())
    until(lambda: not made.left(), 30)


class TestSlurm(LauncherSuite):
    @pytest.fixture
    def tmp_path(self, place):
        yield place
        SlurmLauncher(None, PlainJobs(), quick(), place / "jobs").close()
        until(lambda: not queue())

    def make_launcher(self, directory):
        pool.forget_all()
        return SlurmLauncher(None, PlainJobs(), quick(), directory / "jobs")

    def make_request(self, directory, kind):
        commands = {"ok": "exit 0", "fail": "exit 3"}
        command = ("/bin/sh", "-c", commands.get(kind, "sleep 60"))
        if kind == "missing":
            command = ("./no-such-program",)
        (directory / "work").mkdir(parents=True)
        limit = 0.2 if kind == "limited" else None
        return RunRequest(
            str(uuid4()),
            command,
            directory / "work",
            directory / "record",
            timeout_seconds=limit,
        )


class LoggedLimiter(RateLimiter):
    """Keeps when requests were made, and whether they were actions."""

    def __init__(self):
        super().__init__()
        self.taken = []

    def take(self, *, action=False):
        super().take(action=action)
        self.taken.append((time.time(), action))


def test_100_runs_are_one_job_and_few_requests(jobs):
    limiter = LoggedLimiter()
    slurm = Slurm(limiter=limiter, environment=CLUSTER.environment)
    jobs.launch(slurm=slurm)
    jobs.launcher.poll_seconds = 0.05
    begun = time.monotonic()
    ids = set()
    for number in range(100):
        request = jobs.shell(f"echo {number}; test -n $SLURM_JOB_ID")
        handle = jobs.launcher.submit(request)
        assert jobs.end(handle).status is RunStatus.OK
        ids.add(handle.data["job_id"])
    seconds = time.monotonic() - begun
    jobs.launcher.close()
    assert len(ids) == 1
    asked = [stamp for stamp, action in limiter.taken if not action]
    assert len(limiter.taken) - len(asked) == 1  # the submission
    for first in asked:
        assert sum(first <= other < first + 60 for other in asked) <= 6
    print(f"100 runs: {seconds:.1f} s, {len(limiter.taken)} requests")


def test_tasks_of_srun_run_on_the_nodes_and_are_ended(jobs):
    jobs.launch(PlainJobs(arguments=("--nodes=2", "--ntasks=4")))
    request, outcome = jobs.outcome("srun -n 4 sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'")
    assert outcome.status is RunStatus.OK, outcome
    lines = (request.record_directory / "stdout").read_text().split("\n")
    assert sorted(line[:1] for line in lines if line) == list("0123")
    marker = f"5{uuid4().int % 10**6}"
    request, outcome = jobs.outcome(f"srun -n 4 sleep {marker}", timeout_seconds=3)
    assert outcome.status is RunStatus.TIMEOUT
    until(lambda: marker not in CLUSTER.run("ps", "-eo", "args").stdout)  # their nodes end them
    request, outcome = jobs.outcome("srun -n 4 true")
    assert outcome.status is RunStatus.OK, outcome


def test_refusals_say_what_helps(jobs):
    for words, remedy in ((("--partition=none",), "sinfo"), (("--nodes=x",), "odes")):
        jobs.launch(PlainJobs(arguments=words))
        with pytest.raises(SubmissionError, match=remedy):
            jobs.launcher.submit(jobs.shell(":"))


def test_a_run_on_a_burst_buffer(jobs):
    line = "#DW jobdw type=scratch capacity=2GiB access_mode=striped pool=wlm_pool"
    jobs.launch(PlainJobs(directives=(line,), staged=Stage("DW_JOB_STRIPED")))
    request = jobs.shell("pwd; cat in; echo out > out")
    (request.directory / "in").write_text("in\n")
    outcome = jobs.end(jobs.launcher.submit(request))
    assert outcome.status is RunStatus.OK, outcome
    assert (request.directory / "out").read_text() == "out\n"
    assert outcome.stage_in_seconds > 0
    print(outcome, (request.record_directory / "stdout").read_text())


def test_what_the_cluster_is(jobs):
    slurm = quick()
    assert {one.name for one in slurm.partitions()} == {"workq", "idle"}
    (default,) = (one for one in slurm.partitions() if one.is_default)
    assert (default.nodes, default.most_seconds) == (4, 7200.0)
    assert "wlm_pool" in [one.default_pool for one in slurm.burst_buffers()]


# ---- chaos --------------------------------------------------------------------------------


def test_slurmctld_is_killed_and_comes_back(jobs):
    request, handle = jobs.begin("sleep 12; touch done")
    time.sleep(6)  # it writes what it knows each few seconds
    CLUSTER.kill("slurmctld")
    jobs.launch(
        PlainJobs(arguments=("--comment=other",)),
        Slurm(
            limiter=RateLimiter(poll_seconds=0.3, status_per_minute=600, actions_per_minute=600),
            environment=CLUSTER.environment,
            timeout_seconds=3,
        ),
    )
    second = jobs.launcher.submit(jobs.shell(":"))
    assert jobs.end(handle).status is RunStatus.OK
    assert not jobs.launcher.wait(second, 2)
    start("slurmctld")
    assert jobs.end(second).status is RunStatus.OK
    assert (request.directory / "done").exists()


@pytest.mark.parametrize("restart", [False, True])
def test_scancel_by_hand(jobs, restart):
    _, handle = jobs.begin("sleep 100")
    if restart:
        time.sleep(6)  # it writes what it knows each few seconds
        CLUSTER.kill("slurmctld")
        start("slurmctld")
    CLUSTER.run("scancel", str(handle.data["job_id"]))
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert outcome.cause is FailureCause.SIGNAL
    _, again = jobs.outcome(":")
    assert again.status is RunStatus.OK


def test_scancel_of_a_pending_job(jobs):
    jobs.launch(PlainJobs(arguments=("--begin=now+1hour",)))
    handle = jobs.launcher.submit(jobs.shell("touch ran"))
    waits = lambda: not jobs.launcher.wait(handle, 0.5)  # noqa: E731
    until(lambda: waits() and "BeginTime" in jobs.launcher.describe(handle))
    CLUSTER.run("scancel", str(handle.data["job_id"]))
    assert jobs.end(handle).status is RunStatus.CANCELLED


def test_requeue_by_hand(jobs):
    jobs.launch(PlainJobs(arguments=("--requeue",)))
    request, handle = jobs.begin("echo x >> runs; sleep 100")
    CLUSTER.run("scontrol", "requeue", str(handle.data["job_id"]))
    outcome = jobs.end(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert (request.directory / "runs").read_text() == "x\n"
    jobs.launcher.close()


def test_the_time_limit_of_the_job(jobs):
    jobs.launch(PlainJobs(wall_seconds=60))
    _, handle = jobs.begin("sleep 300")
    outcome = jobs.end(handle, 200)
    assert outcome.status is RunStatus.TIMEOUT, outcome


def test_a_node_fails(jobs):
    jobs.launch(PlainJobs(arguments=("--no-requeue",)))
    request, handle = jobs.begin("echo $SLURMD_NODENAME > node; sleep 300")
    node = (request.directory / "node").read_text().strip()
    agent = json.loads(next((jobs.directory / "jobs").glob("stripewise-*/agent.json")).read_text())
    assert agent["state"] == "running"
    CLUSTER.kill(node)
    words = (f"nodename={node}", "state=down", "reason=test")
    assert CLUSTER.run("scontrol", "update", *words).returncode == 0
    try:
        while left := jobs.left():  # the node has no power
            for pid, _ in left:
                with suppress(ProcessLookupError):  # it ended with the one before
                    os.kill(pid, 9)
            time.sleep(0.1)
        outcome = jobs.end(handle)
        assert outcome.status is RunStatus.CANCELLED
        assert JobState.NODE_FAIL in outcome.message
        _, again = jobs.outcome(":")
        assert again.status is RunStatus.OK
    finally:
        start(node)
        CLUSTER.run("scontrol", "update", f"nodename={node}", "state=resume")
