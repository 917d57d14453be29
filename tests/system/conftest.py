# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small real programs, compiled once a session for every MPI that is here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from system_cli import require_mpi

from stripewise.run.runtime import find_runtime

PROGRAMS = Path(__file__).parent / "programs"
FAMILIES = ("mpich", "openmpi")
Compile = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def _runtime_is_built() -> None:
    find_runtime()


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    """Each MPI family in turn; skips where it is not here."""
    return require_mpi(request.param)


@pytest.fixture
def mpich() -> str:
    """For tests that need one MPI only."""
    return require_mpi("mpich")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile `programs/SOURCE` with a family's wrapper, or with cc for the family ""."""
    directory = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, ...], Path] = {}

    def compile_one(source: str, family: str = "", *options: str) -> Path:
        key = (source, family, *options)
        if key not in done:
            done[key] = _compile(directory / f"{len(done)}", source, family, options)
        return done[key]

    return compile_one


def _compile(directory: Path, source: str, family: str, options: tuple[str, ...]) -> Path:
    compiler = "cc" if not family else f"mpicc.{family}"
    if source.endswith(".f90"):
        compiler = f"mpif90.{family}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    directory.mkdir()
    program = directory / Path(source).stem
    flags = _hdf5(family) if source.startswith("h5") else []
    words = [compiler, "-O1", "-Wall", "-o", program, PROGRAMS / source, *flags, *options]
    built = subprocess.run(words, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return program


def _hdf5(family: str) -> list[str]:
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", f"hdf5-{family}"], capture_output=True, text=True
    )
    if asked.returncode != 0:
        pytest.skip(f"no parallel HDF5 for {family}")
    return asked.stdout.split()


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """The planted layer for a family: preloaded, not linked with any MPI."""
    directory = tmp_path_factory.mktemp("planted")

    def build(family: str) -> Path:
        library = directory / f"libplanted-{family}.so"
        if not library.exists():
            shown = subprocess.run(
                [f"mpicc.{family}", "-show"], capture_output=True, text=True, check=True
            )
            headers = [word for word in shown.stdout.split() if word.startswith("-I")]
            words = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", *headers]
            subprocess.run([*words, "-o", library, PROGRAMS / "planted.c", "-ldl"], check=True)
        return library

    return build


@pytest.fixture(scope="session")
def losing(planted: Compile) -> dict[str, str]:
    """Environment of a short study: the one setting of `system_cli.SHORT` is hopeless."""
    return {
        "LD_PRELOAD": str(planted(require_mpi("mpich"))),
        "PLANTED_KEY": "romio_cb_write",
        "PLANTED_SLEEP": "enable=200",
    }


@pytest.fixture(scope="session")
def steady(planted: Compile) -> Callable[[str], dict[str, str]]:
    """Environment, by family of the MPI, in which the first large write takes its time.

    What a busy host adds to a millisecond of I/O would end a study before its first trial.
    """

    def environment(family: str) -> dict[str, str]:
        return {"LD_PRELOAD": str(planted(family)), "PLANTED_SLEEP": "=300"}

    return environment


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A user's directory, with a file in it that programs do not touch."""
    directory = tmp_path / "work"
    directory.mkdir()
    (directory / "precious.txt").write_text("the user's own\n")
    return directory
