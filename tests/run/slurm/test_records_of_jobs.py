# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Real jobs of each kind: sacct's text and its JSON tell the same of them."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from stripewise.centre.database import Parsed
from stripewise.centre.database.ingest._sacct import Window, read_sacct, recognises_sacct
from stripewise.centre.database.ingest._scheduler import parse_rest, recognises_rest
from stripewise.run.slurm import Sacct

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(300)]

MIB = 1 << 20
WRITES = (
    "import os, time\n"
    "file = os.open('written', os.O_CREAT | os.O_WRONLY)\n"
    f"for _ in range(20): os.write(file, bytes({MIB}))\n"
    "time.sleep(4)\n"
)
READS = (
    "import os, time\n"
    "file = os.open('written', os.O_RDONLY)\n"
    f"while os.read(file, {MIB}): pass\n"
    "time.sleep(4)\n"
)
NAME = "no|r\tmäl, <b>"
AGAIN = 'test -n "$SLURM_RESTART_COUNT" || sleep 100'
WAITING = ("PENDING", "RUNNING", "COMPLETING")


@dataclass
class Jobs:
    """Jobs that were run, and what was read of them.

    Attributes:
        ids: By what they do.
        text / rest: What each way tells.
    """

    cluster: Any
    ids: dict[str, int]
    text: Parsed
    rest: Parsed

    def of(self, parsed: Parsed, what: str) -> list[Any]:
        return [one for one in parsed.records if one.raw_id == self.ids[what]]


def submit(cluster: Any, *words: str) -> int:
    done = cluster.run("sbatch", "--parsable", "--output=/dev/null", *words)
    assert not done.returncode, done.stderr
    return int(done.stdout)


def python(program: str) -> str:
    return f"/usr/bin/python3 -c {shlex.quote(program)}"


def until(cluster: Any, shown: bool, *filters: str) -> None:
    """Wait until squeue shows a job, or none."""
    deadline = time.monotonic() + 60
    while cluster.in_queue(*filters) != shown:
        assert time.monotonic() < deadline, filters
        time.sleep(0.3)


def submit_all(cluster: Any) -> dict[str, int]:
    ids = {
        "requeued": submit(cluster, "-J", "requeued", "--wrap", AGAIN),
        "io": submit(cluster, "-J", NAME, "-t", "2",
                     "--wrap", f"{python(WRITES)}; srun {python(READS)}"),
        "array": submit(cluster, "-J", "array", "-a", "4-5", "-t", "5", "--wrap", "true"),
        "failed": submit(cluster, "-J", "failed", "--wrap", "exit 3"),
        "killed": submit(cluster, "-J", "killed", "--wrap", "kill -9 $$"),
        "cancelled": submit(cluster, "-J", "cancelled", "--wrap", "sleep 100"),
        "het": submit(cluster, "-J", "het", "-n1", ":", "-n1", "--wrap", "true"),
        "waits": submit(cluster, "-J", "waits", "-a", "1-5", "-t", "1-02:03:04", "--wrap", "true"),
        "never": submit(cluster, "-J", "never", "-t", "1-02:03:04", "--wrap", "true"),
    }  # fmt: skip
    for name in ("requeued", "cancelled"):
        until(cluster, True, "--states=R", f"--jobs={ids[name]}")
    time.sleep(1.2)  # submitted and requeued in the same second, both runs would have one key
    cluster.run("scancel", str(ids["cancelled"]), str(ids["never"]))
    cluster.run("scontrol", "requeue", str(ids["requeued"]))
    until(cluster, True, "--states=PD", f"--jobs={ids['requeued']}")
    until(cluster, False, "--states=CG", f"--jobs={ids['requeued']}")
    time.sleep(2)  # a slurmd refuses a job that it killed in the same second ("already killed")
    cluster.run("scontrol", "update", f"jobid={ids['requeued']}", "StartTime=now")
    ended = ",".join(str(number) for name, number in ids.items() if name != "waits")
    until(cluster, False, "--states=PD,R,CG", f"--jobs={ended}")
    return ids


def until_stored(cluster: Any, ids: dict[str, int]) -> None:
    """Wait until slurmdbd knows how all jobs ended; slurmctld tells it a little later."""
    words = ("sacct", "-n", "-P", "-D", "-X", "-a", "-S", "now-1days", "-o", "JobIDRaw,State")
    ended = {str(number) for name, number in ids.items() if name != "waits"}
    deadline = time.monotonic() + 60
    while True:
        lines = [line.split("|") for line in cluster.run(*words).stdout.splitlines()]
        told = [(job, state) for job, state in lines if job in ended]
        again = [state for job, state in told if job == str(ids["requeued"])]
        if (
            {job for job, _ in told} == ended
            and len(again) > 1
            and not any(state.startswith(WAITING) for _, state in told)
        ):
            return
        assert time.monotonic() < deadline, lines
        time.sleep(0.3)


def merged(parts: Iterable[Parsed]) -> Parsed:
    records: dict[tuple[str, int, int], Any] = {}
    problems: list[str] = []
    for part in parts:
        records |= {(one.cluster, one.raw_id, one.submit_at): one for one in part.records}
        problems += part.problems
    return Parsed(tuple(records.values()), tuple(problems))


@pytest.fixture(scope="module")
def jobs(sampled_cluster: Any) -> Jobs:
    cluster = sampled_cluster
    ids = submit_all(cluster)
    until_stored(cluster, ids)
    now = int(time.time()) + 5
    span = Window(now - 90000, now)
    asked = ("sacct", "--json", "--allusers", "--duplicates", "-S", "now-1days")
    rest = cluster.run(*asked, environment={"LC_ALL": "C"}).stdout
    assert recognises_rest(rest.encode()[:4096])
    text = merged(read_sacct(Sacct(environment=cluster.environment), span))
    return Jobs(cluster, ids, text, parse_rest(rest))


