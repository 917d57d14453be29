# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""This machine, described without its name."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from pathlib import Path

from stripewise.knowledge._records import Machine

_NETWORK = (
    "nfs", "nfs4", "lustre", "gpfs", "beegfs", "beegfs_nodev", "pvfs2", "ceph", "panfs",
    "wekafs", "daos", "cifs", "smb3", "9p", "glusterfs", "afs", "fuse.sshfs", "fuse.glusterfs",
)  # fmt: skip
_MEMORY = ("tmpfs", "ramfs")
_MOST_CHARACTERS = 300


def describe_machine(directory: Path, root: Path = Path("/")) -> Machine:
    """Describe the machine and the storage that a directory is on.

    Args:
        directory: Of the study.
        root: Where `proc` and `sys` are (for tests).
    """
    mount = find_mount(os.path.realpath(directory), _read(root / "proc/self/mountinfo"))
    device, kind, source = mount
    return Machine(
        architecture=platform.machine(),
        cpu=cpu_model(_read(root / "proc/cpuinfo")),
        processors=os.cpu_count() or 0,
        memory_bytes=memory_bytes(_read(root / "proc/meminfo")),
        kernel=one_line(platform.release()),
        filesystem=one_line(kind),
        device=_device_kind(kind, device, root),
        storage=_digest(source) if is_network(kind) else "",
    )


def cpu_model(text: str) -> str:
    """Return the processor's model in /proc/cpuinfo; some architectures name parts only."""
    for name in ("model name", "cpu", "CPU part"):
        found = re.search(rf"^{name}\s*:\s*(.+)$", text, flags=re.M)
        if found:
            return one_line(" ".join(found.group(1).split()))
    return ""


def memory_bytes(text: str) -> int:
    """Return the memory in /proc/meminfo; 0 if it is not told."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, flags=re.M)
    return int(found.group(1)) * 1024 if found else 0


def find_mount(path: str, mountinfo: str) -> tuple[str, str, str]:
    """Return device number, type and source of the file system that holds a path.

    Args:
        path: Without links.
        mountinfo: Text of /proc/self/mountinfo.
    """
    best, found = -1, ("", "", "")
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(rest) < 2:
            continue
        point = _unescaped(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, found = len(point), (fields[2], rest[0], _unescaped(rest[1]))
    return found


def is_network(kind: str) -> bool:
    """Whether a type of file system is one that nodes have in common."""
    return kind in _NETWORK


def one_line(text: str) -> str:
    """Return a text without what a terminal cannot show, shortened."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown[:_MOST_CHARACTERS]


def _device_kind(kind: str, device: str, root: Path) -> str:
    if is_network(kind):
        return "network"
    if kind in _MEMORY:
        return "memory"
    place = root / "sys/dev/block" / device
    for queue in (place / "queue/rotational", place / "../queue/rotational"):
        turning = _read(queue).strip()
        if turning:
            real = os.path.realpath(place)
            if "/virtio" in real or "/vbd-" in real or "/virtual/" in real:
                return "virtual"
            return "rotational" if turning == "1" else "solid state"
    return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), text)


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
