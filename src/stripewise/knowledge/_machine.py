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
from stripewise.machines import find_mount
from stripewise.text import text_of

_MOST_CHARACTERS = 300


def describe_machine(directory: Path, root: Path = Path("/")) -> Machine:
    """Describe the machine and the storage that a directory is on.

    Args:
        directory: Of the study.
        root: Where `proc` and `sys` are (for tests).
    """
    mount = find_mount(directory, root)
    return Machine(
        architecture=platform.machine(),
        cpu=cpu_model(text_of(root / "proc/cpuinfo")),
        processors=os.cpu_count() or 0,
        memory_bytes=memory_bytes(text_of(root / "proc/meminfo")),
        kernel=one_line(platform.release()),
        filesystem=one_line(mount.kind),
        device=mount.medium,
        storage=_digest(mount.source) if mount.is_network else "",
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


def one_line(text: str) -> str:
    """Return a text without what a terminal cannot show, shortened."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown[:_MOST_CHARACTERS]


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:16]
