# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a launcher, and decides why a run failed."""

from __future__ import annotations

import re
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from stripewise.core import Configuration, FailureCause, RunStatus, Value
from stripewise.storage.emulation import EmulatedRun, EmulatedStorage


@dataclass(frozen=True)
class Resources:
    """What a batch system must be told; None: not known, or as its defaults are.

    Attributes:
        nodes / ranks: Of the job.
    """

    nodes: int | None = None
    ranks: int | None = None


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
        writable: Directories in which files may be made and changed.
        keep_removed: Keep the files in `directory` that the program removes, in a folder there.
        capture: Record single calls: "fold", "all", or "" for counters only.
        resources: For a batch system.
        storage: That files in `directory` are emulated to lie on; None: on what they are.
        mpi_prints: Let Cray MPICH print hints, statistics and timers, in jobs of a script.
        in_reach: The library gets into the program; if not, Cray MPICH gets its hints by a
            variable.
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
    keep_removed: bool = False
    capture: str = ""
    resources: Resources = field(default_factory=Resources)
    storage: EmulatedStorage | None = None
    mpi_prints: bool = False
    in_reach: bool = True


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
        said: The last of its standard output and error, where status is not OK.
        place_lost: Its working directory was gone when it ended.
        emulated: What the storage saw that was emulated; None: none was.
        stage_in_seconds / stage_out_seconds: For the copies of its files to a burst buffer and
            back; None: nothing was copied.
        directory: Where the command worked; None: in the request's directory.
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
    said: str = ""
    place_lost: bool = False
    emulated: EmulatedRun | None = None
    stage_in_seconds: float | None = None
    stage_out_seconds: float | None = None
    directory: Path | None = None

    @property
    def cause(self) -> FailureCause:
        """Why it did not end well."""
        return failure_cause(self)


class Launcher(ABC):
    """Runs commands.

    Attributes:
        name: In handles and journals.
        places: How many runs may be in flight.
        poll_seconds: A run is looked at no more often than this.
        outlives_tuner: Whether runs go on while the tuner is dead; it then waits for them.
        emulates: Whether it can run a program on an emulated storage.
    """

    name: str
    places: int = 1
    poll_seconds: float = 0.5
    outlives_tuner: bool = False
    emulates: bool = False

    @property
    def node_seconds(self) -> float | None:
        """Time of all allocations so far, times their nodes; None: there are none."""
        return None

    @abstractmethod
    def submit(self, request: RunRequest) -> Handle:
        """Start a run.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
        """

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a run that was submitted; None if it never began.

        The tuner may die between the submission and the record of the handle.
        """
        del run_id, record_directory
        return None

    @abstractmethod
    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended.  Also after a restart of the tuner."""

    def pause(self, handles: Sequence[Handle], seconds: float) -> bool:
        """Sleep; return True, early, where it is known that one of these runs has ended."""
        del handles
        time.sleep(seconds)
        return False

    def wait(self, handle: Handle, timeout_seconds: float = inf) -> bool:
        """Wait until the run has ended; False if the time ran out first."""
        deadline = time.monotonic() + timeout_seconds
        while not self.poll(handle):
            rest = min(self.poll_seconds, deadline - time.monotonic())
            if rest <= 0:
                return False
            self.pause([handle], rest)
        return True

    def describe(self, handle: Handle) -> str:
        """Return what a run waits for, for people; "" if it runs, or nothing is known."""
        del handle
        return ""

    @abstractmethod
    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome of an ended run; can be called again and gives the same."""

    @abstractmethod
    def cancel(self, handle: Handle) -> None:
        """End the run and every process of it; returns when nothing of it is left."""

    def close(self) -> None:  # noqa: B027
        """Give back what is held between runs (allocations); the launcher is used no more."""


# Why a run failed, from how it ended and what it said last: the only place that decides it.
#
# What is taken for an outside cause by mistake costs a run or two; what is taken for the
# program's own counts against its settings.

_FROM_OUTSIDE = {
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
}  # fmt: skip
"""Signals that a program does not get by its own mistake (seen: batch systems, OOM killer)."""
_SHELL = 128
"""A shell, Open MPI's mpiexec and srun end with this and the number of a rank's signal."""
_NAMED_SIGNAL = re.compile(r"\bsignal (\d+)\b")
"""MPICH: "EXIT STRING: Killed (signal 9)"; Open MPI: "exited on signal 9 (Killed)"."""
_NO_ROOM = re.compile(
    r"No space left on device|Disk quota exceeded|Stale file handle|Input/output error"
)
"""strerror of ENOSPC, EDQUOT, ESTALE and EIO."""
_NOT_UP = re.compile(
    r"PMIX ERROR|ORTE_ERROR_LOG|session directory|orte_init|prte_init|"
    r"^\[(?:mpiexec|proxy)\S*@|timed? ?out|"
    r"srun: error: (?:Unable|Communication|Node failure|Slurm|Task launch)",
    re.MULTILINE | re.IGNORECASE,
)
"""Open MPI 4 and 5 at their start; Hydra's own errors; time-outs; Slurm's daemons."""
_RANK_FAILED = re.compile(
    r"BAD TERMINATION|MPI_ABORT was invoked|exited on signal|non-zero (?:exit|status)"
)
"""A rank had come up: MPICH's banner, and Open MPI's texts."""


def failure_cause(run: Outcome) -> FailureCause:
    """Return why a run ended as it did."""
    said = run.said
    if run.status is RunStatus.OK:
        return FailureCause.NONE
    if run.status is RunStatus.CANCELLED:
        return FailureCause.SIGNAL
    if run.place_lost or _NO_ROOM.search(said):
        return FailureCause.STORAGE
    if run.status is RunStatus.TIMEOUT:
        return FailureCause.HANG
    if _signal(run.exit_code, said) in _FROM_OUTSIDE:
        return FailureCause.SIGNAL
    if run.exit_code is None and run.status is RunStatus.FAILED:
        return FailureCause.LAUNCH
    if _NOT_UP.search(said) and not _RANK_FAILED.search(said):
        return FailureCause.LAUNCH
    return FailureCause.PROGRAM


def _signal(exit_code: int | None, said: str) -> int:
    """Return the signal that ended the command or one of its ranks; 0 if none did."""
    if exit_code is None:
        return 0
    if exit_code < 0:
        return -exit_code
    if exit_code > _SHELL:
        return exit_code - _SHELL
    named = _NAMED_SIGNAL.search(said)
    return exit_code if named and int(named[1]) == exit_code else 0
