# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launchers by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.launch._base import Launcher
from stripewise.launch._job_plan import JobPlan, PlainJobs
from stripewise.launch._local import LocalLauncher
from stripewise.launch._null import NullLauncher
from stripewise.runtime import Runtime

DEFAULT_LAUNCHER = "local"

Create = Callable[[Runtime, JobPlan | None, Path | None], Launcher]


def _slurm(runtime: Runtime, plan: JobPlan | None, directory: Path | None) -> Launcher:
    from stripewise.launch._slurm import SlurmLauncher
    from stripewise.slurm import Slurm

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
        name: Of the launcher.
        runtime: What is preloaded.
        plan: How runs become jobs, for launchers that submit jobs; None: the plain way.
        directory: Of such launchers, for what they and their jobs tell each other.

    Raises:
        UsageError: There is none of this name, or it needs a directory.
    """
    if name not in _LAUNCHERS:
        raise UsageError(f"there is no launcher {name!r}; there are {', '.join(_LAUNCHERS)}")
    return _LAUNCHERS[name](runtime, plan, directory)


def register_launcher(name: str, create: Callable[[Runtime], Launcher]) -> None:
    """Add a launcher from outside of this package."""
    _LAUNCHERS[name] = lambda runtime, *_: create(runtime)
