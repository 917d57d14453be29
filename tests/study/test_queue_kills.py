# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of the tuner at random moments while four jobs of its study are in a queue."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from stripewise.study.plan import parse_journal
from support import queue_study
from support.journal_checks import check_runs


class Killed:
    """A study that is killed again and again."""

    def __init__(self, folder: Path, trials: int) -> None:
        self.folder, self.trials = folder, trials
        folder.mkdir()

    def tuner(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, queue_study.__file__, str(self.folder), str(self.trials)],
            stdout=(self.folder / "out").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def records(self) -> list[dict]:
        path = self.folder / "study" / "journal.jsonl"
        return parse_journal(path.read_bytes(), path)[0] if path.exists() else []

    def ids(self, kind: str) -> list[str]:
        return [record["run_id"] for record in self.records() if record["kind"] == kind]

    def markers(self, kind: str) -> Counter[str]:
        names = (path.name.split(".") for path in (self.folder / "log").iterdir())
        return Counter(name[0] for name in names if name[1] == kind)

    def jobs(self) -> list[str]:
        """Return the processes of jobs of this study, pending ones too."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environment = Path("/proc", pid, "environ").read_bytes()
                command = Path("/proc", pid, "cmdline").read_bytes()
            except OSError:
                continue
            if any(run.encode() in environment + command for run in self.ids("run-planned")):
                found.append(command.decode(errors="replace"))
        return found

    def most_in_flight(self) -> int:
        most, in_flight = 0, set[str]()
        for record in self.records():
            if record["kind"] == "run-planned":
                in_flight.add(record["run_id"])
            elif record["kind"] in ("run-finished", "run-dropped"):
                in_flight.discard(record["run_id"])
            most = max(most, len(in_flight))
        return most

    def run(self, kills: int, seed: int) -> int:
        """Kill so often, then let it end; return how often it was killed."""
        random, killed, before = Random(seed), 0, list[str]()
        while True:
            tuner = self.tuner()
            if killed < kills:
                time.sleep(random.uniform(0.4, 1.3))
                if tuner.poll() is None:
                    tuner.send_signal(signal.SIGKILL)
                    killed += 1
            if tuner.wait(timeout=300) != -signal.SIGKILL:
                assert tuner.returncode == 0, (self.folder / "out").read_text()[-3000:]
                return killed
            now = self.ids("run-finished")
            assert now[: len(before)] == before, "a finished run was lost"
            before = now


def check(study: Killed) -> None:
    """Nothing is lost, nothing doubled, nothing orphaned."""
    finished, begun, ended = (
        study.ids("run-finished"), study.markers("begin"), study.markers("end")
    )  # fmt: skip
    check_runs(study.records())
    assert max(Counter(finished).values()) == 1
    assert max(begun.values()) == 1, "a run was started twice"
    assert set(begun) == set(ended), "a run was ended"
    assert set(begun) == set(finished), "a run was lost, or begun for nothing"
    assert study.most_in_flight() == 4
    assert study.jobs() == []


@pytest.mark.extended
@pytest.mark.parametrize(
    ("kills", "trials", "seed"),
    [
        (3, 12, 1),
        pytest.param(20, 90, 2, marks=[pytest.mark.long, pytest.mark.timeout(900)]),
        pytest.param(20, 90, 3, marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
)
def test_a_study_in_a_queue_outlives_its_kills(tmp_path, kills, trials, seed):
    unkilled = queue_study.run(tmp_path / "unkilled", trials)
    study = Killed(tmp_path / "killed", trials)
    assert study.run(kills, seed) == kills, "it ended before it was killed often enough"
    check(study)
    assert json.loads((study.folder / "answer.json").read_text()) == json.loads(
        json.dumps(unkilled)
    )
