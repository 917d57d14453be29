# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Native parts that tests build, kept below build/tests until their sources or commands change."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from filelock import FileLock

TOP = Path(__file__).resolve().parents[2]
BUILDS = TOP / "build" / "tests"
_KEPT = 3
"""Builds of one name that stay, so that two states of the sources do not chase each other."""


def built(name: str, sources: Sequence[Path], *commands: Sequence[str | Path]) -> Path:
    """Return the directory in which commands were run, one of them at a time on this checkout.

    Args:
        name: What it is, for people.
        sources: Files, and folders of files, that decide what comes out.
        commands: What is run there; names of outputs are relative.

    Raises:
        AssertionError: A command fails; the message is its output.
    """
    key = hashlib.sha256(_state_of(tuple(sources)))
    for word in (_compiler(), *(str(word) for command in commands for word in command)):
        key.update(word.encode() + b"\0")
    BUILDS.mkdir(parents=True, exist_ok=True)
    directory = BUILDS / f"{name}-{key.hexdigest()[:16]}"
    mark = directory / ".built"
    with FileLock(BUILDS / f"{name}.lock"):
        if not mark.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            for command in commands:
                done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            _remove_old(name)
        mark.touch()
    return directory


def _remove_old(name: str) -> None:
    marks = sorted(BUILDS.glob(f"{name}-????????????????/.built"), key=lambda m: m.stat().st_mtime)
    for mark in marks[: -_KEPT + 1]:
        shutil.rmtree(mark.parent, ignore_errors=True)


@cache
def _state_of(sources: tuple[Path, ...]) -> bytes:
    found = hashlib.sha256()
    for source in sources:
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            if path.is_file():
                found.update(str(path.relative_to(TOP)).encode() + b"\0" + path.read_bytes())
    return found.digest()


@cache
def _compiler() -> str:
    return subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout
