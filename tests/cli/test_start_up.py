# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a command costs before the program starts: the libraries that it does not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "scipy", "vl_convert", "pydantic", "h5py", "jinja2", "filelock", "rich"}


def imported(*words: str) -> set[str]:
    """Packages that are imported by `stripewise WORDS`."""
    command = [sys.executable, "-X", "importtime", "-c", "from stripewise.cli import main; main()"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=60)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    found = {line.split("|")[2].strip().partition(".")[0] for line in lines}
    assert "stripewise" in found, done.stderr
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["run", "--", "./no-such-program"],
        ["trace", "-o", "t", "--", "./no-such-program"],
    ],
)
def test_the_program_starts_before_anything_heavy_is_loaded(
    blind: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not imported(*words) & HEAVY
