# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is submitted to a fake Slurm, and what it answers."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import UsageError
from stripewise.run.launch import Allocation, PlainJobs
from stripewise.run.slurm import Slurm, SubmissionError
from stripewise.run.slurm._commands import for_command
from support.slurm_jobs import until


def test_words_of_sbatch_are_data(jobs, tmp_path):
    odd = ("--comment=$(touch owned); 'x' \"y\"", "--nodes=2")
    jobs.launch(PlainJobs(arguments=odd, directives=("#DW jobdw capacity=1GiB",)))
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    (job,) = jobs.fake.jobs
    assert all(word in job["words"] for word in odd)
    script = Path(job["script"])
    assert script.read_text().splitlines()[1] == "#DW jobdw capacity=1GiB"
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["%j", "a\\b%j", "-x; $(touch owned)", "\udcff"])
def test_any_name_of_a_directory_is_a_name(jobs, tmp_path, name):
    jobs.directory = tmp_path / name
    jobs.launch()
    assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    (output,) = jobs.directory.rglob("job.out")
    assert jobs.fake.jobs[0]["output"] == str(output)
    assert not list(tmp_path.rglob("owned"))


def test_options_of_a_second_component_stay_behind_ours(jobs):
    jobs.launch(PlainJobs(arguments=("--nodes=1", ":", "--nodes=2", "--output=mine")))
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    words = jobs.fake.jobs[0]["words"]
    middle = words.index(":")
    assert any(word.startswith("--job-name=") for word in words[:middle])
    assert words[middle + 1 : -1] == ["--nodes=2", "--output=mine"]


@pytest.mark.parametrize("words", [("--array=1-3",), ("-a", "1,2"), ("--wait",), ("--wrap=x",)])
def test_options_that_no_run_survives_are_refused(words):
    with pytest.raises(UsageError):
        Allocation(arguments=words)


@pytest.mark.parametrize("words", [("--array=7",), ("-a", "7"), ("-a7",)])
def test_one_element_of_an_array_is_a_job(words):
    Allocation(arguments=words)


def test_directives_are_comments():
    with pytest.raises(UsageError):
        Allocation(directives=("touch x",))
    with pytest.raises(UsageError):
        Allocation(directives=("#DW x\ntouch x",))


def test_signals_of_the_terminal_do_not_reach_slurms_commands(tmp_path):
    """Ctrl-C or a lost terminal would end sbatch before it has said the number of the job."""
    program = tmp_path / "sbatch"
    program.write_text("#!/bin/sh\nps -o sid= -p $$ | tr -d ' '\n")
    program.chmod(0o700)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert Slurm(environment=environment).submit((), tmp_path, tmp_path) != os.getsid(0)


USER = {
    "SBATCH_ACCOUNT": "k01",
    "SBATCH_ARRAY_INX": "1-3",
    "SBATCH_WAIT": "1",
    "SLURM_CLUSTERS": "c2",
    "SLURM_CPU_BIND": "cores",
    "SLURM_TIME_FORMAT": "relative",
    "SLURM_UMASK": "022",
    "SQUEUE_FORMAT": "%i",
}


@pytest.mark.parametrize(
    ("outer", "kept"),
    [
        ({}, {"SBATCH_ACCOUNT", "SLURM_CLUSTERS", "SLURM_CPU_BIND", "SQUEUE_FORMAT"}),
        ({"SLURM_JOB_ID": "7"}, {"SBATCH_ACCOUNT", "SLURM_CLUSTERS", "SQUEUE_FORMAT"}),
    ],
)
def test_jobs_inherit_what_their_srun_reads_and_nothing_that_harms_an_agent(outer, kept):
    found = for_command("sbatch", {**USER, **outer, "HOME": "/h"})
    assert set(found) == {*kept, "HOME"}


def test_the_commands_that_are_read_print_as_they_do_for_anybody():
    assert set(for_command("squeue", USER)) == {"SBATCH_ACCOUNT", "SLURM_CLUSTERS"}


