# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A launcher over a fake Slurm, and its runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stripewise.run.launch import Handle, JobPlan, Outcome, PlainJobs, RunRequest, SlurmLauncher
from stripewise.run.launch import _slurm_pool as pool
from support.fake_slurm import FakeSlurm


def until(condition: Callable[[], Any], seconds: float = 60) -> None:
    """Wait for a condition.

    Raises:
        AssertionError: It does not come true in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


class Jobs:
    """A launcher over a fake Slurm, and its runs."""

    def __init__(self, directory: Path, runs: Any) -> None:
        self.fake = FakeSlurm(directory / "slurm")
        self.directory, self.runs = directory, runs
        self.launcher = self.launch()

    def launch(
        self, plan: JobPlan | None = None, bounds: dict[str, float] | None = None, **options: Any
    ) -> SlurmLauncher:
        """Make another launcher."""
        slurm = self.fake.slurm(**(bounds or {}))
        self.launcher = SlurmLauncher(
            None, plan or PlainJobs(), slurm, self.directory / "jobs", **options
        )
        self.runs.launcher = self.launcher
        return self.launcher

    def again(self, **options: Any) -> SlurmLauncher:
        """Make a launcher as in another process: the tuner was killed."""
        pool.forget_all()
        return self.launch(**options)

    def begin(self, script: str, **options: Any) -> tuple[RunRequest, Handle]:
        """Submit a run and wait until its command runs."""
        request = self.runs.shell(f"touch began; {script}", **options)
        handle = self.launcher.submit(request)
        until(lambda: self.launcher.poll(handle) or (request.directory / "began").exists())
        return request, handle

    def comes_back(self) -> None:
        """Wait until the agent of a job that Slurm began anew waits for orders."""
        path = Path(self.fake.jobs[-1]["directory"])
        until(lambda: any(spool.agent() and spool.is_idle for spool in pool._POOLS[path].live))

    def waits(self, handle: Handle, said: str) -> str:
        """Wait until it is said so of a run that does not begin; return all that is said."""
        until(lambda: self.launcher.wait(handle, 0.2) or said in self.launcher.describe(handle))
        assert not self.launcher.poll(handle)
        return self.launcher.describe(handle)

    def end(self, handle: Handle, seconds: float = 60) -> Outcome:
        """Wait for a run; return its outcome."""
        assert self.launcher.wait(handle, seconds)
        return self.launcher.collect(handle)
