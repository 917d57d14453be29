# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.run.runtime import Runtime
from stripewise.run.runtime._launch_lines import ranks_of_command
from stripewise.run.runtime._mpi import MpiInstallation
from stripewise.run.site import CheckStatus, run_doctor
from stripewise.run.site import _doctor as doctor
from stripewise.run.site._doctor import check_preload
from stripewise.storage.machines import Mount, Storage


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("mpiexec -n 8 ./a", 8),
        ("mpirun.openmpi --oversubscribe -np 3 ./a -n 9", 3),
        ("srun --ntasks=5 ./a", 5),
        ("srun ./a", None),
        ("./a -n 4", None),
        ("", None),
    ],
)
def test_ranks_of_command(command: str, ranks: int | None) -> None:
    assert ranks_of_command(command.split()) == ranks


def test_not_built_fails_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    (failed,) = [check for check in run_doctor() if check.status is CheckStatus.FAIL]
    assert failed.name == "runtime library"
    assert failed.remedy == "stripewise doctor build"


def test_a_library_that_does_not_load(tmp_path: Path) -> None:
    runtime = Runtime(tmp_path)
    runtime.core.parent.mkdir()
    runtime.core.write_bytes(b"not a library")
    found = check_preload(runtime)
    assert found.status is CheckStatus.FAIL
    assert "cannot be preloaded" in found.detail


def test_oversubscription_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "usable_processors", lambda: 2)
    mpich = MpiInstallation("mpich", "4.0.2", Path("/usr/bin/mpicc"))
    found = doctor._processors([mpich], ["mpiexec", "-n", "8", "./a"])
    assert found.status is CheckStatus.WARN
    assert "8 ranks" in found.detail


def test_no_mpi_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "detect_mpis", list)
    (found,) = [check for check in run_doctor() if check.name == "MPI"]
    assert found.status is CheckStatus.WARN
    assert "without MPI" in found.detail


def test_memory_is_no_storage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    memory = Storage("local", "memory", "local", "", {}, mount=Mount("tmpfs"))
    monkeypatch.setattr(doctor, "local_storage", lambda path: memory)
    assert doctor._storage(tmp_path)[0].status is CheckStatus.WARN


def test_a_program_that_does_not_exist_fails(tmp_path):
    from stripewise.run.site import _doctor

    script = tmp_path / "write.py"
    script.write_text("print()\n")
    status = {
        words: [str(check.status) for check in _doctor._program(words)]
        for words in ((), ("mpiexec", "-n", "2", "./no-such-program"), ("true",))
    }
    assert list(status.values()) == [[], ["fail"], ["ok"]]
    assert [str(c.status) for c in _doctor._program(("python3", str(script)))] == ["ok"]
