# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench kernel` finds the program and passes everything on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stripewise.cli._bench_kernel import call_program
from stripewise.run.runtime import MpiInstallation, mpiexec_words

KERNEL = [sys.executable, "-c", "from stripewise.cli import main; main()", "bench", "kernel"]
STAND_IN = """#!/bin/sh
for word in "$@"; do
    case $word in exit-*) exit "${word#exit-}" ;; esac
done
line=$(printf '[%s]' "$@")
printf '%s\\n' "$line"
"""  # one write a rank: mpiexec may mix what several ranks print


def stripewise(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KERNEL, *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime whose MPICH kernel prints its arguments."""
    program = tmp_path / "bin" / "stripewise-kernel-mpich"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libstripewise.so").touch()
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    return program


needs_mpich = pytest.mark.skipif(
    not (shutil.which("mpicc.mpich") and shutil.which("mpiexec.mpich")), reason="no MPICH"
)


def test_path_is_for_own_mpiexec_lines(stand_in: Path) -> None:
    for more in ([], ["--mpi", "mpich"]):
        done = stripewise("--path", *more)
        assert done.returncode == 0
        assert done.stdout == f"{stand_in}\n"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_path_is_of_the_mpi_whose_mpiexec_is_first(
    stand_in: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = shutil.which(f"mpiexec.{family}")
    if launcher is None:
        pytest.skip(f"no mpiexec.{family}")
    other = stand_in.with_name("stripewise-kernel-openmpi")
    shutil.copy(stand_in, other)
    bin_directory = stand_in.parent / "first"
    bin_directory.mkdir()
    (bin_directory / "mpiexec").symlink_to(launcher)
    monkeypatch.setenv("PATH", f"{bin_directory}:{os.environ['PATH']}")
    expected = {"mpich": stand_in, "openmpi": other}[family]
    assert stripewise("--path").stdout == f"{expected}\n"


def test_a_kernel_that_is_not_built_names_the_remedy(stand_in: Path) -> None:
    done = stripewise("--path", "--mpi", "openmpi")
    assert done.returncode == 5
    assert done.stderr.count("\n") == 1
    assert "no kernel for openmpi" in done.stderr
    assert "stripewise doctor build" in done.stderr


def test_without_a_runtime_the_remedy_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    done = stripewise("--pattern", "btio")
    assert done.returncode == 5
    assert "stripewise doctor build" in done.stderr


@needs_mpich
def test_what_is_not_its_own_goes_to_the_kernel(stand_in: Path) -> None:
    done = stripewise("--pattern", "btio", "-n", "1", "--hint", "a=b c", "--size", "4,4,4")
    assert done.stdout == "[--pattern][btio][--hint][a=b c][--size][4,4,4]\n"
    done = stripewise("-n", "2", "--json", "--", "--help", "--json", "$(x)")
    assert done.stdout == "[--help][--json][$(x)][--json][-]\n" * 2


@pytest.mark.extended(keep=1)
@needs_mpich
@pytest.mark.parametrize("code", [1, 2])
def test_the_exit_code_is_the_kernels(stand_in: Path, code: int) -> None:
    assert stripewise("-n", "1", f"exit-{code}").returncode == code


def test_open_mpi_is_told_of_more_ranks_than_processors() -> None:
    mpi = MpiInstallation("openmpi", "4.1.4", Path("/m/mpicc"), Path("/m/mpiexec"))
    many = len(os.sched_getaffinity(0)) + 1
    words = mpiexec_words(mpi, many, ["--bind-to", "none"])
    assert words == ["/m/mpiexec", "-n", str(many), "--oversubscribe", "--bind-to", "none"]
    assert mpiexec_words(mpi, 1) == ["/m/mpiexec", "-n", "1"]


@pytest.mark.parametrize("bad", [["-n", "0"], ["-n", "x"]])
def test_bad_options_end_with_two(stand_in: Path, bad: list[str]) -> None:
    done = stripewise(*bad)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_help_has_examples() -> None:
    done = stripewise("--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert "--path" in done.stdout


@needs_mpich
def test_the_real_kernel_answers_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRIPEWISE_RUNTIME_DIR", raising=False)
    assert stripewise("--path", "--mpi", "mpich").returncode == 0
    monkeypatch.chdir(tmp_path)
    done = stripewise("--mpi", "mpich", "-n", "1", "--json", "--size", "4,4,4", "--verify")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verified"] is True


def test_root_may_start_the_kernel_under_open_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMPI_ALLOW_RUN_AS_ROOT", raising=False)
    shown = "import os, sys; sys.exit(int(os.environ.get('OMPI_ALLOW_RUN_AS_ROOT', '0')))"
    assert call_program([sys.executable, "-c", shown]) == (os.geteuid() == 0)
