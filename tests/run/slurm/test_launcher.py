# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The launcher on a real Slurm, and what happens to its jobs there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("cases_launcher.py")
NAMES = re.findall(r"^def (test_\w+)", CASES.read_text(), re.MULTILINE)


@pytest.mark.extended
@pytest.mark.slurm
@pytest.mark.mpi
@pytest.mark.timeout(620)
@pytest.mark.parametrize("name", ["TestSlurm", *NAMES])
def test_launcher(cluster, name):
    """Only the user that the cluster belongs to can submit jobs there."""
    words = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--timeout=250", "-k", name)
    done = cluster.run(
        sys.executable,
        "-m",
        "pytest",
        *words,
        str(CASES),
        timeout=600,
        environment={"STRIPEWISE_TEST_CLUSTER": str(cluster.directory)},
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
