# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.run import site
from stripewise.run.site import Check, CheckStatus

GOOD = Check("MPI", CheckStatus.OK, "mpich 4.0.2")
SO_SO = Check("/dev/shm", CheckStatus.WARN, "8 MiB free", "enlarge it")
BAD = Check("preload", CheckStatus.FAIL, "does not load", "build again")


def run(monkeypatch: pytest.MonkeyPatch, checks: list[Check], *arguments: str):
    asked: list[tuple[str, ...]] = []

    def doctor(command: tuple[str, ...] = ()) -> list[Check]:
        asked.append(tuple(command))
        return checks

    monkeypatch.setattr(site, "run_doctor", doctor)
    return CliRunner().invoke(main, ["doctor", *arguments]), asked


def test_warnings_leave_it_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, [GOOD, SO_SO])
    assert result.exit_code == 0
    assert "-> enlarge it" in result.output
    assert "Stripewise is usable here." in result.output


def test_a_failure_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, [GOOD, BAD])
    assert result.exit_code == 1
    assert "NOT usable" in result.output


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, [GOOD, BAD], "--json")
    found = json.loads(result.stdout)
    assert found["usable"] is False
    assert found["checks"][1] == {
        "name": "preload",
        "status": "fail",
        "detail": "does not load",
        "remedy": "build again",
    }


def test_the_command_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = run(monkeypatch, [GOOD], "--", "mpiexec", "-n", "4", "./a", "--json")
    assert asked == [("mpiexec", "-n", "4", "./a", "--json")]
