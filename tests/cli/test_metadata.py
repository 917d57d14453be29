# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench metadata` finds the program, passes everything on, and tells of emulations."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stripewise.cli import _bench_kernel as _kernel
from stripewise.cli import _bench_kernel as _metadata
from stripewise.core.errors import RuntimeMissingError, UsageError

STAND_IN = """#!/bin/sh
for word in "$@"; do
    case $word in exit-*) exit "${word#exit-}" ;; esac
done
"""


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A runtime with a program for MPICH; what would have been started."""
    program = tmp_path / "bin" / "stripewise-metadata-mpich"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libstripewise.so").touch()
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    found: list[list[str]] = []
    monkeypatch.setattr(_kernel, "call_program", lambda words: found.append(words) or 3)
    return found


def stripewise(*words: str) -> Result:
    return CliRunner().invoke(_metadata.metadata_command, words, standalone_mode=False)


needs_mpich = pytest.mark.skipif(
    not (shutil.which("mpicc.mpich") and shutil.which("mpiexec.mpich")), reason="no MPICH"
)


def test_path_is_for_own_mpiexec_lines(called: list[list[str]], tmp_path: Path) -> None:
    done = stripewise("--path", "--mpi", "mpich")
    assert done.output == f"{tmp_path / 'bin/stripewise-metadata-mpich'}\n"
    assert not called


def test_a_program_that_is_not_built_names_the_remedy(called: list[list[str]]) -> None:
    error = stripewise("--path", "--mpi", "openmpi").exception
    assert isinstance(error, RuntimeMissingError)
    assert "no metadata program for openmpi" in str(error)
    assert "stripewise doctor build" in str(error)


@needs_mpich
def test_what_is_not_its_own_goes_to_the_program(called: list[list[str]]) -> None:
    done = stripewise("--files", "10", "-n", "1", "--sharing", "own", "--launcher-option", "-l")
    assert done.exit_code == 0  # click's own: what is returned becomes the exit code
    stripewise("-n", "2", "--json", "--", "--help", "--json", "x")
    first, second = called
    assert first[1:4] == ["-n", "1", "-l"]
    assert first[5:] == ["--files", "10", "--sharing", "own"]
    assert second[4:] == ["--help", "--json", "x", "--json", "-"]


@needs_mpich
@pytest.mark.parametrize("words", [["--ranks-per-node", "2"], ["--root", "."], ["--noise"]])
def test_options_of_an_emulation_go_with_one(called: list[list[str]], words: list[str]) -> None:
    error = stripewise(*words).exception
    assert isinstance(error, UsageError)
    assert "--on MACHINE" in str(error)
    assert not called


class Done:
    """A run on emulated storage, as far as it is told."""

    class emulated:
        storage = "archer2-hdd@1/64, 2 ranks a node"
        machine = "archer2-hdd@1/64"
        slowdown = 64.0
        ranks_per_node = 2
        problem = ""


def test_the_document_says_what_was_emulated(tmp_path: Path) -> None:
    record = tmp_path / "m.json"
    record.write_text('{"schema": "stripewise-metadata", "phases": []}')
    found = _metadata.with_emulation(record, Done)  # type: ignore[arg-type]
    assert found["schema"] == "stripewise-metadata"
    assert found["emulated"]["slowdown"] == 64
    assert found["emulated"]["counted"] is True
    json.dumps(found)
