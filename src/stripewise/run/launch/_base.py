# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of launchers, and determines why a run failed."""

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
    """Resources for a batch system; None if unknown or left at its defaults.

    Attributes:
        nodes / ranks: Numbers of nodes and ranks of the job.
    """

    nodes: int | None = None
    ranks: int | None = None


@dataclass(frozen=True)
class RunRequest:
    """Request to run a command.

    Attributes:
        run_id: UUID as text; each is submitted at most once.
        command: Words of the command, not a shell line.
        directory: Working directory of the run, created by the caller (the sandbox).
        record_directory: Directory for the evidence (stdout, stderr, result, containers/), outside
            the working directory.
        configuration: Configuration to apply.
        settings: The same settings as tunable name to value, for the replaying launcher.
        timeout_seconds: Time limit, at which the run is stopped with the status TIMEOUT.
        sync: Whether to call fsync at close, so that data are on storage when the clock stops.
        writable: Directories in which files may be created and changed.
        keep_removed: Whether to keep files in `directory` that the program removes, in a folder
            there.
        capture: How to record single calls: "fold", "all", or empty for counters only.
        resources: Resources to request from a batch system.
        storage: Storage system to emulate for files in `directory`; None for no emulation.
        mpi_prints: Whether Cray MPICH prints hints, statistics and timers, in jobs of a script.
        in_reach: Whether the library can be preloaded; if not, Cray MPICH gets hints by a
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
    """Durable handle: plain data with which a restarted tuner finds a run.

    Attributes:
        launcher: Name of the launcher.
        run_id: Id of the run in the request.
        data: JSON-serialisable data for its launcher only.
    """

    launcher: str
    run_id: str
    data: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """Outcome of an ended run as known to its launcher.

    Attributes:
        status: OK, FAILED, TIMEOUT or CANCELLED (UNSEEN is determined later, from containers).
        exit_code: Exit code of the command, or minus the number of a signal.
        elapsed_seconds: Wall-clock time of the command.
        started_unix_seconds: Start of the run in seconds since 1970.
        containers: Container files to read.
        io_seconds / read_bytes / write_bytes: Figures of a replayed run without containers.
        message: One line of explanation if status is not OK.
        output: End of its standard output and error if status is not OK.
        place_lost: Whether its working directory no longer existed when it ended.
        emulated: Figures recorded by the emulated storage; None without emulation.
        stage_in_seconds / stage_out_seconds: Times to copy its files to a burst buffer and back;
            None if nothing was copied.
        directory: Directory in which the command worked; None for that of the request.
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
    output: str = ""
    place_lost: bool = False
    emulated: EmulatedRun | None = None
    stage_in_seconds: float | None = None
    stage_out_seconds: float | None = None
    directory: Path | None = None

    @property
    def cause(self) -> FailureCause:
        """Cause of the failure."""
        return failure_cause(self)


