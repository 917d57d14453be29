# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign through a real Slurm: its jobs, a node that goes down, a tuner that is killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from stripewise.run.runtime import find_runtime
from support.slurm_study import MAIN, until

pytestmark = [pytest.mark.slurm, pytest.mark.mpi, pytest.mark.timeout(600)]

SUITE = """
version = 1
name = "small"
title = "Small cases on nodes"
repeats = {repeats}

[all]
rank_size = "{size}"
nodes = [1, 2]
ranks_per_node = 1
operation = "write-read"

[[case]]
series = "file per process"
layout = "per-process"

[[case]]
series = "MPI-IO"
backend = "mpiio"
mode = "collective"
"""


class SlurmCampaign:
    """A campaign in a directory of its own on the cluster."""

    def __init__(self, cluster: Any, repeats: int, size: str) -> None:
        self.cluster = cluster
        self.folder: Path = cluster.scratch / f"campaign-{uuid4().hex[:8]}"
        cluster.run("mkdir", str(self.folder), check=True)
        (self.folder / "small.toml").write_text(SUITE.format(repeats=repeats, size=size))
        self.words = ["small.toml", "--launcher", "slurm", "--mpi", "openmpi", "--wall", "5min"]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        with (self.folder / "said").open("ab") as said:
            self.process = subprocess.Popen(
                self.cluster.user.command(sys.executable, "-c", MAIN, "bench", "run", *options),
                cwd=self.folder,
                env=self.cluster.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def end(self) -> int:
        assert self.process is not None
        return self.process.wait(240)

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text(errors="replace")

    def records(self, kind: str) -> list[dict[str, Any]]:
        path = self.folder / "small.campaign" / "journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        found = [json.loads(line)["record"] for line in lines if line.endswith(b"}\n")]
        return [one for one in found if one["kind"] == kind]

    def check_whole(self, repeats: int, cases: int = 4) -> None:
        """Check that every run was made once, and that nothing is left."""
        assert self.end() == 0, self.said
        campaign = read_directory_of(self.folder / "small.campaign")
        made = Counter((run["key"], run["repeat"]) for run in campaign)
        assert len(made) == cases * repeats, self.said
        assert set(made.values()) == {1}
        assert {run["status"] for run in campaign} == {"ok"}, campaign
        assert not (self.folder / "small.campaign.files").exists()
        queue = ("squeue", "-h", f"--user={self.cluster.user.name}")
        until(lambda: not self.cluster.run(*queue).stdout.strip(), 60)


def read_directory_of(path: Path) -> list[dict[str, Any]]:
    """Return the runs; the directory is the cluster's user's, who reads it."""
    lines = (path / "journal.jsonl").read_bytes().splitlines()
    records = [json.loads(line)["record"] for line in lines]
    return [one["run"] for one in records if one["kind"] == "run-finished"]


@pytest.fixture
def begin(cluster: Any) -> Iterator[Callable[[int], SlurmCampaign]]:
    if "openmpi" not in find_runtime().kernels:
        pytest.skip("the kernel for Open MPI is not built")
    made: list[SlurmCampaign] = []

    def make(repeats: int, size: str = "1 MiB", *options: str) -> SlurmCampaign:
        made.append(SlurmCampaign(cluster, repeats, size))
        made[-1].start(*made[-1].words, *options)
        return made[-1]

    yield make
    for one in made:
        if one.process is not None and one.process.poll() is None:
            one.process.kill()
            one.process.wait()
    cluster.run("scancel", f"--user={cluster.user.name}")


@pytest.mark.extended
def test_a_campaign_in_jobs(begin: Callable[[int], SlurmCampaign]) -> None:
    campaign = begin(2)
    campaign.check_whole(2)
    runs = [one["run"] for one in campaign.records("run-finished")]
    assert all("other_jobs" in run["circumstances"] for run in runs)
    assert all(run["written_bytes"] for run in runs)


@pytest.mark.extended
def test_the_tuner_is_killed(begin: Callable[..., SlurmCampaign]) -> None:
    campaign = begin(4)
    for number in (2, 6):
        until(lambda n=number: len(campaign.records("run-finished")) >= n,
              why=lambda: campaign.said)  # fmt: skip
        assert campaign.process is not None
        campaign.process.send_signal(signal.SIGKILL)
        campaign.process.wait()
        campaign.start("--resume")
    campaign.check_whole(4)


def hold(campaign: SlurmCampaign, held: list[int]) -> bool:
    """Stop the ranks of a run, so that it cannot end; add their processes to `held`."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            program, *words = status.read_text(errors="replace").split("\0")
            of_campaign = any(word.startswith(str(campaign.folder)) for word in words)
            if "stripewise-kernel" in program and of_campaign:
                os.kill(int(status.parent.name), signal.SIGSTOP)
                held.append(int(status.parent.name))
        except OSError:  # it has just ended
            continue
    return bool(held)


@pytest.mark.extended
def test_a_node_that_goes_down_is_recorded(
    cluster: Any, begin: Callable[..., SlurmCampaign]
) -> None:
    campaign = begin(3, "64 MiB", "--nodes", "2")  # one allocation, so that it is the run's
    until(lambda: campaign.records("run-finished"), why=lambda: campaign.said)
    held: list[int] = []
    until(lambda: hold(campaign, held), why=lambda: campaign.said)
    strike(cluster)
    for process in held:
        with contextlib.suppress(ProcessLookupError):  # Slurm has ended it
            os.kill(process, signal.SIGCONT)
    campaign.check_whole(3, cases=2)
    # Slurm forgets some jobs of failed nodes at once, and then there is only the job's number.
    failed = re.compile(r"NODE_FAIL on n|ode failure on n|Slurm does not know its job \d")
    why = [str(one["why"]) for one in campaign.records("run-dropped")]
    named = [one for one in why if failed.search(one)]
    assert named, why
    assert named[0] in campaign.said


def strike(cluster: Any) -> None:
    """Let the first node of a running job go down for some seconds."""
    running = ("squeue", "-h", "-t", "R", "-o", "%B")
    node = cluster.run(*running).stdout.split()[-1]
    words = ("scontrol", "update", f"nodename={node}")
    assert cluster.run(*words, "state=down", "reason=test").returncode == 0
    time.sleep(8)
    cluster.run(*words, "state=resume")


@pytest.mark.extended
def test_more_nodes_than_the_partition_has(begin: Callable[[int], SlurmCampaign]) -> None:
    campaign = begin(1)
    assert campaign.end() == 0, campaign.said
    campaign.start(*campaign.words, "--force", "--nodes", "999")
    assert campaign.end() == 2
    assert "--nodes 999: a job in the partition" in campaign.said
