# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What one run gave, where some of its ranks died before the program had begun."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import FailureCause, RunStatus
from stripewise.evidence.trace import MpiFamily, PluginState, ProcessFlag
from stripewise.run.launch import Outcome, read_guarded
from stripewise.study.runs._looking import _guard_warnings, look
from stripewise.study.workspace import RunLocation
from support.containers import FakeProcess, build_container


@pytest.fixture
def died(tmp_path: Path) -> Outcome:
    """A run of four ranks, of which the first died in MPI_Init."""
    rank = {
        "exe": "/a",
        "world_size": 4,
        "mpi_family": MpiFamily.OPENMPI,
        "plugin_state": PluginState.LOADED,
        "flags": ProcessFlag.MPI_INITIALIZED,
    }
    ranks = [FakeProcess({**rank, "rank": number}) for number in (1, 2, 3)]
    container = tmp_path / "node.sw"
    container.write_bytes(build_container([FakeProcess({"exe": "/a", "flags": 0}), *ranks]))
    return Outcome(RunStatus.OK, 0, 2.0, 1.0, containers=(container,))


def test_a_script_that_goes_on_hides_no_dead_rank(died, tmp_path):
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("srun", "/a")), died)
    assert (seen.status, seen.cause) == (RunStatus.FAILED, FailureCause.LAUNCH)
    assert "1 of 4 ranks died in MPI_Init" in seen.message
    assert "LD_PRELOAD" not in seen.message


def test_a_crash_of_mpi_is_not_the_programs(died, tmp_path):
    crashed = replace(died, status=RunStatus.FAILED, exit_code=139, message="exit code 139: srun")
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("srun", "/a")), crashed)
    assert (seen.status, seen.cause) == (RunStatus.FAILED, FailureCause.LAUNCH)
    assert "exit code 139" in seen.message


def test_a_run_that_was_ended_from_outside_stays_one(died, tmp_path):
    ended = replace(died, status=RunStatus.CANCELLED, exit_code=None, message="stopped: x")
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("srun", "/a")), ended)
    assert (seen.status, seen.cause) == (RunStatus.CANCELLED, FailureCause.SIGNAL)
    assert seen.message == "stopped: x"


REFUSED_THERE = b"c/home/me/data\0n/home/me/new\0c/home/me/data\0s/bin/busybox\0c/cut"


def test_what_the_guard_refused_is_told_as_the_cause(tmp_path):
    (tmp_path / "refused").write_bytes(REFUSED_THERE)
    failed = Outcome(RunStatus.FAILED, 1, 2.0, 1.0, message="exit code 1")
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("srun", "/a")), failed)
    for text in (
        "Stripewise refused to change /home/me/data, which existed before the run",
        "(and 1 other path)",
        "--allow-outside PATH",
        "(exit code 1)",
    ):
        assert text in seen.message


def test_a_run_that_was_ended_is_not_blamed_on_the_guard(tmp_path):
    (tmp_path / "refused").write_bytes(REFUSED_THERE)
    ended = Outcome(RunStatus.TIMEOUT, None, 2.0, 1.0, message="took too long")
    seen = look("run", RunLocation(tmp_path, tmp_path, command=("srun", "/a")), ended)
    assert "refused" not in seen.message


def test_what_the_guard_told_of_a_run_that_ended_well(tmp_path):
    (tmp_path / "refused").write_bytes(REFUSED_THERE)
    kept, escaped = _guard_warnings(read_guarded(tmp_path))
    assert "prevented from changing /home/me/data, /home/me/new, outside" in kept
    assert "own files: /bin/busybox is linked statically" in escaped
    assert list(_guard_warnings(read_guarded(tmp_path / "none"))) == []
