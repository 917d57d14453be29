# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's commands print, as strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.run.slurm import JobState, remedy_of, starts_never
from stripewise.run.slurm._commands import is_unreachable, one_line, refused
from stripewise.run.slurm._text import (
    exit_code,
    job_status,
    parse_config,
    parse_records,
    parse_sacct,
    parse_seconds,
    parse_squeue,
    parse_state,
    partition,
)

JOB = (
    "JobId=12 JobName=my job=x UserId=u(1000) Priority=1 JobState=NODE_FAIL Reason=NodeDown "
    "Dependency=(null) Requeue=1 ExitCode=0:15 NodeList=n[1-2] NumNodes=2-2 Comment=a b"
)

POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


def record(*fields):
    return "\x1e" + "\x1f".join(fields) + "\n"


def test_squeue():
    text = record("12", "PENDING", "4", "", "a|b", "burst_buffer/datawarp: setup: x\n  y|z\n")
    text += record("13", "RUNNING", "1", "n1", "c", "None")
    first, second = parse_squeue(text)
    assert (first.job_id, first.state, first.nodes) == (12, JobState.PENDING, 4)
    assert (first.name, first.reason) == ("a|b", "burst_buffer/datawarp: setup: x\n  y|z")
    assert (second.node_list, second.reason) == ("n1", "")


@given(st.text())
def test_parsers_take_anything(text):
    parse_squeue(text)
    parse_sacct(text)
    parse_records(text)
    parse_config(text)
    parse_seconds(text)
    exit_code(text)
    assert parse_state(text) in JobState
    assert "\n" not in str(refused(text))


names = st.text(st.characters(exclude_characters="\x1e\x1f\n", codec="utf-8"), max_size=20)


@given(st.lists(st.tuples(st.integers(1, 1 << 40), st.sampled_from(JobState), names)))
def test_squeue_gives_all_jobs(jobs):
    text = "".join(record(str(n), str(state), "1", "", name, "") for n, state, name in jobs)
    assert [(job.job_id, job.state, job.name) for job in parse_squeue(text)] == jobs


def test_sacct():
    text = "12|CANCELLED by 1000|0:15|2|n[1-2]|a|b\n12.batch|FAILED|1:0|1|n1|batch\n"
    (job,) = parse_sacct(text)
    assert (job.job_id, job.state, job.exit_code, job.name) == (12, JobState.CANCELLED, -15, "a|b")


def test_scontrol_job():
    (found,) = parse_records(JOB)
    assert found["JobName"] == "my job=x"
    job = job_status(found)
    assert (job.state, job.reason, job.exit_code) == (JobState.NODE_FAIL, "NodeDown", -15)
    assert (job.nodes, job.node_list) == (2, "n[1-2]")


def test_config():
    text = "Configuration data as of now\nAccountingStorageType   = accounting_storage/none\n"
    assert parse_config(text + "Prolog = (null)\n") == {
        "AccountingStorageType": "accounting_storage/none",
        "Prolog": "(null)",
    }


def test_partition():
    line = (
        "PartitionName=workq AllowGroups=ALL Default=YES DefaultTime=NONE MaxNodes=UNLIMITED "
        "MaxTime=1-02:00:00 State=UP TotalNodes=4"
    )
    found = partition(parse_records(line)[0])
    assert (found.name, found.is_default, found.is_up, found.nodes) == ("workq", True, True, 4)
    assert (found.most_nodes, found.most_seconds, found.default_seconds) == (None, 93600.0, None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 300), ("5:30", 330), ("01:00:00", 3600), ("1-0", 86400), ("1-1:30", 91800),
        ("UNLIMITED", None), ("", None), ("1-00:00:01", 86401),
    ],
)  # fmt: skip
def test_times(text, seconds):
    assert parse_seconds(text) == seconds


@given(st.integers(0, 99), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_times_have_an_inverse(days, hours, minutes, seconds):
    text = f"{days}-{hours:02d}:{minutes:02d}:{seconds:02d}"
    assert parse_seconds(text) == ((days * 24 + hours) * 60 + minutes) * 60 + seconds


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("Invalid account or account/partition combination specified", "sacctmgr"),
        ("invalid partition specified: x", "sinfo"),
        ("Invalid qos specification", "--qos"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "-t"),
        ("Burst Buffer request invalid", "show burst"),
        ("AssocGrpCPUMinutesLimit", "used up"),
        ("AssocGrpBillingMinutes", "used up"),
        (f"AssocGrpGRESMinutes\nsbatch: error: {POLICY}", "used up"),
        (POLICY, "at a time"),
        (f"AssocMaxSubmitJobLimit\nsbatch: error: {POLICY}", "at a time"),
        ("AssocGrpSubmitJobsLimit", "at a time"),
        ("AssocGrpCPURunMinutesLimit", "at a time"),
        (f"QOSMaxWallDurationPerJobLimit\nsbatch: error: {POLICY}", "-t"),
        ("User's group not permitted to use this partition", "you may use"),
        ("Requested reservation is invalid", "--reservation"),
        ("Requested node configuration is not available", "partition"),
    ],
)
def test_remedies(text, remedy):
    said = f"sbatch: error: {text}\nsbatch: error: Batch job submission failed: {text}\n"
    assert remedy in str(refused(said))
    assert remedy in remedy_of(text)


def test_the_controller_is_away():
    assert is_unreachable(
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller"
    )
    assert is_unreachable("slurm_load_jobs error: Socket timed out on send/recv operation")
    assert is_unreachable(
        "sbatch: error: Munge encode failed: Failed to access /run/munge: No such file"
    )
    assert not is_unreachable("Invalid account")


def test_what_nobody_knows_has_a_remedy_too():
    assert "a word; check whether sbatch --test-only" in str(refused(" "))


@pytest.mark.parametrize(
    "reason",
    [
        "AssocGrpCPUMinutesLimit", "AssocGrpNodeMinutes", "AssocGrpGRESMinutes",
        "QOSGrpBillingMinutes", "AssocMaxBillingMinutesPerJob", "QOSMaxCpuPerJobLimit",
        "QOSMaxGRESPerNode", "QOSMinGRES", "PartitionTimeLimit", "ReservationDeleted",
        "launch failed requeued held", "burst_buffer/datawarp: setup: x",
    ],
)  # fmt: skip
def test_reasons_that_do_not_pass(reason):
    assert starts_never(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "Priority", "Resources", "Licenses", "BurstBufferResources", "AssocMaxJobsLimit",
        "AssocGrpCPURunMinutesLimit", "QOSGrpNodeLimit", "QOSMaxCpuPerUserLimit", "JobHeldUser",
        "ReqNodeNotAvail, UnavailableNodes:n[1-2]", "PartitionDown",
    ],
)  # fmt: skip
def test_reasons_that_pass(reason):
    assert not starts_never(reason)


def test_a_job_that_another_cluster_of_the_federation_took_has_not_ended():
    assert not JobState.REVOKED.ended


def test_long_texts_are_cut_in_the_middle():
    said = one_line("error: first\n" + "x" * 2000 + "\nlast")
    assert len(said) < 500
    assert said.startswith("first")
    assert said.endswith("last")
