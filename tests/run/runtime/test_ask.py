# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Other programs are asked within a limited time, and nothing of them is left."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest

from stripewise.run import CommandResult, ask


def python(code: str, **more: object) -> CommandResult:
    return ask([sys.executable, "-c", code], **more)


def test_what_a_program_says() -> None:
    answer = python("import sys; print(sys.stdin.read()); sys.exit('why')", text="aä")
    assert (answer.exit_code, answer.text, answer.error) == (1, "aä\n", "why\n")
    assert answer.failure() == {"exit_code": 1, "problem": "why"}
    assert not answer.ok
    assert python("").failure() == {}


def test_a_program_that_is_not_there() -> None:
    assert ask(["no-such-program"]) == CommandResult(problem="not on PATH")
    assert ask(["true"], environment={"PATH": "/nonexistent"}).problem == "not on PATH"


def test_all_of_a_program_is_killed_at_the_limit(tmp_path: Path) -> None:
    begun = time.monotonic()
    late = ask(["sh", "-c", f"(sleep 3; touch {tmp_path}/left) & sleep 60"], timeout_seconds=0.5)
    assert late.is_late
    assert late.failure() == {"problem": "no answer within 0.5 s"}
    assert time.monotonic() - begun < 30
    time.sleep(4)
    assert not (tmp_path / "left").exists()


def test_output_of_any_length_goes_to_a_file(tmp_path: Path) -> None:
    with (tmp_path / "output").open("w+b") as file:
        assert python("print('x' * 100000)", output=file).text == ""
        file.seek(0)
        assert len(file.read()) == 100001


def test_where_and_with_what_mask_it_runs(tmp_path: Path) -> None:
    assert python("open('made', 'w')", directory=tmp_path, umask=0o077).ok
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o600


def test_no_room_for_its_output_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert python("").problem == "cannot be run: No space left on device"
