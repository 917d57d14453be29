# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study of a job script on a real Slurm, while daemons, jobs, nodes and the tuner fail."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from stripewise.run.runtime import find_runtime
from stripewise.run.slurm._commands import STATUS_PER_MINUTE
from support.journal_checks import check_runs
from support.slurm_study import SlurmStudy, until

pytestmark = [pytest.mark.slurm, pytest.mark.mpi, pytest.mark.timeout(600)]

SMALL = ("--trials", "2", "--runs", "16", "--vary", "mpiio.cb_nodes=1,2")
# At least twelve runs, whether a configuration seems to be worth fresh pairs or not: 8 of all are
# kept for these, and a trial takes one run or more beside the first four.
LONGER = (
    *("--trials", "8", "--runs", "24"),
    *("--vary", "mpiio.cb_nodes=1,2,3,4", "--vary", "mpiio.cb_buffer_size=1MiB,2MiB"),
)


@pytest.fixture
def begin(cluster) -> Iterator[Callable[..., SlurmStudy]]:
    """Start a study; at the end nothing of it may be left."""
    kernel = find_runtime().core.parents[1] / "bin" / "stripewise-kernel-openmpi"
    if not kernel.exists():
        pytest.skip("the kernels for Open MPI are not built")
    made: list[SlurmStudy] = []

    def make(*options: str, before: str = ":") -> SlurmStudy:
        made.append(SlurmStudy(cluster, *(options or SMALL), before=before))
        made[-1].start()
        return made[-1]

    yield make
    for study in made:
        if study.tuner is not None and study.tuner.poll() is None:
            study.tuner.kill()
            study.tuner.wait()
    cluster.run("scancel", f"--user={cluster.user.name}")


def check_whole(study: SlurmStudy) -> None:
    """Check the result, and that no run that had ended was lost or repeated."""
    assert study.end() == 0, study.said[-3000:]
    study.check_nothing_is_left()
    records = study.records()
    *_, last = (one for one in records if one.get("name") != "memory-kept")
    assert last["kind"] == "end"
    check_runs(records)
    planned = {one["run_id"]: one["slot"] for one in records if one["kind"] == "run-planned"}
    good = [planned[run] for run, one in study.finished.items() if one["status"] == "ok"]
    assert len(good) == len(set(good))
    assert {"warm-up/1", "baseline/1"} & {name.partition("/anew/")[0] for name in good}
    result = json.loads((study.folder / "study" / "result.json").read_text())
    assert result["trials"], result
    assert "ranks were seen" not in study.said


def check_requests(study: SlurmStudy) -> None:
    """Check that one tuner kept to the bounds of what it may ask."""
    asked = [at for at, name in study.requests if name in ("squeue", "sacct", "scontrol")]
    for first in asked:
        # A busy host starts the command that notes a request up to 2 s after the tuner made it.
        assert sum(first <= at < first + 58 for at in asked) <= STATUS_PER_MINUTE, study.requests


def causes(study: SlurmStudy) -> list[str]:
    """Return why runs did not end well."""
    return [one["cause"] for one in study.finished.values() if one["status"] != "ok"]


@pytest.mark.extended
def test_a_study_is_one_job_and_asks_rarely(begin):
    study = begin("--trials", "4", "--runs", "24", "--vary", "mpiio.cb_nodes=1,2,3,4")
    check_whole(study)
    assert [name for _, name in study.requests].count("sbatch") == 1
    check_requests(study)


@pytest.mark.extended
def test_the_controller_and_the_database_are_killed(cluster, begin):
    study = begin(*LONGER)
    study.until_finished(2)
    cluster.kill("slurmctld")
    before = len(study.finished)
    time.sleep(4)
    cluster.restart("slurmctld")
    until(lambda: len(study.finished) >= before + 2, why=study.state)
    cluster.kill("slurmdbd")
    until(lambda: len(study.finished) >= before + 4, why=study.state)
    cluster.restart("slurmdbd")
    check_whole(study)


@pytest.mark.extended
def test_jobs_and_nodes_are_lost(cluster, begin):
    study = begin(*LONGER)
    assert cluster.run("scancel", study.until_finished(2)).returncode == 0
    cluster.run("scontrol", "requeue", study.until_finished(4))
    job = study.until_finished(7)
    node = cluster.run("squeue", "-h", "-j", job, "-o", "%B").stdout.strip()
    words = ("scontrol", "update", f"nodename={node}")
    assert cluster.run(*words, "state=down", "reason=test").returncode == 0
    try:
        study.until_finished(9)
    finally:
        cluster.run(*words, "state=resume")
    check_whole(study)
    check_requests(study)
    assert set(causes(study)) <= {"signal", "launch"}, study.said
    assert causes(study).count("signal") >= 2


@pytest.mark.extended
def test_the_tuner_is_killed_and_goes_on(begin):
    study = begin(*LONGER)
    for number in (1, 4, 7):
        study.until_finished(number)
        before = study.finished
        assert study.strike(signal.SIGKILL) == -signal.SIGKILL
        study.resume()
        until(lambda before=before: len(study.finished) > len(before), why=study.state)
        assert before.items() <= study.finished.items()
    study.until_finished(9)
    before = study.finished
    assert study.strike(signal.SIGINT) == 130
    study.check_nothing_is_left()
    assert "continue with: stripewise tune --resume --study-dir study" in study.said
    study.resume()
    check_whole(study)
    assert before.items() <= study.finished.items()


@pytest.mark.extended
@pytest.mark.long
def test_allocations_end_and_a_run_exceeds_its_limit(begin):
    hangs = "if mv '{here}/hang' '{here}/hung' 2>/dev/null; then sleep 300; fi; sleep 4"
    options = (*SMALL, "--allocation-time", "2min", "--timeout", "20s")
    study = begin(*options, "--allow-outside", "{here}", before=hangs)
    until(lambda: len(study.finished) >= 2, why=study.state)
    (study.folder / "hang").touch()
    check_whole(study)
    assert (study.folder / "hung").exists()
    assert causes(study) == ["hang"], study.said
    jobs = [one["handle"]["data"]["job_id"] for one in study.of("run-submitted")]
    assert len(set(jobs)) >= 3
    assert all(after >= one for one, after in pairwise(jobs))
    check_requests(study)
