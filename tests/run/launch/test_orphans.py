# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever dies, nothing of a run is left, and what had finished stays finished."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.core import RunStatus
from stripewise.run.launch import Handle, LocalLauncher, sweep
from stripewise.run.launch.agent._processes import end_all, process_table, send, strays

WRITE = "while :; do echo x >> out; sleep 0.01; done"
PROGRAMS = {
    "plain": ("/bin/sh", "-c", WRITE),
    "ignores SIGTERM": ("/bin/sh", "-c", f"trap '' TERM HUP INT; {WRITE}"),
    "new session": ("/bin/sh", "-c", f"setsid sh -c \"trap '' TERM; {WRITE}\" & wait"),
    "forks on SIGTERM": (
        "/bin/sh",
        "-c",
        f"trap 'setsid sh -c \"{WRITE}\" & exit' TERM; while :; do sleep 0.01; done",
    ),
    "daemon": (
        sys.executable,
        "-S",
        "-c",
        "import os,time\n"
        "if os.fork(): time.sleep(60)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "os.chdir('/')\n"
        "for f in (0, 1, 2): os.close(f)\n"
        "while True: time.sleep(0.01)\n",
    ),
    "cleared environment": (
        "/bin/sh",
        "-c",
        f'env -i PATH="$PATH" setsid sh -c "{WRITE}" & wait',
    ),
    "stopped": ("/bin/sh", "-c", f"kill -STOP $$; {WRITE}"),
}
OUTSIDE = [name for name in PROGRAMS if name != "cleared environment"]


def started(runs, request):
    return lambda: len(strays([request.run_id], process_table())) > 0


# -- cancel, timeout, normal end ---------------------------------------------------------------


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_cancel_leaves_nothing(runs, eventually, program):
    request = runs.request(*PROGRAMS[program])
    handle = runs.launcher.submit(request)
    eventually(started(runs, request))
    time.sleep(0.1)
    runs.launcher.cancel(handle)
    assert runs.outside() == set()
    assert runs.launcher.collect(handle).status is RunStatus.CANCELLED


@pytest.mark.extended
@pytest.mark.parametrize("program", PROGRAMS)
def test_timeout_leaves_nothing(runs, program):
    request = runs.request(*PROGRAMS[program], timeout_seconds=0.3)
    _, outcome = runs.run(request)
    assert outcome.status is RunStatus.TIMEOUT
    assert runs.outside() == set()


@pytest.mark.parametrize("ignore", ["", "trap '' TERM; "])
def test_what_outlives_the_command_is_ended(runs, ignore):
    request = runs.shell(f'setsid sh -c "{ignore}{WRITE}" & env -i setsid sleep 60 & exit 0')
    _, outcome = runs.run(request)
    assert (outcome.status, outcome.exit_code) == (RunStatus.OK, 0)
    assert "outlived" in outcome.message
    assert outcome.elapsed_seconds < 30  # not that of what outlived it
    assert runs.outside() == set()


def test_shared_memory_of_stopped_runs_is_freed(runs):
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm here")
    old, new = (Path("/dev/shm") / f"stripewise-{word}-{uuid4()}" for word in ("old", "new"))
    script = (
        "import mmap, sys, time\n"
        "for name in sys.argv[1:]:\n"
        "    file = open(name, 'a+b'); file.truncate(4096)\n"
        "    globals()[name] = mmap.mmap(file.fileno(), 4096)\n"
        "print('ready', flush=True); time.sleep(60)\n"
    )
    old.write_bytes(bytes(4096))
    time.sleep(0.02)
    try:
        request = runs.request(
            sys.executable, "-S", "-c", script.replace("file.truncate(4096)", "file.seek(0)"),
            str(old), timeout_seconds=0.5,
        )  # fmt: skip
        runs.run(request)
        runs.run(runs.request(sys.executable, "-S", "-c", script, str(new), timeout_seconds=0.5))
        assert old.exists()
        assert not new.exists()
    finally:
        old.unlink(missing_ok=True)
        new.unlink(missing_ok=True)


# -- the tuner dies ----------------------------------------------------------------------------


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_killed_tuner_leaves_nothing(runs, eventually, program):
    tuner = runs.tuner(*PROGRAMS[program])
    eventually(tuner.started)
    time.sleep(0.2)
    tuner.kill()
    eventually(lambda: runs.outside() == set())
    restarted = LocalLauncher(None)
    assert restarted.wait(tuner.handle(), 20)
    assert restarted.collect(tuner.handle()).status is RunStatus.CANCELLED


def test_a_run_that_had_ended_stays_finished(runs, eventually):
    tuner = runs.tuner("/bin/sh", "-c", "exit 5")
    result = tuner.directory / "record" / "result.json"
    eventually(lambda: tuner.started() and result.exists())  # a short run ends before its handle
    tuner.kill()
    outcome = LocalLauncher(None).collect(tuner.handle())
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, 5)


