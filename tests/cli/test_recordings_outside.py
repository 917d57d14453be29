# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every command that runs a user's command in copies asks before it changes other files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stripewise.cli import main
from stripewise.core.errors import UsageError
from stripewise.study.procedure import try_lines
from stripewise.study.training import RecordingOptions, record_surface

VARY = {"mpiio.cb_nodes": (2, 4)}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the user's outside of that in which the command is given."""
    work, precious = tmp_path / "work", tmp_path / "precious"
    work.mkdir()
    precious.mkdir()
    (precious / "model.log").write_text("precious")
    (work / "plain.sh").write_text(f"#!/bin/sh\necho made > own\nrm {precious}/model.log\n")
    (work / "plain.sh").chmod(0o755)
    monkeypatch.chdir(work)
    return precious


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="stripewise")


def asked(done: Result, user: Path) -> str:
    """The refusal; nothing was run, and nothing is left."""
    assert done.exit_code == UsageError.exit_code, done.output
    assert f"{user}/model.log" in done.output
    assert f"--allow-outside {user}" in done.output
    assert (user / "model.log").read_text() == "precious"
    assert os.listdir() == ["plain.sh"]
    return done.output


@pytest.mark.parametrize(
    "words",
    [
        ("./plain.sh",),
        ("bash", "plain.sh"),
        ("mpiexec", "-n", "2", "./plain.sh"),
        ("bash", "-c", "echo x > {user}/model.log"),
        ("bash", "-c", "echo x > ../precious/model.log"),
        ("env", "A=1", "cp", "plain.sh", "{user}/model.log"),
    ],
)
def test_a_recording_asks_for_what_its_command_changes(user: Path, words: tuple[str, ...]) -> None:
    command = tuple(word.format(user=user) for word in words)
    elsewhere = user.parent / "elsewhere"
    for allowed in ((), (elsewhere,)):
        options = RecordingOptions(
            command, Path("a.jsonl"), VARY, Path.cwd(), Path(), allow_outside=allowed
        )
        with pytest.raises(UsageError, match=f"precious/model.log.*--allow-outside {user}"):
            record_surface(options)
        assert (user / "model.log").read_text() == "precious"
        assert os.listdir() == ["plain.sh"]


def test_a_training_asks_for_what_its_launcher_changes(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = str(Path("plain.sh").absolute())
    monkeypatch.setattr(
        "stripewise.study.training.kernel_program", lambda *_: ((launcher, "-n"), "/bin/true")
    )
    words = (
        "knowledge",
        "train",
        "--here",
        "--ranks",
        "2",
        "-o",
        "t.training",
        "--mpiexec",
        "./plain.sh",
    )
    asked(call(*words), user)
    said = call(
        "knowledge",
        "train",
        "--on",
        "edison",
        "--simulate",
        "--ranks",
        "64",
        "--allow-outside",
        user,
    )
    assert "--allow-outside can only be used without --simulate" in said.output


def test_the_trial_of_a_finding_asks_too(user: Path) -> None:
    with pytest.raises(UsageError, match=f"removes .*--allow-outside {user}"):
        try_lines(("./plain.sh",), ("export A=1",))
    Path("job.sh").write_text("#!/bin/sh\nsbatch run.sh\n")
    with pytest.raises(UsageError, match="sbatch submits a job"):
        try_lines(("sh", "job.sh"), ("export A=1",))
    assert sorted(os.listdir()) == ["job.sh", "plain.sh"]
    assert (user / "model.log").read_text() == "precious"
    said = call("profile", "--allow-outside", user, "a.trace")
    assert "--allow-outside requires --try" in said.output


def test_a_study_with_a_replay_asks_before_the_replay(user: Path) -> None:
    asked(call("tune", "--replay", "a.trace", "--", "./plain.sh"), user)
