# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench run`: options that contradict each other, and --resume."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main

SIMULATED = ("limits", "--quick", "--launcher", "simulated", "--on", "archer2-hdd")


def call(*words: str):
    return CliRunner().invoke(main, ["bench", "run", *words])


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume", "--force"), "leave one of them out"),
        (("limits", "--wall", "2h"), "--wall is for jobs: add --launcher slurm"),
        (("limits", "--job-option=--account=z01"), "--job-option is for jobs"),
        ((), "give a suite"),
    ],
)
def test_options_that_contradict_each_other(words: tuple[str, ...], said: str) -> None:
    done = call(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(Path.cwd().iterdir())


def test_a_finished_campaign_stays_where_it_is() -> None:
    assert call(*SIMULATED, "-o", "one.campaign").exit_code == 0
    before = Path("one.campaign/journal.jsonl").read_bytes()
    assert call("--resume", "--force", "-o", "one.campaign").exit_code == 2
    other = call("array3d", "--resume", "-o", "one.campaign")
    assert other.exit_code == 2
    assert "a campaign of limits, not of array3d" in other.stderr
    assert [path.name for path in Path.cwd().iterdir()] == ["one.campaign"]
    assert Path("one.campaign/journal.jsonl").read_bytes() == before
    again = call(*SIMULATED, "--resume", "-o", "one.campaign")
    assert again.exit_code == 0
    assert "continues with the options that one.campaign was started with" in again.stderr
