# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several kernels in one MPI job."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kernel_builds import PATIENCE_SECONDS, Kernel

KernelOf = Callable[[str], Kernel]

pytestmark = pytest.mark.mpi

FAMILIES = ("mpich", "openmpi")


def together(
    kernel: Kernel, cwd: Path, *applications: str, ranks: int = 1, io: str = ""
) -> subprocess.CompletedProcess[str]:
    """Start one kernel an application, each with its ranks."""
    environment = dict(os.environ)
    words = [f"mpiexec.{kernel.family}"]
    if kernel.family == "openmpi":
        words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        environment |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
    environment |= {"OMPI_MCA_io": io} if io else {}
    for number, options in enumerate(applications):
        words += [":"] if number else []
        words += ["-n", str(ranks), str(kernel.program), *options.split()]
    return subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("family", "io"), [("mpich", ""), ("openmpi", "ompio"), ("openmpi", "romio321")]
)
def test_two_applications_write_their_own_files(
    family: str, io: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = together(
        kernel_of(family),
        tmp_path,
        "--pattern blocks --local 1000 --backend posix --op write-read --verify --keep --file a "
        "--json a.json",
        "--size 5,6,7 --backend mpiio --mode collective --verify --keep --file b --json b.json",
        ranks=2,
        io=io,
    )
    assert done.returncode == 0, done.stderr
    a, b = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert (a["n_ranks"], b["n_ranks"]) == (2, 2)
    assert (a["verified"], b["verified"]) == (True, True)
    assert [one["application"]["number"] for one in (a, b)] == [0, 1]
    assert a["application"]["n_applications"] == 2
    assert a["application"]["n_world_ranks"] == 4
    spans = [one["application"]["write"] for one in (a, b)]
    assert all(0 <= span["begin_seconds"] < span["end_seconds"] for span in spans)
    # Nobody reads before the slowest has written.
    reading = a["application"]["read"]["begin_seconds"]
    assert reading >= max(span["begin_seconds"] for span in spans)
    assert b["application"]["read"] is None
    assert np.fromfile(tmp_path / "a", np.int64).tolist() == list(range(1, 2001))
    assert np.fromfile(tmp_path / "b", np.int64).tolist() == list(range(1, 211))


@pytest.mark.extended
def test_one_application_says_nothing_of_others(kernel_of: KernelOf, tmp_path: Path) -> None:
    done = kernel_of("mpich").run(2, ["--size", "4,4,4", "--json", "-"], cwd=tmp_path)
    assert json.loads(done.stdout)["application"] is None


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("--file a", "--file a", "--file a: application 0 of this job uses it too"),
        ("--file a --json j", "--file b --json j", "--json j: application 0 of this job uses it"),
        ("--file a", "--file b --steps 0", "--steps '0': give a whole number"),
        ("--file a --json none/j", "--file b", "--json: cannot write none/j"),
    ],
)
def test_what_cannot_run_ends_all_with_one_line(
    family: str, first: str, second: str, said: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = together(kernel_of(family), tmp_path, first, second)
    assert done.returncode in (1, 2)
    told = [line for line in done.stderr.splitlines() if line.startswith("stripewise-kernel: ")]
    assert len(told) == 1
    assert said in told[0]
    assert list(tmp_path.glob("[ab]")) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_failure_of_one_does_not_stop_the_other(
    family: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    done = together(
        kernel_of(family),
        tmp_path,
        "--backend posix --file none/a --op write-read",
        "--backend posix --size 4,4,4 --file b --op write-read --verify --json b.json",
    )
    assert done.returncode != 0
    assert "open(none/a): No such file or directory" in done.stderr
    assert json.loads((tmp_path / "b.json").read_text())["verified"] is True


def test_both_may_read_one_file(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = "--size 4,4,4 --backend posix --file a"
    assert kernel.run(1, [*words.split(), "--keep"], cwd=tmp_path).returncode == 0
    reading = f"{words} --op read --verify"
    assert together(kernel, tmp_path, reading, reading, reading).returncode == 0
