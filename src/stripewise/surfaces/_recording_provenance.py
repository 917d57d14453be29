# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where and with what a surface was recorded; no names of hosts or directories."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Sequence
from pathlib import Path

import stripewise
from stripewise.machines import find_mount
from stripewise.model import ProgramFacts
from stripewise.runtime import mpi_of_command
from stripewise.text import text_of


def recording_provenance(
    command: Sequence[str], facts: ProgramFacts, directory: Path, sync: bool
) -> dict[str, str]:
    """Return versions, machine and storage; text to text."""
    mpi = mpi_of_command(command)
    version = " ".join(facts.mpi_version.partition(", package")[0].split())
    found = {
        "stripewise": stripewise.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _field(Path("/proc/meminfo"), "MemTotal"),
        "filesystem": facts.filesystem,
        "storage": find_mount(directory).medium,
        "mpi": version or (mpi.label if mpi else ""),
        "mpiio": facts.mpiio_implementation,
        "hdf5": mpi.hdf5.version if facts.uses_hdf5 and mpi and mpi.hdf5 else "",
        "synced": "yes" if sync else "no",
    }
    return {name: text for name, text in found.items() if text}


def _field(path: Path, name: str) -> str:
    """Return the first value of a `name: value` file; "" if it has none."""
    found = re.search(rf"^{name}[ \t]*:(.*)", text_of(path), re.MULTILINE)
    return " ".join(found[1].split()) if found else ""