@pytest.mark.extended
def test_a_job_of_another_cluster_is_found_there_by_the_next_tuner_too(jobs):
    jobs.fake.set(cluster="c2", hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert not jobs.launcher.wait(handle, 0.5)
    jobs.again()
    assert not jobs.launcher.wait(handle, 1.0)
    jobs.fake.set(cluster="c2")
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


def test_a_pending_job_of_another_cluster_is_cancelled_there(jobs):
    jobs.fake.set(cluster="c2", hold=True)
    jobs.launcher.submit(jobs.runs.shell(":"))
    jobs.again().close()
    until(lambda: jobs.fake.state() == "CANCELLED")


def test_a_refused_job_says_why_and_what_helps(jobs):
    jobs.fake.set(
        refuse="sbatch: error: Batch job submission failed: "
        "Invalid account or account/partition combination specified"
    )
    with pytest.raises(SubmissionError, match=r"Invalid account.*sacctmgr"):
        jobs.launcher.submit(jobs.runs.shell(":"))
    assert jobs.fake.jobs == []


def test_a_cancelled_run_leaves_no_job_whose_submission_had_no_answer(jobs):
    """The queue is looked at for it, though it was looked at a moment ago."""
    jobs.launch(bounds={"poll_seconds": 1000.0})
    jobs.launcher.slurm.find("nobody's")
    jobs.fake.set(silent=True, hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    jobs.launcher.cancel(handle)
    until(lambda: jobs.fake.state() == "CANCELLED")


def test_cancel_submits_nothing(jobs):
    jobs.fake.set(away=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    jobs.fake.set()
    jobs.launcher.cancel(handle)
    assert jobs.launcher.collect(handle).status is RunStatus.CANCELLED
    assert jobs.fake.jobs == []


class Alternates(PlainJobs):
    """Each run needs an allocation of another kind than the one before it."""

    kinds = itertools.cycle("ab")

    def allocation(self, request):
        return Allocation(next(self.kinds))


@pytest.mark.extended
@pytest.mark.parametrize("per_run", [False, True])
def test_one_job_at_a_time_is_enough(jobs, per_run):
    """As in many QOS for debugging: the allocation that waits makes room for the next one."""
    jobs.fake.set(most_jobs=1)
    jobs.launch(Alternates(), per_run=per_run)
    for _ in range(3):
        assert jobs.end(jobs.launcher.submit(jobs.runs.shell(":"))).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 3


@pytest.mark.extended
def test_a_limit_that_other_jobs_of_the_user_reach_is_said(jobs, monkeypatch):
    jobs.fake.set(most_jobs=0)
    with pytest.raises(SubmissionError, match="at a time"):
        jobs.launcher.submit(jobs.runs.shell(":"))
    jobs.fake.set()
    jobs.end(jobs.launcher.submit(jobs.runs.shell(":")))
    jobs.launch(Alternates())
    monkeypatch.setattr("stripewise.run.launch._slurm_pool.ROOM_SECONDS", 0.5)
    jobs.fake.set(most_jobs=0)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    with pytest.raises(SubmissionError, match="at a time"):
        jobs.launcher.wait(handle, 20)


def test_there_is_no_slurm_here(jobs):
    jobs.fake.environment["PATH"] = "/nonexistent"
    with pytest.raises(UsageError, match="login node"):
        jobs.launcher.submit(jobs.runs.shell(":"))


@pytest.mark.parametrize(
    "said",
    [
        "sbatch: fatal: Could not establish a configuration source",
        "sbatch: error: s_p_parse_file: unable to status file /etc/slurm/slurm.conf: No such file",
    ],
)
def test_commands_that_know_of_no_cluster(jobs, said):
    jobs.fake.set(refuse=said)
    with pytest.raises(UsageError, match="login node, set SLURM_CONF, or use --launcher local"):
        jobs.launcher.submit(jobs.runs.shell(":"))


def test_a_controller_that_is_away_gets_the_job_later(jobs):
    jobs.fake.set(away=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert not jobs.launcher.wait(handle, 1.0)
    assert "not submitted yet" in jobs.launcher.describe(handle)
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1


@pytest.mark.extended
def test_a_submission_without_an_answer_is_not_made_twice(jobs):
    jobs.fake.set(silent=True, hold=True)
    handle = jobs.launcher.submit(jobs.runs.shell(":"))
    assert not jobs.launcher.wait(handle, 1.0)
    jobs.fake.set()
    assert jobs.end(handle).status is RunStatus.OK
    assert len(jobs.fake.jobs) == 1
