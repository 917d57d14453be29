# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The metadata kernel and a kernel in one MPI job."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_builds import Kernel
from metadata_builds import MetadataKernel, metadata_kernel

pytestmark = pytest.mark.mpi

KernelOf = Callable[[str], Kernel]
FAMILIES = ("mpich", "openmpi")


def beside(
    kernel: Kernel, other: MetadataKernel, cwd: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    """Start two ranks of each; those that write data take 0.6 s or more."""
    data = "--pattern blocks --local 4096 --op write-read --verify --file data --json data.json"
    data += " --steps 3 --compute 0.3 --compute-kind sleep"
    first = other.words(2, ["--directory", ".", "--files", "20", *words])
    return subprocess.run(
        [*first, ":", "-n", "2", str(kernel.program), *data.split()],
        cwd=cwd, env=other.environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_creates_begin_with_writes_and_stats_with_reads(
    family: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = beside(
        kernel_of(family), metadata_kernel(family), tmp_path, "--json", "names.json",
        "--phases", "create,stat,remove",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    names, data = (
        json.loads((tmp_path / name).read_text()) for name in ("names.json", "data.json")
    )
    assert (names["n_ranks"], data["n_ranks"]) == (2, 2)
    assert data["verified"] is True
    create, stat, remove = ((one["begin_seconds"], one["end_seconds"]) for one in names["phases"])
    passes = data["application"]
    # Nobody reads, or asks for files, before all are written and made; their common start is seen
    # by each when a busy host lets it.
    made = max(create[1], passes["write"]["end_seconds"])
    assert made > 0.5
    assert min(stat[0], passes["read"]["begin_seconds"]) >= made - 0.3
    assert 0 <= create[0] < create[1] <= stat[0] < stat[1] <= remove[0] < remove[1]
    assert not list(tmp_path.glob("stripewise-metadata-*"))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_cannot_run_ends_both_with_one_line(
    family: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = beside(kernel_of(family), metadata_kernel(family), tmp_path, "--json", "data.json")
    said = [line for line in done.stderr.splitlines() if line.startswith("stripewise-")]
    assert done.returncode == 2
    assert len(said) == 1
    assert "--json data.json: application 0 of this job uses it too" in said[0]
    assert not (tmp_path / "data").exists()


@pytest.mark.extended
def test_a_phase_alone_says_nothing_of_others(tmp_path: Path) -> None:
    told = metadata_kernel("mpich").told(1, "--directory", ".", "--files", "3", cwd=tmp_path)
    assert not any("begin_seconds" in phase for phase in told["phases"])
