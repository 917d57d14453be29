# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The working directory of a user, as tests see it."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

LARGE = (1 << 20) + 10
ODD_NAME = os.fsdecode(b"caf\xe9")


def state(directory: Path) -> dict[str, tuple[object, ...]]:
    """Everything that can be seen of a tree, but access times."""
    found = {}
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = b""
            if stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(Path(path).read_bytes()).digest()
            elif stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(path))
            found[path] = (status.st_ino, status.st_mode, status.st_mtime_ns, content)
    return found
