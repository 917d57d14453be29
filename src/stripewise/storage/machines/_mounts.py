# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records which file system a directory is on, and reads it from what the kernel tells."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.present import text_of


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


# The file system that a directory is on.

_PARALLEL = (
    "lustre", "gpfs", "beegfs", "beegfs_nodev", "pvfs2", "ceph", "panfs", "wekafs", "daos",
)  # fmt: skip
_NETWORK = (
    *_PARALLEL, "nfs", "nfs4", "cifs", "smb3", "9p", "glusterfs", "afs", "fuse.sshfs",
    "fuse.glusterfs",
)  # fmt: skip
_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Mount:
    """A mounted file system.

    Attributes:
        kind: Its type as the kernel names it, e.g. "ext4"; "" if it cannot be told.
        source: What is mounted: a device, an export, a file system's name.
        point: Where it is mounted.
        device: Device number, "259:2".
        identity: As statvfs tells it; "" if it does not.
        medium: What it lies on: "rotational", "solid state", "virtual", "network", "memory"; ""
            if it cannot be told.
    """

    kind: str = ""
    source: str = ""
    point: str = ""
    device: str = ""
    identity: str = ""
    medium: str = ""

    @property
    def is_parallel(self) -> bool:
        """Whether many servers share the work."""
        return self.kind in _PARALLEL

    @property
    def is_network(self) -> bool:
        """Whether nodes have it in common."""
        return self.kind in _NETWORK

    @property
    def is_memory(self) -> bool:
        """Whether there is no storage behind it."""
        return self.kind in _MEMORY

    def __str__(self) -> str:
        """For people: type, place and source."""
        return f"{self.kind} on {self.point} ({self.source})" if self.kind else "unknown"
