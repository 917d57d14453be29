# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one reader of what the kernel tells of file systems."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from stripewise.model import Mount
from stripewise.text import text_of


def find_mount(directory: Path, root: Path = Path("/")) -> Mount:
    """Describe the file system that a directory is on.

    Args:
        directory: Of which it is asked; links are followed.
        root: Where `proc` and `sys` are (for tests).
    """
    real = os.path.realpath(directory)
    found = mount_in(text_of(root / "proc/self/mountinfo", "surrogateescape"), real)
    try:
        identity = str(os.statvfs(real).f_fsid)
    except OSError:
        identity = ""
    return replace(found, identity=identity, medium=_medium(found, root))


def mount_in(mountinfo: str, path: str) -> Mount:
    """Find the file system that holds a path in the text of /proc/self/mountinfo.

    Source: proc(5), /proc/pid/mountinfo.
    """
    best, found = -1, Mount()
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(rest) < 2:
            continue
        point = _unescaped(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best = len(point)
            found = Mount(rest[0], _unescaped(rest[1]), point, fields[2])
    return found


def _medium(mount: Mount, root: Path) -> str:
    if mount.is_network:
        return "network"
    if mount.is_memory:
        return "memory"
    place = root / "sys/dev/block" / mount.device
    for queue in (place / "queue/rotational", place / "../queue/rotational"):
        turning = text_of(queue).strip()
        if turning:
            real = os.path.realpath(place)
            if "/virtio" in real or "/vbd-" in real or "/virtual/" in real:
                return "virtual"
            return "rotational" if turning == "1" else "solid state"
    return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), text)
