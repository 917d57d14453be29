# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Links of a hybrid job on a real Slurm with DataWarp's plugin: in trials, and in run.tuned.sh."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from stripewise.core import Configuration, JobSettings
from stripewise.run.jobs import JobScript
from stripewise.run.launch import ScriptJobs
from stripewise.run.runtime import find_runtime
from stripewise.run.tiers import StoragePool, find_tier
from stripewise.study.job_scripts._tuned_script import write_tuned_script
from stripewise.study.workspace import InputSnapshot
from support.slurm_study import SlurmStudy, until

pytestmark = [pytest.mark.slurm, pytest.mark.mpi, pytest.mark.timeout(600)]

GIB = 1 << 30
FILES = "job.burst_buffer_files"
OPTIONS = (
    "--tier", "datawarp", "--bb-nodes", "1", "--hybrid", "links", "--strategy", "exhaustive",
    "--trials", "2", "--runs", "20", "--only", "job.burst_buffer_nodes", "--only", FILES,
    "--vary", f"{FILES}=btio*", "--keep",
)  # fmt: skip
SCRIPT = """#!/bin/bash
#SBATCH -N 2 -n 4 --ntasks-per-node=2 -t 2
readlink btio.dat
srun sh -c 'readlink btio.dat >&2; {first}exec {kernel} --pattern btio --mode {mode}'
ls -l
"""
MODE = "collective --size 32,32,32 --file btio.dat --keep"


@pytest.fixture(scope="module")
def kernel() -> Path:
    found = find_runtime().core.parents[1] / "bin" / "stripewise-kernel-openmpi"
    if not found.exists():
        pytest.skip("the kernels for Open MPI are not built")
    return found


def tuned(folder: Path, text: str) -> Path:
    """Write the script that a study of this one would leave."""
    script = folder / "run.sh"
    script.write_text(text)
    jobs = ScriptJobs(
        JobScript.parse(text.encode(), "run.sh"),
        1,
        find_tier("datawarp"),
        pool=StoragePool("wlm_pool", GIB, 4 * GIB, 4 * GIB),
        links=True,
        seen=lambda: ("btio.dat", "in.dat"),
    )
    study = folder / "study"
    study.mkdir()
    winner = JobSettings(burst_buffer_nodes=1, burst_buffer_files="btio*,in*")
    made = write_tuned_script(
        jobs,
        Configuration(job=winner),
        runtime=find_runtime(),
        script_path=script,
        study=study,
        snapshot=InputSnapshot(study, folder, {}),
    )
    return made


def submit(cluster, script: Path) -> str:
    """Run a job to the end of its stage-out; return what it said."""
    out, folder = script.with_suffix(".out"), script.parent
    for path in folder.rglob("*"):
        os.chown(path, cluster.user.uid, cluster.user.gid)
    code = 'cd "$1" && exec sbatch --wait --output="$2" "$3"'
    done = cluster.run("sh", "-c", code, "sh", str(folder), str(out), str(script))
    assert "Submitted" in done.stdout, done
    until(lambda: not list((cluster.directory / "bb").iterdir()), 60, lambda: "the teardown")
    return out.read_text()


@pytest.mark.extended
@pytest.mark.parametrize("first", ["", "rm -f btio.dat; sleep 1; "])
def test_the_tuned_script(cluster, kernel, first):
    folder = cluster.scratch / ("links-replaced" if first else "links")
    cluster.run("mkdir", str(folder), check=True)
    script = tuned(folder, SCRIPT.format(kernel=kernel, first=first, mode=MODE))
    said = submit(cluster, script)
    assert "MiB/s" in said, said
    links = [line for line in said.splitlines() if line.endswith("/btio.dat")]
    assert len(links) == 4 or (first and links), "a task of another node removed it already"
    assert ("the program replaced its link" in said) is bool(first)
    listed = said.rpartition("\ntotal ")[2]
    assert (" btio.dat\n" in listed) is bool(first), "it is there before it is copied back"
    result = folder / "btio.dat"
    assert stat.S_ISREG(result.lstat().st_mode)
    assert result.stat().st_size == 32**3 * 40
    assert not list(folder.glob("*.stripewise-*"))


@pytest.mark.extended
def test_a_study(cluster, kernel):
    study = SlurmStudy(cluster, *OPTIONS)
    study.start()
    assert study.end(400) == 0, study.said[-3000:]
    study.check_nothing_is_left()
    result = json.loads((study.folder / "study" / "result.json").read_text())
    (hybrid,) = [trial for trial in result["trials"] if FILES in trial["settings"]]
    assert hybrid["io_seconds"], hybrid
    assert "replaces the links" not in study.said
    records = [path for path in (study.folder / "study").rglob("links") if path.is_file()]
    assert records
    assert all(b" 1 btio.dat\n" in path.read_bytes() for path in records)
