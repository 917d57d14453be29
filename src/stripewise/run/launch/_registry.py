# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates launchers by name, including "null", which ends runs without starting anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from stripewise.core import RunStatus
from stripewise.core.errors import UsageError
from stripewise.run.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.run.launch._job_plan import JobPlan, PlainJobs
from stripewise.run.launch._local import LocalLauncher
from stripewise.run.runtime import Runtime

# A launcher whose runs end immediately without being started.


class NullLauncher(Launcher):
    """Launcher that starts nothing: every run succeeds immediately and moves no bytes.

    It shows a procedure without its runs, and is a minimal example of a launcher.
    """

    name = "null"

    def submit(self, request: RunRequest) -> Handle:
        """Record the time of the submission."""
        return Handle(self.name, request.run_id, {"started_unix_seconds": time.time()})

    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended, which is always true."""
        return True

    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome, which is the same for every run."""
        return Outcome(
            status=RunStatus.OK,
            exit_code=0,
            elapsed_seconds=1e-9,
            started_unix_seconds=float(handle.data["started_unix_seconds"]),
            io_seconds=0.0,
        )

    def cancel(self, handle: Handle) -> None:
        """Do nothing, since nothing runs."""


# Launchers by name.

DEFAULT_LAUNCHER = "local"

Create = Callable[[Runtime, JobPlan | None, Path | None], Launcher]


def _slurm(runtime: Runtime, plan: JobPlan | None, directory: Path | None) -> Launcher:
    from stripewise.run.launch._slurm import SlurmLauncher
    from stripewise.run.slurm import Slurm

    if directory is None:
        raise UsageError("the launcher slurm needs a directory that compute nodes see")
    return SlurmLauncher(runtime, plan or PlainJobs(), Slurm(), directory)


_LAUNCHERS: dict[str, Create] = {
    LocalLauncher.name: lambda runtime, *_: LocalLauncher(runtime),
    NullLauncher.name: lambda *_: NullLauncher(),
    "slurm": _slurm,
}


def create_launcher(
    name: str, runtime: Runtime, plan: JobPlan | None = None, directory: Path | None = None
) -> Launcher:
    """Return a launcher that preloads a runtime library.

    Args:
        name: Name of the launcher.
        runtime: Runtime to preload.
        plan: Plan of jobs, for launchers that submit jobs; None for the plain one.
        directory: Directory in which such launchers and their jobs exchange files.

    Raises:
        UsageError: There is no such launcher, or it needs a directory.
    """
    if name not in _LAUNCHERS:
        raise UsageError(f"there is no launcher {name!r}; there are {', '.join(_LAUNCHERS)}")
    return _LAUNCHERS[name](runtime, plan, directory)


def register_launcher(name: str, create: Callable[[Runtime], Launcher]) -> None:
    """Register a launcher from outside this package."""
    _LAUNCHERS[name] = lambda runtime, *_: create(runtime)
