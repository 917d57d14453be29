# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The executables that a command names, and whether the loader lets anything be preloaded."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def drops_preload(path: Path) -> str:
    """Why the loader ignores LD_PRELOAD for this executable; "" if it does not."""
    try:
        status = path.stat()
    except OSError:
        return ""
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return "is setuid"
    if status.st_mode & stat.S_ISGID and status.st_gid not in (os.getgid(), *os.getgroups()):
        return "is setgid"
    try:
        if "security.capability" in os.listxattr(path) and os.getuid() != 0:
            return "has file capabilities"
    except OSError:
        return ""
    return ""


def executables_in(command: Sequence[str], directory: Path | None = None) -> list[Path]:
    """Executable files that the words of a command name, in order, symbolic links resolved.

    Args:
        command: The command; options and data files in it are passed over.
        directory: Where relative names start from; the current directory if not given.
    """
    base = directory or Path.cwd()
    found: list[Path] = []
    for word in command:
        path = _resolve(word, base)
        if path is not None and path not in found:
            found.append(path)
    return found


def _resolve(word: str, base: Path) -> Path | None:
    if not word or word.startswith("-"):
        return None
    if "/" in word:
        name = str(base / word)
        named = name if os.path.isfile(name) and os.access(name, os.X_OK) else None
    else:
        named = shutil.which(word, path=os.environ.get("PATH", _DEFAULT_PATH))
    return Path(os.path.realpath(named)) if named else None
