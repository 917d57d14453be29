# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A fake Slurm on PATH, and what a test does to it."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from stripewise.run.launch.agent import _processes
from stripewise.run.slurm import RateLimiter, Slurm

_COMMANDS = Path(__file__).with_name("fake_slurm_commands.py")
_MAY_WRITE = (
    'export STRIPEWISE_WRITABLE="${STRIPEWISE_WRITABLE:+$STRIPEWISE_WRITABLE:$FAKE_SLURM}"'
)
"""Slurm keeps its records in daemons; here the commands themselves write them, in a guarded run
too."""
_NAMES = ("sbatch", "squeue", "sacct", "scontrol", "scancel", "srun")


class FakeSlurm:
    """Jobs are processes of this host; nothing is left of them after `end`.

    Settings: away, refuse (text), silent (sbatch takes a job and says nothing), hold (jobs pend),
    reason, pending_seconds, accounting, forget (True: squeue, "all": scontrol too, forget what
    ended), cluster (that has all jobs: commands must name it), most_jobs (at a time), environment
    (of jobs), partition, burst and config (what `scontrol show` prints), steps (the same, of
    any job).
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        commands = directory / "bin"
        commands.mkdir(parents=True)
        for name in _NAMES:
            script = commands / name
            code = f'exec {sys.executable} -S {_COMMANDS} {name} "$@"'
            script.write_text(f"#!/bin/sh\n{_MAY_WRITE}\n{code}\n")
            script.chmod(0o700)
        self.environment = {
            **os.environ,
            "PATH": f"{commands}:{os.environ['PATH']}",
            "FAKE_SLURM": str(directory),
            "FAKE_SLURM_PROCESSES": str(Path(_processes.__file__).parent),
        }
        self.set()

    def set(self, **settings: object) -> None:
        """Say how it behaves from now on."""
        text = json.dumps(settings)
        temporary = self.directory / "settings.tmp"
        temporary.write_text(text)
        temporary.replace(self.directory / "settings.json")

    def slurm(self, **bounds: float) -> Slurm:
        """Return a client that asks as often as a test needs it."""
        given = {"poll_seconds": 0.05, "status_per_minute": 6000, "actions_per_minute": 6000}
        limiter = RateLimiter(**{**given, **bounds})
        return Slurm(limiter=limiter, environment=self.environment, timeout_seconds=60)

    @property
    def jobs(self) -> list[dict]:
        """All jobs."""
        found = [json.loads(path.read_text()) for path in self.directory.glob("job-*.json")]
        return sorted(found, key=lambda job: job["id"])

    @property
    def calls(self) -> list[list]:
        """All calls of commands: time stamp, command, words."""
        log = self.directory / "calls.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def do(self, what: str, job: int = -1) -> None:
        """Do something to a job: cancel, limit, preempt, requeue, crash, crash-requeue."""
        number = self.jobs[job]["id"]
        temporary = self.directory / "do.tmp"
        temporary.write_text(json.dumps({"do": what}))
        temporary.replace(self.directory / f"do-{number}")

    def state(self, job: int = -1) -> str:
        """State of a job."""
        return self.jobs[job]["state"]

    def processes(self) -> list[int]:
        """What runs of all jobs."""
        mark = f"FAKE_SLURM={self.directory}".encode()
        table = _processes.process_table()
        own = os.getpid()
        return [
            pid
            for pid in table
            if pid != own and table[pid].running and mark in _processes._environment(pid)
        ]

    def end(self) -> None:
        """Kill whatever is left."""
        deadline = time.monotonic() + 60
        while (left := self.processes()) and time.monotonic() < deadline:
            for pid in left:
                _processes.send(pid, 9)
            time.sleep(0.02)
