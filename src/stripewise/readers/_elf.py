# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether an executable can be preloaded into at all."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

_MAGIC = b"\x7fELF"
_PT_INTERP = 3
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def is_static_elf(data: bytes) -> bool:
    """Whether an ELF executable names no dynamic loader (so that nothing is preloaded).

    Args:
        data: The first bytes of the file; 64 KiB hold any program header table.
    """
    if len(data) < 64 or data[:4] != _MAGIC:
        return False
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (kind,) = struct.unpack_from(order + "H", data, 16)
    if kind not in (2, 3):  # ET_EXEC, ET_DYN
        return False
    offset = struct.unpack_from(order + ("Q" if wide else "I"), data, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", data, 54 if wide else 42)
    if not count or offset + size * count > len(data):
        return False
    types = (struct.unpack_from(order + "I", data, offset + size * i)[0] for i in range(count))
    return _PT_INTERP not in types


def is_static(path: Path) -> bool:
    """Whether the file is a statically linked executable; False if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return is_static_elf(stream.read(65536))
    except OSError:
        return False


def is_elf(path: Path) -> bool:
    """Whether the file is an ELF object; False if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) == _MAGIC
    except OSError:
        return False


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
