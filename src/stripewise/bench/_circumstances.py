# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What else goes on while a run is made, and what a campaign is made with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import stripewise
from stripewise.machines import find_mount

_SECONDS = 10.0


def circumstances(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the load of this host, and the jobs that others run where Slurm tells.

    Args:
        environment: Of this process; default: `os.environ`.
    """
    environment = os.environ if environment is None else environment
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 2)}
    if (jobs := _running_jobs()) is not None:
        found["other_jobs"] = max(jobs - ("SLURM_JOB_ID" in environment), 0)
    if nodes := environment.get("SLURM_JOB_NODELIST"):
        found["node_list"] = nodes
    return found


def _running_jobs() -> int | None:
    """Return how many jobs run on the cluster; None: there is no Slurm that tells."""
    squeue = shutil.which("squeue")
    if squeue is None:
        return None
    words = [squeue, "--noheader", "--states=running", "--format=%A"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return len(done.stdout.split()) if done.returncode == 0 else None


def about_system(inside: Path) -> dict[str, Any]:
    """Return what a campaign is made with: system, memory, versions, file system.

    Args:
        inside: Directory on the storage.
    """
    mount = find_mount(inside)
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": platform.node(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "file_system": str(mount),
        "file_system_kind": mount.kind,
        "stripewise": stripewise.__version__,
        "python": platform.python_version(),
        "versions": {},
    }
