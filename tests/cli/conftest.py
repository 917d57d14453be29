# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.core.errors import RuntimeMissingError
from stripewise.run.runtime import find_runtime
from support.job_cluster import JobCluster, job_cluster


@pytest.fixture(scope="session")
def blind_runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runtime whose library records nothing: for what does not depend on records."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler on PATH")
    root = tmp_path_factory.mktemp("runtime")
    (root / "lib" / "plugins").mkdir(parents=True)
    source = root / "core.c"
    source.write_text("int sw_nothing(void);\nint sw_nothing(void) { return 0; }\n")
    core = root / "lib" / "libstripewise.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(core)], check=True)
    return root


@pytest.fixture
def blind(blind_runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRIPEWISE_RUNTIME_DIR", str(blind_runtime))
    return blind_runtime


@pytest.fixture
def built() -> Path:
    """The runtime library itself, for what is told of a real program."""
    try:
        return find_runtime().core
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built (stripewise doctor build)")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobCluster]:
    with job_cluster(tmp_path, monkeypatch) as made:
        yield made
