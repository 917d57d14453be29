# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One Slurm cluster with burst buffers for all tests of this folder."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "cluster"
sys.path.insert(0, str(TOOLS))

import cluster as cluster_tool  # noqa: E402


@pytest.fixture(scope="session")
def cluster() -> Iterator[cluster_tool.Cluster]:
    """A running cluster of an ordinary user; gone at the end."""
    names = (*cluster_tool.NEEDED, *cluster_tool.FOR_ACCOUNTING)
    missing = [n for n in names if not shutil.which(n, path="/usr/bin:/usr/sbin:/bin:/sbin")]
    if missing:
        pytest.skip(f"{', '.join(missing)} missing: `make setup-dev` installs them")
    top = Path(tempfile.mkdtemp(prefix="sw-cluster-"))
    top.chmod(0o755)
    made = cluster_tool.Cluster(top / "c")
    made.start()
    try:
        yield made
    finally:
        made.stop()
        left = made.processes()
        shutil.rmtree(top, ignore_errors=True)
        assert not left
