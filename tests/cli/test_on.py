# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`--on` and what goes with it: bad input is one line, before anything is run or made."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main

PROGRAM = ("--", "sh", "-c", "touch ran")


@pytest.mark.parametrize("command", ["run", "profile", "tune"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "nowhere"), "no storage is called 'nowhere'"),
        (("--on", "archer2-hdd@fast"), "not a slow-motion factor: write @1/64"),
        (("--on", "archer2-hdd", "--ranks-per-node", "200"), "a node of archer2-hdd has 128"),
        (("--on", "archer2-hdd", "--transport", "tin-cans"), "--transport tin-cans"),
        (("--on", "archer2-hdd", "--capacity", "1TiB"), "archer2-hdd is not a burst buffer"),
        (("--noise",), "--noise requires --on"),
        (("--private",), "--private requires --on"),
    ],
)
def test_what_cannot_be_had_is_said_and_nothing_is_run(
    command: str,
    options: tuple[str, ...],
    words: str,
    blind: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [command, *options, *PROGRAM])
    assert done.exit_code in (2, 3), done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith("stripewise: error: ")
    assert words in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("run", "--root", ".", *PROGRAM), "--root requires --on"),
        (("run", "--ranks-per-node", "2", *PROGRAM), "--ranks-per-node requires --on"),
        (("run", "--on", "archer2-hdd", "--ranks-per-node", "-3", *PROGRAM), "at least 1"),
        (("tune", "--on", "archer2-hdd", "--ranks-per-node", "1,2", *PROGRAM), "one number"),
    ],
)
def test_options_that_contradict_one_another(
    words: tuple[str, ...],
    text: str,
    blind: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 2
    assert text in done.stderr
    assert not list(tmp_path.iterdir())
