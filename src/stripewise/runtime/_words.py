# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which word of a command line is the program."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from stripewise.readers import is_launcher

_WRAPPERS = ("env", "time", "numactl", "taskset", "nice", "bash", "sh", "python", "python3")


def program_name(command: Sequence[str]) -> str:
    """Return the name of the program in a command line, for people and file names.

    The launcher's options are not known here, so the program is the first word after the
    launcher that looks like one: a path, or a name that can be found.
    """
    name = os.path.basename(program_word(command))
    stem, suffix = os.path.splitext(name)
    return stem if suffix in (".py", ".sh", ".exe") and stem else name or "program"


def program_word(command: Sequence[str]) -> str:
    """Return the word of a command line that seems to be the program; "" if it has none."""
    words = list(command)
    while len(words) > 1 and is_wrapper(words[0]):
        rest = [i for i, word in enumerate(words[1:], start=1) if _looks_like_program(word)]
        if not rest:
            break
        words = words[rest[0] :]
    return words[0] if words else ""


def program_file(command: Sequence[str], directory: Path) -> Path | None:
    """Return the file of a command's program; None for an interpreter, which is not the program.

    Args:
        command: To be run.
        directory: That relative names are in.
    """
    word = program_word(command)
    if not word or is_wrapper(word):
        return None
    if os.path.sep in word or (directory / word).is_file():
        return directory / word
    found = shutil.which(word)
    return Path(found) if found else None


def ranks_of_command(command: Sequence[str]) -> int | None:
    """Number of ranks that a launcher line asks for; None if it does not say."""
    if not command or not is_launcher(Path(command[0]).name):
        return None
    options = ("-n", "-np", "--n", "--np", "--ntasks")
    for word, following in itertools.pairwise(command):
        if word in options and following.isdigit():
            return int(following)
        name, _, value = word.partition("=")
        if name in options and value.isdigit():
            return int(value)
    return None


def is_wrapper(word: str) -> bool:
    """Whether a word of a command starts another program: a launcher, an interpreter."""
    base = os.path.basename(word)
    stem = base.split(".")[0] if not base.startswith("python") else "python"
    return is_launcher(base) or stem in _WRAPPERS


def _looks_like_program(word: str) -> bool:
    if word.startswith("-") or "=" in word or not word.strip("0123456789:,"):
        return False
    if os.path.sep in word or word.endswith((".py", ".sh")):
        return True
    return shutil.which(word) is not None
