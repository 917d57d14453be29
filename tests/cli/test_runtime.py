# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.run import runtime


def test_list(blind: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "runtime"])
    assert result.exit_code == 0
    assert result.output.split() == ["core", str(blind / "lib/libstripewise.so")]


def test_list_as_json(blind: Path) -> None:
    result = CliRunner().invoke(main, ["doctor", "runtime", "--json"])
    assert json.loads(result.stdout)["core"] == str(blind / "lib/libstripewise.so")


def test_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(tmp_path))
    result = CliRunner().invoke(main, ["doctor", "runtime"])
    assert result.exit_code == 5
    assert "stripewise doctor build" in result.stderr


def test_build_reports_what_failed(blind: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = runtime.BuildResult(
        runtime.find_runtime(), ("core",), (), {"mpich 4.0.2": "it has no mpi.h"}
    )
    monkeypatch.setattr(runtime, "build_runtime", lambda *args, **options: built)
    result = CliRunner().invoke(main, ["doctor", "build", "--json"])
    assert result.exit_code == 5
    assert json.loads(result.stdout)["failed"] == {"mpich 4.0.2": "it has no mpi.h"}
    assert "it has no mpi.h" in result.stderr
