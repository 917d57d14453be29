# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stripewise.core import is_static
from stripewise.evidence.containers import Handshake, HandshakeState, handshake
from stripewise.evidence.trace import (
    NAMES_ROW,
    Action,
    MpiFamily,
    PluginState,
    ProcessFlag,
    RunProfile,
)
from support.containers import FakeProcess, build_container, join_containers, parse_container

MPI = ProcessFlag.MPI_INITIALIZED


def profile_of(*processes: FakeProcess) -> RunProfile:
    return join_containers([parse_container(build_container(processes))])


def mpi(rank: int, size: int, state: PluginState = PluginState.LOADED, **more: object):
    fields = {
        "rank": rank,
        "world_size": size,
        "mpi_family": MpiFamily.MPICH,
        "plugin_state": state,
        "flags": MPI,
        "mpi_version": "MPICH Version:\t4.0.2",
        "outermost_write_bytes": 10,
        **more,
    }
    return FakeProcess(fields)


def check(profile: RunProfile, *command: str) -> Handshake:
    found = handshake(profile, command)
    assert "\n" not in found.message
    assert found.ok == (not found.message)
    return found


@pytest.fixture(scope="module")
def static_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("cc"):
        pytest.skip("no C compiler on PATH")
    directory = tmp_path_factory.mktemp("static")
    source, program = directory / "a.c", directory / "static_program"
    source.write_text("int main(void){return 0;}")
    done = subprocess.run(["cc", "-static", str(source), "-o", str(program)], check=False)
    if done.returncode:
        pytest.skip("no static C library")
    return program


def test_all_ranks_seen() -> None:
    found = check(profile_of(mpi(0, 2), mpi(1, 2)), "mpiexec", "-n", "2", "./a")
    assert found.ok
    assert (found.seen_ranks, found.expected_ranks) == (2, 2)


def test_ranks_missing() -> None:
    found = check(profile_of(mpi(0, 4), mpi(2, 4)), "mpiexec", "-n", "4", "./a")
    assert found.state is HandshakeState.RANKS_MISSING
    assert "2 of 4" in found.message


def test_a_rank_that_died_in_mpi_init_is_told_from_one_that_was_not_reached() -> None:
    exe = {"exe": "/a"}
    ranks = [mpi(rank, 4, **exe) for rank in (1, 2, 3)]
    dead, other = FakeProcess({**exe, "flags": 0}), FakeProcess({"exe": "/bin/sh", "flags": 0})
    found = check(profile_of(*ranks, dead), "srun", "./a")
    assert found.state is HandshakeState.RANKS_DIED
    assert "1 of 4 ranks died in MPI_Init" in found.message
    ended = FakeProcess({**exe, "flags": ProcessFlag.EXITED})
    for beside in (other, ended):
        assert check(profile_of(*ranks, beside)).state is HandshakeState.RANKS_MISSING
    assert check(profile_of(mpi(0, 1, **exe), dead)).ok


@pytest.mark.parametrize(
    ("state", "expected", "word"),
    [
        (PluginState.MISSING, HandshakeState.PLUGIN_MISSING, "no plug-in is built"),
        (PluginState.WRONG, HandshakeState.PLUGIN_WRONG, "another MPI"),
    ],
)
def test_plugin_trouble_names_the_mpi_and_the_remedy(
    state: PluginState, expected: HandshakeState, word: str
) -> None:
    found = check(profile_of(mpi(-1, 0, state)), "mpiexec", "./a")
    assert found.state is expected
    assert "4.0.2" in found.message
    assert word in found.message
    assert "stripewise doctor build --mpicc" in found.message


def test_static_program(static_program: Path) -> None:
    launcher = FakeProcess({"exe": "/usr/bin/mpiexec.hydra"})
    found = check(profile_of(launcher), "mpiexec", "-n", "2", str(static_program))
    assert found.state is HandshakeState.STATIC
    assert str(static_program) in found.message


def test_static_program_alone(static_program: Path) -> None:
    assert check(join_containers([]), str(static_program)).state is HandshakeState.STATIC


def test_elf_kinds(static_program: Path, tmp_path: Path) -> None:
    assert is_static(static_program)
    assert not is_static(Path(os.path.realpath(sys.executable)))
    assert not is_static(Path(__file__))
    cut = tmp_path / "cut"
    cut.write_bytes(static_program.read_bytes()[:70])
    assert not is_static(cut)
    cut.write_bytes(static_program.read_bytes()[:20])
    assert not is_static(cut)


def test_dropped_by_a_wrapper() -> None:
    program = os.path.realpath(shutil.which("sleep") or "")
    seen = profile_of(
        FakeProcess({"exe": os.path.realpath(shutil.which("mpiexec") or "/usr/bin/mpiexec")}),
        FakeProcess({"exe": "/usr/bin/env", "flags": ProcessFlag.EXECED}),
    )
    found = check(seen, "mpiexec", "-n", "2", "env", "-u", "LD_PRELOAD", program)
    assert found.state is HandshakeState.DROPPED
    assert program in found.message
    assert "LD_PRELOAD" in found.message