@pytest.mark.extended
def test_both_ways_tell_the_same(jobs: Jobs) -> None:
    text, rest = (
        {(one.cluster, one.raw_id, one.submit_at): one for one in parsed.records}
        for parsed in (jobs.text, jobs.rest)
    )
    assert len(text) == 10 + len(jobs.of(jobs.text, "requeued")) - 1
    assert set(text) == set(rest)
    for key, one in text.items():
        expected = dict(one.columns)
        assert one.columns["state"] not in WAITING, key
        if one.raw_id == jobs.ids["failed"]:  # 22.05's JSON says SUCCESS
            expected = {k: v for k, v in expected.items() if "exit" not in k}
        assert dict(rest[key].columns) == expected, key
        for name in ("user", "account", "start_at", "end_at"):
            told = {getattr(other[key], name) for other in (text, rest)}
            assert len(told) == 1, (key, name, told)
        assert one.uid == jobs.cluster.user.uid
        assert one.user == jobs.cluster.user.name


@pytest.mark.extended
def test_tasks_that_wait_are_named_by_each_way(jobs: Jobs) -> None:
    for parsed in (jobs.text, jobs.rest):
        (problem,) = parsed.problems
        assert problem.startswith(f"left out {jobs.ids['waits']}_[")


@pytest.mark.extended
def test_slurm_tells_what_a_job_read_and_what_it_wrote(jobs: Jobs) -> None:
    """In of TRESUsage is what was read, Out what was written: 20 MiB are written, then read."""
    for parsed in (jobs.text, jobs.rest):
        (record,) = jobs.of(parsed, "io")
        assert record.columns["name"] == NAME
        read = record.columns["slurm_read_bytes"]
        written = record.columns["slurm_write_bytes"]
        assert 20 * MIB <= written < 21 * MIB
        assert 20 * MIB <= read < 40 * MIB


@pytest.mark.extended
def test_each_kind_of_job(jobs: Jobs) -> None:
    def columns(what: str) -> dict[str, Any]:
        return dict(jobs.of(jobs.text, what)[-1].columns)

    assert (columns("failed")["state"], columns("failed")["exit_code"]) == ("FAILED", 3)
    assert (columns("killed")["state"], columns("killed")["exit_signal"]) == ("FAILED", 9)
    assert columns("cancelled")["state"] == "CANCELLED"
    assert columns("never")["run_seconds"] is None
    assert columns("never")["time_limit_seconds"] == 93840  # in whole minutes
    tasks = [r for r in jobs.text.records if r.columns["array_job_id"] == jobs.ids["array"]]
    assert sorted(task.columns["array_task_id"] for task in tasks) == [4, 5]
    parts = [r for r in jobs.text.records if r.columns["het_job_id"] == jobs.ids["het"]]
    assert sorted(part.columns["het_offset"] for part in parts) == [0, 1]


@pytest.mark.extended
def test_a_requeued_job_has_two_submit_times(jobs: Jobs) -> None:
    first, second = sorted(jobs.of(jobs.text, "requeued"), key=lambda one: one.submit_at)
    assert first.columns["state"] == "REQUEUED"
    assert second.columns["state"] == "COMPLETED"
    assert first.submit_at < second.submit_at


@pytest.mark.extended
def test_the_form_that_portals_use_is_read_too(jobs: Jobs) -> None:
    from stripewise.centre.database.ingest import parse_sacct
    from stripewise.centre.database.ingest._sacct import FIELDS

    text = jobs.cluster.run(
        *("sacct", "--allusers", "--clusters", "stripewise", "--parsable2", "--noheader"),
        *("--allocations", "--duplicates", "-S", "now-1days", "--format", ",".join(FIELDS)),
        environment={"TZ": "UTC"},
    ).stdout
    assert recognises_sacct(text.encode()[:2000])
    ours = parse_sacct(text)
    for one, other in zip(ours.records, jobs.text.records, strict=True):
        told = {name: other.columns[name] for name in one.columns}
        assert (one.raw_id, dict(one.columns)) == (other.raw_id, told)
        assert "slurm_read_bytes" not in one.columns


@pytest.mark.extended
def test_the_name_of_a_job_forges_no_record_of_another(jobs: Jobs) -> None:
    """A name may hold a line break, and what follows looks like a line of sacct."""
    from stripewise.centre.database.ingest._sacct import FIELDS

    sacct = Sacct(environment=jobs.cluster.environment)
    told = {"jobid": "999", "jobidraw": "999", "user": "victim", "state": "COMPLETED",
            "submit": "2026-01-01", "start": "2026-01-01", "end": "2026-01-02",
            "jobname": "b"}  # fmt: skip
    further = ("restarts", "sluid", "tresusageintot", "tresusageouttot")
    columns = sacct.columns(FIELDS, further)
    lines = ["a", "|".join(told.get(name, "") for name in columns)]
    number = submit(jobs.cluster, "-J", "\n".join(lines), "--wrap", "true")
    found: dict[int, Any] = {}
    deadline = time.monotonic() + 60
    while number not in found and time.monotonic() < deadline:
        now = int(time.time()) + 5
        parsed = merged(read_sacct(sacct, Window(now - 90000, now)))
        found = {one.raw_id: one for one in parsed.records}
    assert 999 not in found
    assert any("1 columns instead of" in text for text in parsed.problems), parsed.problems
    assert found[number].columns["name"] == "a"
