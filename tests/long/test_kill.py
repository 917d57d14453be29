# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of the tuner or of ranks at random moments, with real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from stripewise.run.runtime import find_runtime
from stripewise.study.plan import parse_journal
from support.amounts import share_of
from support.journal_checks import check_runs

pytestmark = [pytest.mark.long, pytest.mark.mpi, pytest.mark.timeout(1200)]

KILLS = share_of(20, 1)
FAMILIES = {"mpich": "mpiexec.mpich", "openmpi": "mpiexec.openmpi"}
PROGRAM = """#!/bin/sh
mkdir "$KILL_TEST_LOG/$STRIPEWISE_RUN_ID.begin.$$"
{mpiexec} -n 2 {kernel} --pattern btio --backend mpiio --size 40,40,40 --keep
code=$?
mkdir "$KILL_TEST_LOG/$STRIPEWISE_RUN_ID.end.$$"
exit $code
"""


class Kills:
    """A study that is killed again and again."""

    def __init__(self, folder: Path, family: str) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.work = folder / "work"
        self.log.mkdir()
        self.work.mkdir()
        kernel = find_runtime().kernels[family]
        program = self.work / "prog.sh"
        program.write_text(PROGRAM.format(mpiexec=FAMILIES[family], kernel=kernel))
        program.chmod(0o755)
        self.study = self.work / "prog.stripewise"
        self.environment = {
            **os.environ,
            "KILL_TEST_LOG": str(self.log),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def tuner(self) -> subprocess.Popen[bytes]:
        resume = ["--resume", "--study-dir", self.study.name]
        begin = ["--trials", "3", "--allow-outside", str(self.log), "--", "./prog.sh"]
        words = resume if self.past_warm_up() else begin
        return subprocess.Popen(
            [sys.executable, "-c", "from stripewise.cli import main; main()", "tune", *words],
            cwd=self.work,
            env=self.environment,
            stdout=(self.folder / "out").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def records(self) -> list[dict]:
        path = self.study / "journal.jsonl"
        return parse_journal(path.read_bytes(), path)[0] if path.exists() else []

    def finished(self) -> list[dict]:
        return [record for record in self.records() if record["kind"] == "run-finished"]

    def past_warm_up(self) -> bool:
        return len(self.finished()) > 1

    def processes(self) -> list[int]:
        """Processes of the program, by their environment; supervisors are not among them."""
        mark = f"KILL_TEST_LOG={self.log}".encode()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                environment = Path("/proc", name, "environ").read_bytes().split(b"\0")
                state = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            of_run = any(e.startswith(b"STRIPEWISE_RUN_ID=") for e in environment)
            if mark in environment and of_run and state != "Z":
                found.append(int(name))
        return found

    def markers(self, kind: str) -> Counter[str]:
        return Counter(p.name.split(".")[0] for p in self.log.iterdir() if f".{kind}." in p.name)


@pytest.fixture(params=FAMILIES)
def kills(request, tmp_path) -> Kills:
    runtime = find_runtime()
    if request.param not in runtime.kernels or not shutil.which(FAMILIES[request.param]):
        pytest.skip(f"no {request.param} here")
    return Kills(tmp_path, request.param)


def wait_for_none(kills: Kills, seconds: float = 30.0) -> list[int]:
    deadline = time.monotonic() + seconds
    while (left := kills.processes()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def kill_something(kills: Kills, tuner: subprocess.Popen[bytes], random: Random) -> str:
    """Kill the tuner (two of three times) or a process of the run."""
    time.sleep(random.uniform(0.05, 3.0))
    ranks = kills.processes()
    if ranks and random.random() < 1 / 3:
        try:
            os.kill(random.choice(ranks), signal.SIGKILL)
        except ProcessLookupError:
            return "nothing"
        return "rank"
    tuner.kill()
    tuner.wait()
    return "tuner"


def test_killed_at_random_moments(kills):
    random = Random(os.environ.get("STRIPEWISE_KILL_SEED", "1"))
    before: list[str] = []
    killed: Counter[str] = Counter()
    tuner = kills.tuner()
    while killed["tuner"] + killed["rank"] < KILLS:
        if tuner.poll() is None:
            killed[kill_something(kills, tuner, random)] += 1
        if tuner.poll() is not None:
            assert wait_for_none(kills) == [], "an orphan is left"
            before = check(kills, before)
            if any(record["kind"] == "end" for record in kills.records()):
                shutil.move(kills.study, kills.folder / f"done-{sum(killed.values())}")
                before = []
            tuner = kills.tuner()
    for _ in range(6):
        if tuner.wait(timeout=300) == 0:
            break
        tuner = kills.tuner()
    assert tuner.returncode == 0, (kills.folder / "out").read_text()[-3000:]
    assert wait_for_none(kills) == []
    check(kills, before)
    assert kills.records()[-1]["kind"] == "end" or kills.finished()


def check(kills: Kills, before: list[str]) -> list[str]:
    """Nothing finished is lost or run twice, but halves of torn pairs; return what finished."""
    finished = kills.finished()
    ids = [record["run_id"] for record in finished]
    if len(before) > 1:
        assert ids[: len(before)] == before, "a finished run was lost"
    assert max(Counter(ids).values(), default=1) == 1
    records = kills.records()
    assert check_runs(records) <= sum(record["kind"] == "resumed" for record in records)
    begins, ends = kills.markers("begin"), kills.markers("end")
    assert max(begins.values(), default=1) == 1, "a run was started twice"
    for record in finished:
        if record["measurement"]["status"] == "ok":
            assert ends[record["run_id"]] == 1
    return ids


def test_all_that_ended_is_in_the_journal(kills):
    """After a kill and a resume, each run whose command ended by itself is known."""
    random = Random(5)
    for _ in range(4):
        tuner = kills.tuner()
        time.sleep(random.uniform(2.0, 5.0))
        tuner.kill()
        tuner.wait()
        assert wait_for_none(kills) == []
    assert kills.tuner().wait(timeout=300) == 0
    known = {record["run_id"] for record in kills.finished()}
    for path in (kills.study / "runs").glob("*/result.json"):
        if not json.loads(path.read_text())["reason"]:
            assert path.parent.name in known
