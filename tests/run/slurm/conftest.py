# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm clusters with burst buffers for the tests of this folder."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools" / "cluster"
sys.path.insert(0, str(TOOLS))

import cluster as cluster_tool  # noqa: E402


@contextmanager
def running(*, of_root: bool = False, **options: Any) -> Iterator[cluster_tool.Cluster]:
    """A running cluster, gone at the end.

    Args:
        of_root: Its daemons are root's, so that it can be opened to several users; else it is an
            ordinary user's.
        options: Of the cluster: nodes, cpus, accounting, ...
    """
    needed = (*cluster_tool.NEEDED, *cluster_tool.FOR_ACCOUNTING)
    missing = [n for n in needed if not shutil.which(n, path="/usr/bin:/usr/sbin:/bin:/sbin")]
    if missing:
        pytest.skip(f"{', '.join(missing)} missing: `make setup-dev` installs them")
    top = Path(tempfile.mkdtemp(prefix="sw-cluster-"))
    top.chmod(0o755)
    user = cluster_tool.User("root", 0, 0) if of_root else cluster_tool.User.find()
    made = cluster_tool.Cluster(top / "c", user, options)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        left = made.processes()
        shutil.rmtree(top, ignore_errors=True)
        assert not left


@pytest.fixture(scope="session")
def cluster() -> Iterator[cluster_tool.Cluster]:
    """One for all tests of this folder."""
    with running() as made:
        yield made


@pytest.fixture
def large_cluster() -> Iterator[cluster_tool.Cluster]:
    """One with 8 nodes of 32 processors, on which nothing that large can be run."""
    with running(nodes=8, cpus=32, accounting=False) as made:
        yield made


@pytest.fixture(scope="module")
def sampled_cluster() -> Iterator[cluster_tool.Cluster]:
    """One on which Slurm looks every second at what jobs read and write."""
    with running(nodes=2, sampled_seconds=1) as made:
        yield made


@pytest.fixture(scope="module")
def cluster_of_root() -> Iterator[cluster_tool.Cluster]:
    """One that can be opened to several users."""
    with running(of_root=True, nodes=2, slowdown=64) as made:
        yield made
