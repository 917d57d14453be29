# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The file system that a directory is on."""

from __future__ import annotations

from dataclasses import dataclass

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
