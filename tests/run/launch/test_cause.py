# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a failure is put down to, by texts as the MPIs print them and by real runs."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.run.launch import Outcome

HYDRA_RANK = """
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 4711 RUNNING AT node1
=   EXIT CODE: {code}
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
{text}
"""
KILLED = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"
CRASHED = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"
OPENMPI_KILLED = "mpirun noticed that process rank 0 with PID 0 exited on signal 9 (Killed)."
OPENMPI_NOT_UP = "[node1:4711] PMIX ERROR: NO-PERMISSIONS in file gds_ds12_lock_pthread.c"
HYDRA_NOT_UP = "[mpiexec@node1] HYDU_create_process (utils/launch/launch.c:73): execvp error"
FULL = "write failed: No space left on device"
PROGRAM, SIGNAL = FailureCause.PROGRAM, FailureCause.SIGNAL


@pytest.mark.parametrize(
    ("exit_code", "said", "cause"),
    [
        (1, "", PROGRAM),
        (3, "cannot open input.nml", PROGRAM),
        (9, "", PROGRAM),
        (-signal.SIGSEGV, "", PROGRAM),
        (-signal.SIGABRT, "", PROGRAM),
        (128 + signal.SIGSEGV, "", PROGRAM),
        (11, HYDRA_RANK.format(code=11, text=CRASHED), PROGRAM),
        (3, HYDRA_RANK.format(code=3, text="[mpiexec@node1] cleanup"), PROGRAM),
        (1, "MPI_ABORT was invoked on rank 0\n" + OPENMPI_NOT_UP, PROGRAM),
        (-signal.SIGKILL, "", SIGNAL),
        (-signal.SIGTERM, "", SIGNAL),
        (128 + signal.SIGKILL, OPENMPI_KILLED, SIGNAL),
        (9, HYDRA_RANK.format(code=9, text=KILLED), SIGNAL),
        (1, FULL, FailureCause.STORAGE),
        (213, OPENMPI_NOT_UP, FailureCause.LAUNCH),
        (255, HYDRA_NOT_UP, FailureCause.LAUNCH),
        (None, "", FailureCause.LAUNCH),
    ],
)
def test_causes_of_exits(exit_code, said, cause):
    outcome = Outcome(RunStatus.FAILED, exit_code, 1.0, 0.0, output=said)
    assert outcome.cause is cause
    assert outcome.cause.is_outside is (cause is not PROGRAM)


def test_causes_of_other_ends():
    assert Outcome(RunStatus.OK, 0, 1.0, 0.0, output=FULL).cause is FailureCause.NONE
    assert Outcome(RunStatus.TIMEOUT, None, 1.0, 0.0).cause is FailureCause.HANG
    assert Outcome(RunStatus.TIMEOUT, None, 1.0, 0.0, output=FULL).cause is FailureCause.STORAGE
    assert Outcome(RunStatus.CANCELLED, None, 1.0, 0.0).cause is SIGNAL
    lost = Outcome(RunStatus.FAILED, 1, 1.0, 0.0, place_lost=True)
    assert lost.cause is FailureCause.STORAGE


def test_a_working_directory_that_was_removed(runs, eventually):
    script = 'touch began; while [ -e "$PWD" ]; do sleep 0.02; done; echo x > out || exit 1'
    request = runs.shell(script)
    handle = runs.launcher.submit(request)
    eventually((request.directory / "began").exists)
    shutil.rmtree(request.directory)
    assert runs.launcher.wait(handle, 20)
    assert runs.launcher.collect(handle).cause is FailureCause.STORAGE


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
@pytest.mark.parametrize("mpiexec", ["mpiexec.mpich", "mpiexec.openmpi"])
@pytest.mark.parametrize("victim", ["mpiexec", "rank"])
def test_a_killed_mpi_program(runs, mpiexec, victim, monkeypatch, eventually):
    if not shutil.which(mpiexec):
        pytest.skip(f"no {mpiexec} here")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    script = "echo $$ > pid.$PMI_RANK$OMPI_COMM_WORLD_RANK; exec sleep 60"
    request = runs.request(mpiexec, "-n", "2", "/bin/sh", "-c", script)
    handle = runs.launcher.submit(request)
    eventually(lambda: sum(p.stat().st_size > 0 for p in request.directory.glob("pid.?")) == 2)
    time.sleep(0.2)
    pid = int((request.directory / "pid.1").read_text())
    os.kill(parent(mpiexec, pid) if victim == "mpiexec" else pid, signal.SIGKILL)
    assert runs.launcher.wait(handle, 60)
    outcome = runs.launcher.collect(handle)
    assert outcome.status is RunStatus.FAILED
    assert outcome.cause is SIGNAL, (outcome.exit_code, outcome.output)


def parent(name: str, pid: int) -> int:
    """Return the process above a rank that is mpiexec, whatever lies between."""
    while name.split(".")[0] not in open(f"/proc/{pid}/comm").read():
        with open(f"/proc/{pid}/stat") as stream:
            pid = int(stream.read().rpartition(")")[2].split()[1])
        if pid <= 1:
            pytest.fail(f"no {name} above the rank")
    return pid
