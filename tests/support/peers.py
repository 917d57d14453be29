# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR, mdtest and benchio as `tools/peers.sh` builds them; tests skip where they are not there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FAMILIES = ("mpich", "openmpi")


def peer(name: str, family: str) -> tuple[Path, str]:
    """Return a program and the launcher of its MPI, or skip the test."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("STRIPEWISE_CACHE") or Path(home) / "stripewise")
    program = cache / f"peers-{family}" / "bin" / name
    launcher = shutil.which(f"mpiexec.{family}")
    if launcher is None or not program.exists():
        pytest.skip(f"no {name} of {family}: STRIPEWISE_PEERS=DIRECTORY tools/peers.sh {family}")
    return program, launcher
