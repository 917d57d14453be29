# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a command can be started at all, said before anything is started."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from stripewise.errors import ProgramError


def resolve_program(command: Sequence[str], directory: Path) -> str:
    """Find what `command[0]` stands for, as a shell in `directory` would.

    Returns:
        The path to execute; relative paths stay relative to `directory`.

    Raises:
        ProgramError: There is no such program, or it cannot be executed.
    """
    if not command or not command[0]:
        raise ProgramError("no command given; put it after `--`: -- mpiexec -n 4 ./program")
    for argument in command:
        if "\0" in argument:
            raise ProgramError(f"the argument {argument!r} holds a NUL, which none can")
    name = command[0]
    if "/" in name:
        _check_executable(directory / name, name)
        return name
    return _search(name, directory)


def _search(name: str, directory: Path) -> str:
    candidates = (directory / folder / name for folder in os.get_exec_path())
    found = [path for path in candidates if path.is_file()]
    for path in found:
        if os.access(path, os.X_OK):
            _check_interpreter(path, name)
            return str(path)
    if found:
        raise ProgramError(f"{found[-1]} is not executable; remedy: chmod +x {found[-1]}")
    if (directory / name).is_file():
        raise ProgramError(
            f"there is no program '{name}' on PATH, but there is one here: write ./{name}"
        )
    raise ProgramError(f"there is no program '{name}' on PATH{_on_path_like(name)}")


def _check_executable(path: Path, shown: str) -> None:
    if path.is_dir():
        raise ProgramError(f"{shown} is a directory, not a program")
    if not path.exists():
        names = [entry.name for entry in _entries(path.parent)]
        close = difflib.get_close_matches(path.name, names, n=3)
        nearest = [os.path.join(os.path.dirname(shown), match) for match in close]
        raise ProgramError(f"there is no program '{shown}'{_did_you_mean(nearest)}")
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{shown} is not executable; remedy: chmod +x {shown}")
    _check_interpreter(path, shown)


def _check_interpreter(path: Path, shown: str) -> None:
    """A script whose `#!` line names nothing fails with a puzzling "no such file"."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(4096)
    except OSError:
        return  # executable without being readable is allowed
    if not line.startswith(b"#!"):
        return
    words = line[2:].split()
    if words and words[0].startswith(b"/") and not os.path.exists(words[0]):
        interpreter = os.fsdecode(words[0])
        raise ProgramError(
            f"{shown} is a script for {interpreter}, which is not there; correct its first line"
        )


def _on_path_like(name: str) -> str:
    names = {entry.name for folder in os.get_exec_path() for entry in _entries(Path(folder))}
    return _did_you_mean(difflib.get_close_matches(name, names, n=3))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _did_you_mean(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else "; check its spelling or path"
