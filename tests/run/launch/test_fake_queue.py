# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The fake queue keeps the contract, and does what batch systems do besides."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from uuid import uuid4

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.run.launch import RunRequest, sweep
from stripewise.testing.launcher_suite import LauncherSuite, same_handle
from support.fake_queue import FakeQueue


class TestFakeQueue(LauncherSuite):
    def make_launcher(self, directory):
        return FakeQueue(None, directory / "queue")

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


@pytest.fixture
def queue(tmp_path, runs):
    """Return what makes the fake queue, whose jobs are looked for afterwards."""

    def make(**given):
        runs.launcher = FakeQueue(None, tmp_path / "queue", **given)
        return runs.launcher

    return make


def waiting(low, *requests):
    """Return a seed with which the first request pends long, and the others but a moment."""

    def share(seed, request):
        return random.Random(f"{seed}:{request.run_id}").random()

    first, *others = requests
    return next(
        seed
        for seed in itertools.count()
        if share(seed, first) > low and all(share(seed, one) < 0.1 for one in others)
    )


def test_jobs_wait_for_nodes_and_end_in_any_order(queue, runs):
    log = runs.directory / "log"
    script = f"echo +$0 >> {log}; sleep 0.1; echo -$0 >> {log}"
    requests = [runs.request("/bin/sh", "-c", script, str(number)) for number in range(8)]
    launcher = queue(nodes=2, most_pending_seconds=2.0, seed=waiting(0.9, *requests[:2]))
    handles = [launcher.submit(request) for request in requests]
    assert all(launcher.wait(handle, 60) for handle in handles)
    lines = log.read_text().split()
    in_flight = 0
    for line in lines:
        in_flight += 1 if line[0] == "+" else -1
        assert in_flight <= 2
    ended = [line[1:] for line in lines if line[0] == "-"]
    assert sorted(ended) == list("01234567")
    assert ended != sorted(ended)


def test_a_pending_job_is_cancelled_without_a_run(queue, runs):
    launcher = queue(most_pending_seconds=1000.0)
    request = runs.shell("touch ran")
    handle = launcher.submit(request)
    launcher.cancel(handle)
    assert launcher.collect(handle).status is RunStatus.CANCELLED
    assert not (request.directory / "ran").exists()
    assert runs.outside() == set()


def test_looks_are_bounded(queue, runs):
    launcher = queue()
    handle = launcher.submit(runs.shell("sleep 1"))
    begun, before = time.monotonic(), launcher.looks
    assert launcher.wait(handle, 60)
    waited = time.monotonic() - begun
    assert launcher.looks - before <= waited / launcher.poll_seconds + 2


def test_jobs_go_on_while_the_tuner_is_dead(queue, runs, eventually):
    """Their handle finds them; so does their name where the handle was never recorded."""
    launcher = queue()
    request = runs.shell("sleep 0.5; touch done")
    child = os.fork()
    if child == 0:
        handle = launcher.submit(request)
        text = {"run_id": handle.run_id, "data": dict(handle.data)}
        (runs.directory / "handle").write_text(json.dumps(text))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    restarted = queue()
    known = json.loads((runs.directory / "handle").read_text())
    eventually(lambda: restarted.find_again(request.run_id, request.record_directory))
    handle = restarted.find_again(request.run_id, request.record_directory)
    assert dict(handle.data) == known["data"]
    assert restarted.wait(same_handle(handle), 30)
    assert restarted.collect(handle).status is RunStatus.OK
    assert (request.directory / "done").exists()


def test_a_job_that_is_swept_before_it_is_known_never_runs(queue, runs, eventually):
    request = runs.shell("touch ran")
    launcher = queue(most_pending_seconds=1000.0, seed=waiting(0.5, request))
    handle = launcher.submit(request)
    sweep(request.record_directory)
    assert launcher.poll(handle)
    eventually(lambda: runs.outside() == set())
    assert not (request.directory / "ran").exists()


def test_a_job_whose_worker_is_killed_says_nothing(queue, runs, eventually):
    launcher = queue()
    request = runs.shell("touch began; sleep 60")
    handle = launcher.submit(request)
    eventually((request.directory / "began").exists)
    os.kill(int(handle.data["supervisor_pid"]), signal.SIGKILL)
    assert launcher.wait(handle, 60)
    outcome = launcher.collect(handle)
    assert outcome.cause is FailureCause.SIGNAL
    assert runs.left() == []
