# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a real Slurm that copy their files to a directory and back, however they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.slurm_study import until

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(300)]

MAIN = "from stripewise.cli import main; main()"
SCRIPT = """#!/bin/bash
#SBATCH -N 1 -n 2 -t 1 {options}
srun -n 2 sh -c 'pwd; cat "in put" > out-$SLURM_PROCID; {code}'
"""


@pytest.fixture
def work(cluster, request) -> Path:
    folder = cluster.scratch / f"fast-{abs(hash(request.node.name))}"
    cluster.run("mkdir", "-p", str(folder / "place"), str(folder / "work"), check=True)
    return folder / "work"


def convert(
    cluster, work: Path, code: str, options: str = "", place: str = ""
) -> subprocess.CompletedProcess[str]:
    """Convert the script for a place that the job's environment names."""
    (work / "run.sh").write_text(SCRIPT.format(code=code, options=options))
    (work / "in put").write_text("input\n")
    for path in work.iterdir():
        os.chown(path, cluster.user.uid, cluster.user.gid)
    place = place or str(work.parent / "$PLACE")
    words = ("settings", "script", "run.sh", "--tier", "directory", "--place", place)
    return cluster.run(sys.executable, "-c", MAIN, *words, cwd=work)


def submit(cluster, work: Path, code: str, options: str = "") -> str:
    """Submit the converted script; return its job."""
    done = convert(cluster, work, code, options)
    assert done.returncode == 0, done
    done = cluster.run(
        "sbatch", "--parsable", "--output=../said", "run.bb.sh", cwd=work,
        environment={"PLACE": "place"},
    )  # fmt: skip
    assert done.returncode == 0, done
    return done.stdout.strip()


def check(cluster, work: Path, job: str, state: str) -> str:
    """Wait for the job's end; return what it said, after a look at what it left."""

    def ended() -> bool:
        said = cluster.run("scontrol", "show", "job", job).stdout
        return f"JobState={state} " in said

    until(ended, 120, lambda: cluster.run("scontrol", "show", "job", job).stdout)
    until(lambda: not list((work.parent / "place").iterdir()), 20, lambda: "the directory is left")
    assert (work / "out-0").read_text().startswith("input\n")
    assert sorted(path.name for path in work.iterdir()) == [
        "in put", "out-0", "out-1", "run.bb.sh", "run.bb.sh.copies", "run.sh",
    ]  # fmt: skip
    return (work.parent / "said").read_text()


def begun(cluster, work: Path, job: str) -> None:
    """Wait until both tasks have written all that they do before they are ended."""

    def there() -> bool:
        found = (work.parent / "place").glob(f"stripewise-{job}-*/*/out-*")
        return [path.read_text() for path in found] == ["input\nmore\n"] * 2

    until(there, 60, lambda: job)


@pytest.mark.extended
@pytest.mark.parametrize(("code", "state"), [("exit 0", "COMPLETED"), ("exit 3", "FAILED")])
def test_a_job_that_ends_by_itself(cluster, work, code, state):
    job = submit(cluster, work, code)
    said = check(cluster, work, job, state)
    assert f"{work.parent}/place/stripewise-{job}-" in said


@pytest.mark.extended
@pytest.mark.parametrize("how", [(), ("--batch", "--signal=TERM"), ("--full", "--signal=TERM")])
def test_a_job_that_is_cancelled(cluster, work, how):
    """The whole job, its batch script alone, and all its processes."""
    job = submit(cluster, work, "echo more >> out-$SLURM_PROCID; sleep 60; echo never >> out-0")
    begun(cluster, work, job)
    assert cluster.run("scancel", *how, job).returncode == 0
    check(cluster, work, job, "FAILED" if how else "CANCELLED")
    assert (work / "out-0").read_text() == "input\nmore\n"


@pytest.mark.extended
def test_a_job_at_its_time_limit(cluster, work):
    # Slurm looks each 30 s and signals up to 30 s early: not before the job has run for 10 s.
    job = submit(cluster, work, "sleep 100", "--signal=B:TERM@20")
    check(cluster, work, job, "FAILED")


def test_several_nodes_are_refused(cluster, work):
    """Each node has a /tmp of its own."""
    done = convert(cluster, work, ":", "--nodes=2", place="/tmp/$PLACE")
    assert done.returncode == 2, done
    assert "name a place that all of them see" in done.stderr
    assert not (work / "run.bb.sh").exists()