def test_dropped_inside_a_script(tmp_path: Path) -> None:
    script = tmp_path / "wrapper.sh"
    script.write_text("#!/bin/sh\nenv -i ./a\n")
    script.chmod(0o755)
    shell = os.path.realpath("/bin/sh")
    seen = profile_of(
        FakeProcess({"exe": shell, "outermost_read_bytes": 30}),
        FakeProcess({"exe": "/usr/bin/env", "flags": ProcessFlag.EXECED}),
    )
    assert check(seen, str(script)).state is HandshakeState.DROPPED


def test_exec_of_something_seen_is_fine() -> None:
    seen = profile_of(
        FakeProcess({"pid": 5, "exe": "/bin/sh", "flags": ProcessFlag.EXECED, "start_ns": 1}),
        FakeProcess({"pid": 5, "exe": "/bin/x", "start_ns": 2, "outermost_write_bytes": 4}),
    )
    assert check(seen, "sh", "-c", "exec x").ok


def lost_exec(exe: str, **more: object) -> RunProfile:
    """A process that became something unseen, beside one that writes."""
    return profile_of(
        FakeProcess({"pid": 5, "exe": exe, "flags": ProcessFlag.EXECED, "start_ns": 1, **more}),
        FakeProcess({"pid": 6, "exe": "/bin/x", "start_ns": 2, "outermost_write_bytes": 4}),
    )


def test_exec_of_something_unseen_beside_a_program_that_writes_is_said() -> None:
    seen = lost_exec("/bin/sh")
    found = check(seen, "sh", "job.sh")
    assert found.ok
    assert "sh became a program without the library" in found.warnings[0]
    assert "without the library" in seen.write_amount.why
    launcher = lost_exec("/usr/bin/mpiexec")
    assert not check(launcher, "mpiexec", "x").warnings[1:]
    assert not launcher.gaps


def test_started_programs_that_the_library_is_not_in_are_said_once() -> None:
    seen = lost_exec("/bin/sh", flags=ProcessFlag.EXECED | ProcessFlag.STARTED_UNSEEN)
    (warning,) = check(seen, "sh", "job.sh").warnings
    assert "without the library" in warning
    assert seen.write_amount.why == seen.read_amount.why == warning


def test_nothing_at_all() -> None:
    found = check(join_containers([]), "no-such-program-anywhere")
    assert found.state is HandshakeState.DROPPED
    assert "doctor" in found.message


def test_ranks_that_did_not_find_each_other_are_noted() -> None:
    together = [mpi(0, 1, start_ns=10 + i, end_ns=90, pid=5 + i) for i in range(2)]
    found = check(profile_of(*together), "mpiexec", "-n", "2", "./a.out")
    assert found.ok
    assert found.warnings == (
        "2 processes ran at once, each as the only rank of its own job (MPICH Version: 4.0.2): "
        "start the program with the mpiexec of that MPI",
    )


def test_one_rank_jobs_after_each_other_are_fine() -> None:
    jobs = [mpi(0, 1, start_ns=10 + 50 * i, end_ns=50 + 50 * i, pid=5 + i) for i in range(2)]
    assert not check(profile_of(*jobs), "sh", "job.sh").warnings


def test_no_mpi_under_a_launcher_is_noted() -> None:
    program = os.path.realpath(shutil.which("cat") or "")
    row = {"exe": program, "outermost_write_bytes": 10}
    found = check(profile_of(FakeProcess(row), FakeProcess(row)), "mpiexec", "-n", "2", program)
    assert found.ok
    assert "never called MPI_Init" in found.warnings[0]


def test_names_without_data_are_told() -> None:
    program = os.path.realpath(shutil.which("true") or "")
    profile = profile_of(FakeProcess({"exe": program}))
    row = np.zeros(1, NAMES_ROW)
    row["count"][0, Action.STAT], row["seconds"][0, Action.STAT] = 5000, 1.5
    row["failed"][0, Action.STAT] = 12
    found = check(replace(profile, names=row, directories=("/x",)), program)
    assert found.state is HandshakeState.NO_IO
    assert "5,000 calls on names (most of them stat; 12 failed) in 1.5 s" in found.warnings[-1]


def test_no_io() -> None:
    program = os.path.realpath(shutil.which("true") or "")
    found = check(profile_of(FakeProcess({"exe": program})), program)
    assert found.ok
    assert found.state is HandshakeState.NO_IO


@pytest.mark.parametrize(
    ("flag", "word"),
    [
        (ProcessFlag.USES_IO_URING, "io_uring"),
        (ProcessFlag.USES_SHARED_MMAP, "mappings"),
        (ProcessFlag.CONFIG_BAD, "configuration"),
    ],
)
def test_what_is_not_counted_is_said(flag: ProcessFlag, word: str) -> None:
    found = check(profile_of(mpi(0, 1, flags=MPI | flag)), "./a")
    assert any(word in text for text in found.warnings)


@pytest.mark.skipif(os.getuid() == 0, reason="root drops nothing that it owns itself")
def test_setuid() -> None:
    program = next((p for p in ("/usr/bin/passwd", "/bin/su") if os.path.exists(p)), None)
    if program is None:
        pytest.skip("no setuid program here")
    assert check(join_containers([]), program).state is HandshakeState.SETUID