class Launcher(ABC):
    """Base class of launchers, which run commands.

    Attributes:
        name: Name in handles and journals.
        max_in_flight: Maximum number of simultaneous runs.
        poll_seconds: Minimum interval between two polls of a run.
        outlives_tuner: Whether runs continue after the tuner died, so that a new one waits for
            them.
        emulates: Whether it can run programs on emulated storage.
    """

    name: str
    max_in_flight: int = 1
    poll_seconds: float = 0.5
    outlives_tuner: bool = False
    emulates: bool = False

    @property
    def node_seconds(self) -> float | None:
        """Node seconds of all allocations so far; None for launchers without allocations."""
        return None

    @abstractmethod
    def submit(self, request: RunRequest) -> Handle:
        """Start a run.

        Raises:
            ProgramError: The command does not exist or cannot be executed.
        """

    def find_again(self, run_id: str, record_directory: Path) -> Handle | None:
        """Return the handle of a submitted run; None if it was never submitted.

        This is needed if the tuner died before it recorded the handle.
        """
        del run_id, record_directory
        return None

    @abstractmethod
    def poll(self, handle: Handle) -> bool:
        """Return whether the run has ended, also after a restart of the tuner."""

    def pause(self, handles: Sequence[Handle], seconds: float) -> bool:
        """Sleep; return True early if one of the runs is known to have ended."""
        del handles
        time.sleep(seconds)
        return False

    def wait(self, handle: Handle, timeout_seconds: float = inf) -> bool:
        """Wait until the run has ended; return False if the time runs out first."""
        deadline = time.monotonic() + timeout_seconds
        while not self.poll(handle):
            rest = min(self.poll_seconds, deadline - time.monotonic())
            if rest <= 0:
                return False
            self.pause([handle], rest)
        return True

    def describe(self, handle: Handle) -> str:
        """Return what a run is waiting for, in words; empty if it runs or nothing is known."""
        del handle
        return ""

    @abstractmethod
    def collect(self, handle: Handle) -> Outcome:
        """Return the outcome of an ended run; repeated calls return the same."""

    @abstractmethod
    def cancel(self, handle: Handle) -> None:
        """End the run and all its processes; return when nothing of it is left."""

    def close(self) -> None:  # noqa: B027
        """Release allocations and other resources; the launcher cannot be used afterwards."""


# Why a run failed, determined from its end and its last output.
#
# A wrong outside cause only costs one or two more runs; a wrong failure of the program counts
# against its settings.

_FROM_OUTSIDE = {
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
}  # fmt: skip
"""Signals that are not caused by errors of a program (observed: batch systems, OOM killer)."""
_SHELL = 128
"""Shells, Open MPI's mpiexec and srun exit with this plus the number of a rank's signal."""
_NAMED_SIGNAL = re.compile(r"\bsignal (\d+)\b")
"""MPICH: "EXIT STRING: Killed (signal 9)"; Open MPI: "exited on signal 9 (Killed)"."""
_NO_ROOM = re.compile(
    r"No space left on device|Disk quota exceeded|Stale file handle|Input/output error"
)
"""Texts of strerror for ENOSPC, EDQUOT, ESTALE and EIO."""
_NOT_UP = re.compile(
    r"PMIX ERROR|ORTE_ERROR_LOG|session directory|orte_init|prte_init|"
    r"^\[(?:mpiexec|proxy)\S*@|timed? ?out|"
    r"srun: error: (?:Unable|Communication|Node failure|Slurm|Task launch)",
    re.MULTILINE | re.IGNORECASE,
)
"""Start-up errors of Open MPI 4 and 5, Hydra and Slurm's daemons, and time-outs."""
_RANK_FAILED = re.compile(
    r"BAD TERMINATION|MPI_ABORT was invoked|exited on signal|non-zero (?:exit|status)"
)
"""Messages that imply that a rank had started: MPICH's banner and Open MPI's texts."""


def failure_cause(run: Outcome) -> FailureCause:
    """Return the cause of a run's failure."""
    output = run.output
    if run.status is RunStatus.OK:
        return FailureCause.NONE
    if run.status is RunStatus.CANCELLED:
        return FailureCause.SIGNAL
    if run.place_lost or _NO_ROOM.search(output):
        return FailureCause.STORAGE
    if run.status is RunStatus.TIMEOUT:
        return FailureCause.HANG
    if _signal(run.exit_code, output) in _FROM_OUTSIDE:
        return FailureCause.SIGNAL
    if run.exit_code is None and run.status is RunStatus.FAILED:
        return FailureCause.LAUNCH
    if _NOT_UP.search(output) and not _RANK_FAILED.search(output):
        return FailureCause.LAUNCH
    return FailureCause.PROGRAM


def _signal(exit_code: int | None, output: str) -> int:
    """Return the signal that ended the command or one of its ranks; 0 if there was none."""
    if exit_code is None:
        return 0
    if exit_code < 0:
        return -exit_code
    if exit_code > _SHELL:
        return exit_code - _SHELL
    named = _NAMED_SIGNAL.search(output)
    return exit_code if named and int(named[1]) == exit_code else 0
