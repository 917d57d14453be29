# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a launcher: submit -> durable handle -> poll -> collect -> cancel."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.model import Configuration, RunStatus, Value


@dataclass(frozen=True)
class RunRequest:
    """What to run.

    Attributes:
        run_id: UUID text; a launcher is asked at most once per run_id.
        command: Arguments, not a shell line.
        directory: Working directory of the run, made by the caller (the sandbox).
        record_directory: Where evidence goes (stdout, stderr, result, containers/); outside
            the working directory.
        configuration: To be applied.
        settings: The same as tunable name to value (what a replayed launcher looks up).
        timeout_seconds: Then the run is stopped and its status is TIMEOUT.
        sync: fsync at close, so that data is on the storage when the clock stops.
        writable: Directories in which existing files may be opened for writing.
        environment: Added to the caller's environment.
        capture: Record single calls: "fold", "all", or "" for counters only.
    """

    run_id: str
    command: tuple[str, ...]
    directory: Path
    record_directory: Path
    configuration: Configuration = field(default_factory=Configuration)
    settings: Mapping[str, Value] = field(default_factory=dict)
    timeout_seconds: float | None = None
    sync: bool = True
    writable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    capture: str = ""


@dataclass(frozen=True)
class Handle:
    """Durable: plain data that finds the run again after the tuner was killed.

    Attributes:
        launcher: Name of the launcher.
        run_id: Of the request.
        data: JSON-serialisable; means something to its launcher only.
    """

    launcher: str
    run_id: str
    data: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What the launcher itself knows of an ended run.

    Attributes:
        status: OK, FAILED, TIMEOUT or CANCELLED (UNSEEN is found later, from containers).
        exit_code: Of the command; negative: minus the signal.
        elapsed_seconds: Wall clock of the command.
        started_unix_seconds: When it started.
        containers: Container files to read.
        io_seconds / read_bytes / write_bytes: Only where there are no containers (replayed).
        message: One line where status is not OK.
    """

    status: RunStatus
    exit_code: int | None
    elapsed_seconds: float
    started_unix_seconds: float
    containers: tuple[Path, ...] = ()
    io_seconds: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    message: str = ""


class Launcher(ABC):
    """Runs commands."""

    name: str

    @abstractmethod
    def submit(self, request: RunRequest) -> Handle:
        """Start a run.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
        """

    @abstractmethod
    def poll(self, handle: Handle) -> bool:
        """Whether the run has ended.  Also after a restart of the tuner."""

    def wait(self, handle: Handle, timeout_seconds: float | None = None) -> bool:
        """Wait until the run has ended; False if the time ran out first.

        Looks seldom at runs that take long: the error is below 2 % of the waiting time.
        """
        begun = time.monotonic()
        while not self.poll(handle):
            waited = time.monotonic() - begun
            if timeout_seconds is not None and waited >= timeout_seconds:
                return False
            pause = min(max(waited / 50, 0.001), 0.5)
            if timeout_seconds is not None:
                pause = min(pause, max(timeout_seconds - waited, 0.0))
            time.sleep(pause)
        return True

    @abstractmethod
    def collect(self, handle: Handle) -> Outcome:
        """Outcome of an ended run; can be called again and gives the same."""

    @abstractmethod
    def cancel(self, handle: Handle) -> None:
        """End the run and every process of it; returns when nothing of it is left."""
