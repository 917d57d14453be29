# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise run --auto`: trouble is one line, and the program always runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = [sys.executable, "-c", "from stripewise.cli import main; main()", "run", "--auto"]
PROGRAM = ["dd", "if=/dev/zero", "of=out", "bs=65536", "count=16", "status=none"]


@pytest.fixture
def auto(tmp_path, built, monkeypatch):
    """Run dd with --auto in a directory of its own; the last lines of standard error."""
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "STRIPEWISE_KNOWLEDGE": str(tmp_path / "knowledge.sqlite")}

    def run(*options: str, program=PROGRAM, code=0, **more: str):
        done = subprocess.run(
            [*RUN, *options, "--", *program],
            capture_output=True, text=True, env={**environment, **more}, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def said(done) -> list[str]:
    marks = ("stripewise: auto: ", "stripewise: warning: ", "stripewise: error: ")
    return [line for line in done.stderr.splitlines() if line.startswith(marks)]


def test_the_first_run_is_remembered_and_the_second_recognised(auto, tmp_path):
    assert said(auto()) == [
        (
            "stripewise: auto: nothing is set: no earlier run of this program is known; this "
            "one is recorded"
        )
    ]
    assert "no earlier run of this program" not in auto("--dry-run").stdout
    assert (tmp_path / "out").stat().st_size == 1 << 20


def test_json_holds_the_answer(auto):
    found = json.loads(auto("--json").stdout.splitlines()[-1])["auto"]
    assert (found["level"], found["settings"], found["outcome"]) == ("default", {}, "")


def test_a_dry_run_runs_and_keeps_nothing(auto, tmp_path):
    done = auto("--dry-run")
    assert done.stdout.startswith("nothing is set: ")
    assert not (tmp_path / "out").exists()


def test_a_damaged_store_is_one_line_and_the_program_runs(auto, tmp_path):
    (tmp_path / "knowledge.sqlite").write_bytes(b"garbage" * 1000)
    lines = said(auto())
    assert len(lines) == 2
    assert "file is not a database" in lines[0]
    assert lines[1] == "stripewise: auto: nothing is set: what is known cannot be used"
    assert (tmp_path / "out").exists()


def test_a_home_that_cannot_be_written_is_one_line_and_the_program_runs(auto, tmp_path):
    lines = said(auto(STRIPEWISE_KNOWLEDGE="/proc/none/knowledge.sqlite"))
    assert len(lines) == 2
    assert lines[1].startswith("stripewise: warning: this run is not remembered: ")
    assert (tmp_path / "out").exists()


def test_a_policy_that_cannot_be_read_is_one_line_and_the_program_runs(auto, tmp_path):
    policy = tmp_path / "config" / "stripewise" / "policy.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text("allowed = 7\n")
    lines = said(auto(XDG_CONFIG_HOME=str(tmp_path / "config")))
    assert any("policy.toml" in line for line in lines)
    assert (tmp_path / "out").exists()


def test_the_programs_exit_code_stays(auto):
    auto(program=["sh", "-c", "exit 7"], code=7)


@pytest.mark.parametrize("options", [("--config", "x.toml"), ()])
def test_options_that_contradict_each_other_are_refused(auto, options):
    if options:
        assert "--auto and --config cannot be used together" in said(auto(*options, code=2))[0]
        return
    command = [*RUN[:-1], "--dry-run", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--dry-run requires --auto" in done.stderr


def test_what_was_seen_can_be_forgotten(auto, tmp_path):
    auto()
    words = [*RUN[:-2], "knowledge", "forget", "--runs"]
    environment = {**os.environ, "STRIPEWISE_KNOWLEDGE": str(tmp_path / "knowledge.sqlite")}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout.startswith("what was seen of 1 program forgotten in ")
    assert "no earlier run of this program is known" in said(auto())[0]
    assert Path(tmp_path / "out").exists()
