# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from stripewise.run.launch import Handle, LocalLauncher, Outcome, RunRequest
from stripewise.run.launch import _slurm_pool as pool
from stripewise.run.launch.agent._processes import process_table, send, strays
from support.slurm_jobs import Jobs
from support.small_disk import small_file_system

STAND_IN = Path(__file__).with_name("tuner_stand_in.py")


class Tuner:
    """A tuner in a process of its own."""

    def __init__(self, directory: Path, run_id: str, command: tuple[str, ...]) -> None:
        self.run_id = run_id
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, str(STAND_IN), str(directory), run_id, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def handle(self) -> Handle:
        return Handle(**json.loads((self.directory / "handle.json").read_text()))

    def started(self) -> bool:
        return (self.directory / "handle.json").exists()


class Runs:
    """Makes requests and knows all run ids, to look for what they left."""

    stand_in = STAND_IN

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.launcher = LocalLauncher(None)
        self.run_ids: list[str] = []

    def request(self, *command: str, **options: object) -> RunRequest:
        run_id = str(uuid4())
        self.run_ids.append(run_id)
        work = self.directory / run_id / "work"
        work.mkdir(parents=True)
        record = self.directory / run_id / "record"
        return RunRequest(run_id, command, work, record, **options)  # type: ignore[arg-type]

    def shell(self, script: str, **options: object) -> RunRequest:
        return self.request("/bin/sh", "-c", script, **options)

    def run(self, request: RunRequest, seconds: float = 60) -> tuple[Handle, Outcome]:
        handle = self.launcher.submit(request)
        assert self.launcher.wait(handle, seconds)
        return handle, self.launcher.collect(handle)

    def tuner(self, *command: str) -> Tuner:
        run_id = str(uuid4())
        self.run_ids.append(run_id)
        return Tuner(self.directory / run_id, run_id, command)

    def left(self) -> list[int]:
        return strays(self.run_ids, process_table())

    def outside(self) -> set[int]:
        """Processes of the runs and of their supervisors, wherever they are."""
        table = process_table()
        ours = set(strays(self.run_ids, table))
        records = [str(self.directory / run_id) for run_id in self.run_ids]
        for pid in table:
            try:
                where = os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                continue
            if any(where.startswith(record) for record in records) and table[pid].running:
                ours.add(pid)
        return ours


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path)
    yield made
    for pid in made.left():
        send(pid, 9)


@pytest.fixture
def eventually() -> Callable[..., None]:
    def wait(condition: Callable[[], object], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not come true in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB, where it can be had."""
    with small_file_system(tmp_path / "disk", "256k") as path:
        yield path


@pytest.fixture
def jobs(tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """A launcher over a fake Slurm."""
    monkeypatch.setattr("stripewise.run.launch._slurm.SETTLE_SECONDS", 0.2)
    monkeypatch.setattr("stripewise.run.launch._slurm.STALE_SECONDS", 2.0)
    made = Jobs(tmp_path, runs)
    yield made
    pool.forget_all()
    made.fake.end()
    assert made.fake.processes() == []
