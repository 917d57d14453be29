# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a job script before anything is submitted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stripewise.run.slurm import Slurm
from stripewise.study.job_scripts._prepared import prepare_job
from stripewise.study.plan._options import JobOptions, StudyOptions
from support.job_cluster import SCRIPT, JobCluster, job_cluster


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobCluster]:
    with job_cluster(tmp_path, monkeypatch) as made:
        yield made


@pytest.mark.parametrize(
    ("options", "nodes", "hosts"),
    [("--nodes=2", 2, 2), ("--nodes=1\n#SBATCH hetjob\n#SBATCH --nodes=3", 4, 1)],
)
def test_node_hours_are_those_of_the_job_and_hosts_those_of_the_program(
    cluster: JobCluster, options: str, nodes: int, hosts: int
) -> None:
    cluster.write(SCRIPT.replace("--nodes=1", options))
    job = JobOptions("run.sh", tier="none")
    prepared = prepare_job(StudyOptions(("run.sh",), origin=cluster.work, job=job), Slurm())
    assert (prepared.jobs.nodes, prepared.hosts) == (nodes, hosts)
