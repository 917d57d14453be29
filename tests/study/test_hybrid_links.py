# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of hybrid jobs whose large files are found through links."""

from __future__ import annotations

import json
import os
import shutil
import stat

import pytest

from stripewise.run.jobs import revert
from stripewise.settings import Policy
from stripewise.study.plan import parse_journal
from support.job_cluster import SCRIPT as SCRIPT_OF_ALL
from support.job_cluster import JobCluster, as_datawarp

NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"
HYBRID = (
    "run.sh", "--strategy", "exhaustive", "--trials", "3", "--bb-nodes", "2", "--no-memory",
    "--only", NODES, "--only", FILES, "--vary", f"{FILES}=out*",
)  # fmt: skip
SCRIPT = SCRIPT_OF_ALL.replace("srun", "case $PWD in */bb-*) exit 1 ;; esac\nsrun")
"""It fails where the whole job is on the burst buffer, so that a hybrid run is the best one."""
REPLACES = '#!/bin/sh\nrm -f "$1"\nexec ./writer "$@"\n'


@pytest.fixture
def cluster(cluster: JobCluster) -> JobCluster:
    """One whose job fails where the whole of it is on the burst buffer."""
    cluster.write(SCRIPT)
    return cluster


@pytest.mark.extended
def test_links_take_the_place_of_redirection(cluster, tmp_path) -> None:
    (cluster.work / "out.old").write_bytes(b"input")
    cluster.write(SCRIPT.replace("input.txt", "out.old"))
    said = cluster.tune(*HYBRID, "--hybrid", "links", "--keep")
    assert said.code == 0, said
    study, tuned = cluster.work / "run.stripewise", cluster.work / "run.tuned.sh"
    result = json.loads((study / "result.json").read_text())
    assert result["configuration"]["job"]["burst_buffer_files"] == "out*", said
    assert result["speedup"]["low"] > 1
    assert "replaces the links" not in said.out
    made = [path.read_bytes() for path in study.glob("**/links") if path.is_file()]
    assert made
    assert all(b'\n"$1" 1 out.dat\n' in text or b'\n"$1" 2 out.dat\n' in text for text in made)
    tasks = [path.read_bytes() for path in study.rglob("task.environment")]
    assert not any(b"STRIPEWISE_REDIRECT" in text for text in tasks)
    line = f"\nsh {study}/tuned.links srun -n 1 ./writer out.dat out.old\n"
    assert line in tuned.read_text()
    assert revert(tuned.read_bytes()) == cluster.script.read_bytes()
    before = os.lstat(cluster.work / "out.old").st_ino
    done = as_datawarp(tuned, tmp_path)
    assert done.returncode == 0, done
    assert (cluster.work / "out.dat").stat().st_size == 4 * 65536
    assert os.lstat(cluster.work / "out.old").st_ino == before
    assert not [path for path in cluster.work.iterdir() if path.is_symlink()]
    assert list((tmp_path / "bb-run").iterdir()) == []  # the job has brought all of it back
    again = cluster.work / "out.dat"
    again.write_bytes(b"an older result")
    shutil.rmtree(tmp_path / "bb-run")
    assert as_datawarp(tuned, tmp_path).returncode == 0
    assert again.stat().st_size == 4 * 65536


@pytest.mark.extended
def test_a_program_that_replaces_its_link_is_named(cluster) -> None:
    cluster.write(REPLACES, "go")
    cluster.write(SCRIPT.replace("./writer", "./go"))
    said = cluster.tune(*HYBRID, "--hybrid", "links", "--keep")
    assert said.code == 0, said
    text = "the program replaces the links of out.dat: these files were written to the parallel"
    assert said.out.count(text) >= 1
    study = cluster.work / "run.stripewise"
    records = parse_journal((study / "journal.jsonl").read_bytes(), study)[0]
    ended = [one["measurement"] for one in records if one["kind"] == "run-finished"]
    ran = sum(one["status"] == "ok" for one in ended)
    made = [path.lstat() for path in study.rglob("out.dat") if "inputs" not in path.parts]
    assert [one.st_size for one in made if stat.S_ISREG(one.st_mode)] == [4 * 65536] * ran


@pytest.mark.extended
def test_redirection_is_the_default(cluster) -> None:
    said = cluster.tune(*HYBRID)
    assert said.code == 0, said
    task = cluster.work / "run.stripewise" / "tuned.task"
    assert b"STRIPEWISE_REDIRECT" in task.read_bytes()
    assert "\nsh " not in (cluster.work / "run.tuned.sh").read_text()


@pytest.mark.extended
def test_a_site_may_prefer_links(cluster, monkeypatch) -> None:
    monkeypatch.setattr(
        "stripewise.study.job_scripts._tools.load_policy", lambda: Policy(hybrid="links")
    )
    said = cluster.tune(*HYBRID)
    assert said.code == 0, said
    assert "tuned.links srun" in (cluster.work / "run.tuned.sh").read_text()


def test_elements_of_an_array_share_no_links(cluster) -> None:
    cluster.write(SCRIPT.replace("--time=10", "--time=10 --array=1-2"))
    cluster.tune(*HYBRID, "--hybrid", "links").error("--hybrid links", "--hybrid redirect")
    assert cluster.submitted == 0
