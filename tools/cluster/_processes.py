# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the processes of a test cluster."""

from __future__ import annotations

import os
from pathlib import Path


def processes_with(variable: str) -> list[int]:
    """Return the processes with a variable, given as NAME=VALUE, in their environment.

    This process and its ancestors are left out: a shell may have the cluster's environment.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return [number for number in found if number not in _ancestors()]


def _ancestors() -> set[int]:
    """Return this process and its ancestors, which may have the cluster's environment."""
    found, number = set(), os.getpid()
    while number > 1:
        found.add(number)
        status = Path(f"/proc/{number}/stat").read_text()
        number = int(status.rpartition(")")[2].split()[1])
    return found