def random_kill(runs, eventually, seed: int) -> None:
    """Kill the tuner at a moment that can fall anywhere; check what the disk says."""
    chance = random.Random(seed)
    script = f"echo begun >> log; sleep {chance.uniform(0, 0.3):.3f}; echo ended >> log"
    tuner = runs.tuner("/bin/sh", "-c", script)
    if chance.random() < 0.7:
        eventually(lambda: (tuner.directory / "record").exists())
        time.sleep(chance.uniform(0, 0.45))
    else:
        time.sleep(chance.uniform(0, 1.0))
    tuner.kill()
    sweep(tuner.directory)
    assert runs.outside() == set()
    log = tuner.directory / "work" / "log"
    lines = log.read_text().split() if log.exists() else []
    assert lines in ([], ["begun"], ["begun", "ended"])
    result = tuner.directory / "record" / "result.json"
    if not result.exists():
        assert not (tuner.directory / "record" / "request.json").exists()
        return
    stored = json.loads(result.read_text())
    if not stored["reason"]:
        assert lines == ["begun", "ended"]
        assert stored["exit_code"] == 0
    time.sleep(0.05)
    assert (log.read_text().split() if log.exists() else []) == lines


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("seed", range(6))
def test_killed_at_random_moments(runs, eventually, seed):
    random_kill(runs, eventually, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_killed_at_many_random_moments(runs, eventually, seed):
    random_kill(runs, eventually, seed)


def test_a_forked_copy_of_the_tuner_does_not_keep_runs_alive(runs, eventually):
    script = (
        "import os,runpy,sys,threading,time\n"
        "def fork():\n"
        "    time.sleep(0.6)\n"
        "    if os.fork() == 0: time.sleep(30); os._exit(0)\n"
        "threading.Thread(target=fork, daemon=True).start()\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0])\n"
    )
    run_id = str(uuid4())
    runs.run_ids.append(run_id)
    directory = runs.directory / run_id
    tuner = subprocess.Popen(
        [sys.executable, "-c", script, str(runs.stand_in), str(directory), run_id, "sleep", "60"]
    )
    eventually((directory / "handle.json").exists)
    copies: list[int] = []

    def forked() -> bool:
        copies[:] = [p.pid for p in process_table().values() if p.parent == tuner.pid]
        return len(copies) >= 2

    eventually(forked)
    handle = json.loads((directory / "handle.json").read_text())
    supervisor = handle["data"]["supervisor_pid"]
    tuner.kill()
    tuner.wait()
    eventually(lambda: runs.left() == [])
    for pid in copies:
        if pid != supervisor:
            send(pid, signal.SIGKILL)


# -- the supervisor dies -----------------------------------------------------------------------


@pytest.mark.parametrize("program", OUTSIDE)
def test_a_killed_supervisor_is_noticed(runs, eventually, program):
    request = runs.request(*PROGRAMS[program])
    handle = runs.launcher.submit(request)
    eventually(started(runs, request))
    time.sleep(0.1)
    os.kill(int(handle.data["supervisor_pid"]), signal.SIGKILL)
    assert runs.launcher.wait(handle, 20)
    outcome = runs.launcher.collect(handle)
    assert outcome.status is RunStatus.CANCELLED
    assert "supervisor" in outcome.message
    assert runs.outside() == set()
    assert runs.launcher.collect(handle) == outcome


def test_sweep_when_all_were_killed(runs, eventually):
    tuner = runs.tuner(*PROGRAMS["ignores SIGTERM"])
    eventually(lambda: tuner.started() and (tuner.directory / "work" / "out").exists())
    supervisor = int(tuner.handle().data["supervisor_pid"])
    os.kill(supervisor, signal.SIGSTOP)  # so that it cannot see the tuner's end first
    tuner.kill()
    os.kill(supervisor, signal.SIGKILL)
    assert sweep(runs.directory) == (tuner.run_id,)
    assert runs.outside() == set()
    assert sweep(runs.directory) == ()
    outcome = LocalLauncher(None).collect(tuner.handle())
    assert outcome.status is RunStatus.CANCELLED


def test_sweep_of_a_stopped_supervisor(runs, eventually):
    tuner = runs.tuner(*PROGRAMS["plain"])
    eventually(lambda: (tuner.directory / "work" / "out").exists())
    tuner.kill()
    sweep(runs.directory)
    assert runs.outside() == set()


def test_a_planted_record_ends_no_other_process(tmp_path):
    """The pid can be that of any process; the record may be of somebody's making."""
    other = subprocess.Popen(["sleep", "60"])
    try:
        record = tmp_path / "runs" / "x"
        record.mkdir(parents=True)
        run_id = str(uuid4())
        (record / "request.json").write_text(json.dumps({"run_id": run_id}))
        (record / "supervisor.json").write_text(json.dumps({"pid": other.pid}))
        assert sweep(tmp_path) == (run_id,)
        data = {"record_directory": str(record), "supervisor_pid": other.pid}
        (record / "result.json").unlink()
        LocalLauncher(None).cancel(Handle("local", run_id, data))
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_process_with_the_same_pid_is_not_the_supervisor(runs):
    request = runs.shell("exit 0")
    handle, _ = runs.run(request)
    (request.record_directory / "result.json").unlink()
    data = {**handle.data, "supervisor_pid": os.getpid()}
    stranger = Handle(handle.launcher, handle.run_id, data)
    runs.launcher.cancel(stranger)
    assert runs.launcher.collect(stranger).status is RunStatus.CANCELLED


def test_strays_are_never_the_caller_nor_its_session(monkeypatch):
    run_id = str(uuid4())  # of this test alone: the whole host is looked at
    monkeypatch.setenv("STRIPEWISE_RUN_ID", run_id)
    child = subprocess.Popen(["sleep", "60"])
    try:
        found = strays([run_id], process_table())
        assert found == [child.pid]
        left = lambda: strays([run_id], process_table()) if child.poll() is None else []  # noqa: E731
        assert end_all(left) == []
    finally:
        child.kill()
        child.wait()
