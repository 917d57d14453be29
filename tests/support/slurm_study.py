# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tune run.sh` on a test cluster, as its user, to be struck while it runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from stripewise.run.runtime import find_runtime
from stripewise.study.plan import parse_journal

MAIN = "from stripewise.cli import main; main()"
PATIENCE_SECONDS = 240.0
SCRIPT = """#!/bin/bash
#SBATCH -N 2 -n 4 --ntasks-per-node=2 -t 2
{before}
srun {kernel} --pattern btio --mode collective --size 32,32,32 --file btio.dat
"""

COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "scontrol")
LOGGED = """#!/bin/sh
[ -n "$SLURM_JOB_ID" ] || echo "$(date +%s.%N) {name}" >> '{log}'
exec {path} "$@"
"""
"""The tuner's requests; what an agent asks the daemon of its node is none."""


def until(
    condition: Callable[[], Any],
    seconds: float = PATIENCE_SECONDS,
    why: Callable[[], str] = lambda: "",
) -> None:
    """Wait for a condition.

    Args:
        condition: Of what is waited for.
        seconds: How long at most.
        why: Tells how things stand if the condition does not come true.

    Raises:
        AssertionError: It does not come true in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not in {seconds} s: {why()}"
        time.sleep(0.05)


class SlurmStudy:
    """A study in a directory of its own on the cluster.

    Attributes:
        cluster: Of `tools/cluster`.
        folder: With run.sh; the study is in `study` there.
        tuner: Of the last start.
    """

    def __init__(self, cluster: Any, *options: str, before: str = ":") -> None:
        self.cluster = cluster
        self.folder = cluster.scratch / f"study-{uuid4().hex[:8]}"
        self.options = tuple(word.replace("{here}", str(self.folder)) for word in options)
        cluster.run("mkdir", str(self.folder), check=True)
        kernel = find_runtime().core.parents[1] / "bin" / "stripewise-kernel-openmpi"
        script = self.folder / "run.sh"
        script.write_text(SCRIPT.format(kernel=kernel, before=before.format(here=self.folder)))
        for name in COMMANDS:
            self._log(name)
        self.tuner: subprocess.Popen[bytes] | None = None

    def _log(self, name: str) -> None:
        """Put a program in front of one of Slurm's, which notes each call."""
        path = shutil.which(name, path=self.cluster.environment["PATH"])
        program = self.folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(LOGGED.format(name=name, log=self.folder / "requests", path=path))
        program.chmod(0o755)

    # -- the tuner ---------------------------------------------------------------------------

    def start(self, *options: str) -> None:
        """Start the tuner: on the script, or with the options that are given."""
        environment = self.cluster.environment
        environment["PATH"] = f"{self.folder / 'bin'}:{environment['PATH']}"
        environment["STRIPEWISE_KNOWLEDGE"] = str(self.folder / "knowledge.sqlite")
        words = options or ("run.sh", "--study-dir", "study", "--tier", "none", *self.options)
        with (self.folder / "said").open("ab") as said:
            self.tuner = subprocess.Popen(
                self.cluster.user.command(sys.executable, "-c", MAIN, "tune", *words),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def resume(self) -> None:
        """Start the tuner again."""
        self.start("--resume", "--study-dir", "study")

    def end(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for the tuner; return its exit code."""
        assert self.tuner is not None
        return self.tuner.wait(seconds)

    def strike(self, number: signal.Signals) -> int:
        """Send a signal to the tuner; return its exit code."""
        assert self.tuner is not None
        self.tuner.send_signal(number)
        return self.end(60)

    @property
    def said(self) -> str:
        """What the tuner printed."""
        return (self.folder / "said").read_text(errors="replace")

    def state(self) -> str:
        """What the tuner and Slurm say of the study, for a test that fails."""
        steps = self.cluster.run("scontrol", "--oneliner", "show", "step").stdout
        errors = (self.folder / "study" / "runs").glob("*/stderr")
        last = max(errors, key=lambda path: path.stat().st_mtime, default=None)
        said = last.read_text(errors="replace")[-1000:] if last else ""
        return "\n".join((self.said[-2000:], *self.queue(), steps, *self.processes(), said))

    # -- the journal -------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """Return the journal."""
        path = self.folder / "study" / "journal.jsonl"
        return parse_journal(path.read_bytes(), path)[0] if path.exists() else []

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of a kind."""
        return [record for record in self.records() if record["kind"] == kind]

    @property
    def finished(self) -> dict[str, dict[str, Any]]:
        """The runs that have ended, by their identity."""
        return {record["run_id"]: record["measurement"] for record in self.of("run-finished")}

    def until_finished(self, number: int) -> str:
        """Wait until so many runs have ended, and one more is on its way; return its job."""
        job = ""

        def there() -> bool:
            nonlocal job
            assert self.tuner is not None
            assert self.tuner.poll() is None, f"the tuner has ended: {self.said[-3000:]}"
            job = self.running() if len(self.finished) >= number else ""
            return bool(job)

        until(there, why=lambda: f"{number} runs: {self.state()}")
        return job

    def running(self) -> str:
        """Return the job in which a run of the program goes on now; "" if none does."""
        ended = {*self.finished, *(one["run_id"] for one in self.of("run-dropped"))}
        begun = [one for one in self.of("run-submitted") if one["run_id"] not in ended]
        steps = self.cluster.run("squeue", "-h", "-s", "-o", "%i").stdout.split()
        for one in begun:
            job = str(one["handle"]["data"]["job_id"])
            if any(step.partition(".")[0] == job and step[-1].isdigit() for step in steps):
                return job
        return ""

    @property
    def requests(self) -> list[tuple[float, str]]:
        """When the tuner called which command of Slurm."""
        lines = (self.folder / "requests").read_text().splitlines()
        return [(float(stamp), name) for stamp, name in map(str.split, lines)]

    # -- what is left ------------------------------------------------------------------------

    def queue(self) -> list[str]:
        """Return the jobs of the user that have not ended."""
        return self.cluster.run("squeue", "-h", "-o", "%A %T").stdout.splitlines()

    def processes(self) -> list[str]:
        """Return the processes that work in the study, or were told of it."""
        mark, found = os.fsencode(self.folder), []
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or int(entry.name) == os.getpid():
                    continue
                command = (entry / "cmdline").read_bytes()
                if mark in command or mark in os.fsencode(os.readlink(entry / "cwd")):
                    found.append(command.replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return found

    def check_nothing_is_left(self) -> None:
        """Check that queue and process table are as before."""
        until(lambda: not self.queue(), 60, lambda: f"jobs are left: {self.queue()}")
        until(lambda: not self.processes(), 60, lambda: f"processes are left: {self.processes()}")
