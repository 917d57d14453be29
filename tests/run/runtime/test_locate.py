# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stripewise.core.errors import RuntimeMissingError
from stripewise.run.runtime import build_directory, find_runtime, native_sources


def fake_runtime(root: Path) -> Path:
    (root / "lib" / "plugins").mkdir(parents=True)
    (root / "bin").mkdir()
    for name in (
        "lib/libstripewise.so",
        "lib/plugins/libstripewise-mpi-mpich-4.so",
        "bin/stripewise-kernel-mpich",
        "bin/stripewise-replay-mpich",
        "bin/stripewise-metadata-mpich",
    ):
        (root / name).touch()
    return root


def test_finds_what_the_variable_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(fake_runtime(tmp_path)))
    runtime = find_runtime()
    assert runtime.core == tmp_path / "lib/libstripewise.so"
    assert {*runtime.plugins} == {"mpich-4"}
    assert runtime.kernels == {"mpich": tmp_path / "bin/stripewise-kernel-mpich"}
    assert runtime.replays == {"mpich": tmp_path / "bin/stripewise-replay-mpich"}
    programs = {"mpich": tmp_path / "bin/stripewise-metadata-mpich"}
    assert runtime.metadata_programs == programs


def test_missing_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(RuntimeMissingError, match="stripewise doctor build"):
        find_runtime()


def test_home_is_the_second_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRIPEWISE_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("HOME", str(tmp_path))
    fake_runtime(tmp_path / ".local/share/stripewise")
    assert find_runtime().directory == tmp_path / ".local/share/stripewise"
    assert build_directory() == tmp_path / "prefix/lib/stripewise"


def test_sources_are_in_the_checkout() -> None:
    assert (native_sources() / "include/stripewise/container.h").is_file()
