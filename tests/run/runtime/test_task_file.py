# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The file that says in which environment stripewise-task starts a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import RuntimeMissingError, StorageError, UsageError
from stripewise.run.runtime import Runtime, task_program, write_task_file
from stripewise.run.runtime._environment import MOST_BYTES

NATIVE = Path(__file__).parents[3] / "native"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.environment"


@pytest.mark.parametrize(
    ("variables", "expanded"),
    [
        ({"": "x"}, {}),
        ({"A=B": "x"}, {}),
        ({"@A": "x"}, {}),
        ({"+A": None}, {}),
        ({"A": "x\0y"}, {}),
        ({"A": "x" * 200_000}, {}),
        ({f"A{i}": "x" * 100_000 for i in range(11)}, {}),
        ({}, {"A": "%{B"}),
    ],
)
def test_what_cannot_be_passed_is_refused(
    file: Path, variables: dict[str, str | None], expanded: dict[str, str]
) -> None:
    with pytest.raises(UsageError):
        write_task_file(file, variables, expanded=expanded)
    assert not file.exists()


@pytest.mark.parametrize("library", ["relative.so", "/a b/lib.so", "/a:b/lib.so"])
def test_libraries_that_the_loader_cannot_take_are_refused(file: Path, library: str) -> None:
    with pytest.raises(UsageError, match="cannot preload"):
        write_task_file(file, {}, preload=Path(library))


def test_a_file_is_replaced_whole(file: Path) -> None:
    write_task_file(file, {"A": "1"})
    write_task_file(file, {"B": "2"})
    assert file.read_bytes() == b"B=2\0\0"
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with pytest.raises(StorageError, match="cannot write"):
        write_task_file(file / "below", {})


def test_the_program_is_where_the_runtime_is(tmp_path: Path) -> None:
    runtime = Runtime(tmp_path)
    with pytest.raises(RuntimeMissingError, match="doctor build"):
        task_program(runtime)
    runtime.task.parent.mkdir()
    runtime.task.touch()
    assert task_program(runtime) == tmp_path / "bin/stripewise-task"
    assert (
        f"SW_TASK_BYTES (1 << {MOST_BYTES.bit_length() - 1})"
        in (NATIVE / "task/main.c").read_text()
    )
