# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the measurements of one run of a program, and those of all runs of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from stripewise.core._amount import Amount, Figured, reasons, total
from stripewise.core._configuration import Configuration, Value
from stripewise.core._cray_mpiio import MpiioFile

# The measurement of one run of a program.


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    """The command had a non-zero exit status or was ended by a signal."""
    TIMEOUT = "timeout"
    """The run was stopped by its time limit, as in a deadlock."""
    CANCELLED = "cancelled"
    """The run was stopped because the tuner ended; it counts as if it had never run."""
    UNSEEN = "unseen"
    """The program ran without the runtime library (static program, preload dropped, ...)."""


class FailureCause(StrEnum):
    """Why a run failed."""

    NONE = ""
    PROGRAM = "program"
    """The program itself: an exit code, a crash, or output that cannot be observed."""
    HANG = "hang"
    """The run was stopped by its time limit."""
    SIGNAL = "signal"
    """The run was ended by a signal from outside."""
    STORAGE = "storage"
    """The storage was full or failed, or the run's directory was removed."""
    LAUNCH = "launch"
    """The launcher could not start the program."""
    HOST = "host"
    """The host was too slow for the storage that it emulated."""

    @property
    def is_outside(self) -> bool:
        """Whether the cause says nothing about the settings of the run."""
        return self not in (FailureCause.NONE, FailureCause.PROGRAM, FailureCause.HANG)


@dataclass(frozen=True)
class ObservedFile(Figured):
    """Observations of one file in one run: effective settings, not requested ones.

    Attributes:
        path: Path relative to the run's directory if the file is inside, otherwise absolute.
        read_bytes / write_bytes: Bytes that the program requested (outermost calls).
        io_seconds: Time in outermost calls, maximum over ranks.
        interface: Highest interface that the program used: "hdf5", "mpiio", "stdio", "posix".
        writers: Number of ranks (processes) that issued system writes.
        readers: Number of ranks (processes) that issued system reads; 0 in journals of earlier
            versions.
        system_writes / system_write_bytes: Number of system writes, and their bytes.
        system_reads / system_read_bytes: Number of system reads, and their bytes.
        median_write_bytes: Approximate median size of a system write, from bins.
        largest_write_bytes: Largest system write.
        aligned_fraction: Alignment in bytes (4 KiB, 64 KiB, 1 MiB) to the fraction of system
            writes whose offset and size are multiples of it.
        requested / applied / reported: Hints that the program passed, that Stripewise added, and
            that MPI_File_get_info returned.
        missing: Figures that are unknown or only lower bounds, with the reason.
    """

    path: str
    read_bytes: int = 0
    write_bytes: int = 0
    io_seconds: float = 0.0
    interface: str = ""
    writers: int = 0
    readers: int = 0
    system_writes: int = 0
    system_write_bytes: int = 0
    system_reads: int = 0
    system_read_bytes: int = 0
    median_write_bytes: int = 0
    largest_write_bytes: int = 0
    aligned_fraction: dict[int, float] = field(default_factory=dict)
    requested: dict[str, str] = field(default_factory=dict)
    applied: dict[str, str] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement(Figured):
    """Measurement of one run.

    Attributes:
        run_id: UUID of the run, as text.
        status: How the run ended.
        exit_code: Exit code of the command; minus the number of the signal that ended it; None if
            it never started.
        elapsed_seconds: Wall-clock time of the command.
        io_seconds: Maximum over ranks of the time in outermost I/O calls.
        read_bytes / write_bytes: Bytes that the program requested, over all ranks.
        started_unix_seconds: Start of the run in seconds since 1970.
        files: Observations of each file, largest first.
        message: One line of explanation if status is not OK.
        cause: Cause of the failure if status is not OK.
        limits: What its requests waited for on emulated storage, in words.
        bypassed: Remarks on an emulated run for the user, such as I/O that bypassed the emulation.
        stage_in_seconds: Time to copy its files to a burst buffer before the command started; None
            if nothing was copied.
        stage_out_seconds: Time to copy its files back after the command; None if nothing was
            copied.
        mpiio: Figures that Cray MPICH printed for its files, largest first.
        missing: Which of `io_seconds`, `read_bytes` and `write_bytes` are unknown or only lower
            bounds, with the reason.
    """

    run_id: str
    status: RunStatus
    exit_code: int | None = None
    elapsed_seconds: float = 0.0
    io_seconds: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0
    started_unix_seconds: float = 0.0
    files: tuple[ObservedFile, ...] = ()
    message: str = ""
    cause: FailureCause = FailureCause.NONE
    limits: str = ""
    bypassed: tuple[str, ...] = ()
    stage_in_seconds: float | None = None
    stage_out_seconds: float | None = None
    mpiio: tuple[MpiioFile, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the run counts as a measurement."""
        return self.status is RunStatus.OK

    @property
    def total_bytes(self) -> int:
        """Bytes that the program requested, as far as they are known."""
        return self.read_bytes + self.write_bytes

    @property
    def total_amount(self) -> Amount:
        """Bytes that the program requested, as an amount that may be incomplete."""
        return total(map(self.amount, ("read_bytes", "write_bytes")))

    @property
    def bandwidth(self) -> Amount:
        """Bytes divided by I/O time; unknown if a part of either is missing."""
        moved, seconds = self.total_amount, self.amount("io_seconds")
        why = reasons((moved.why, seconds.why))
        if why or not seconds.value:
            return Amount.of(None, why)
        return Amount(moved.least / seconds.value)


MOST_ATTEMPTS = 3
"""Maximum number of attempts at a run that keeps failing."""
FAILURES_THAT_COUNT = 2


def is_settled(attempts: Sequence[Measurement], failures: int = FAILURES_THAT_COUNT) -> bool:
    """Return whether a run needs no more attempts: one succeeded, or a failure was repeated.

    Args:
        attempts: Attempts at the run in order, at least one.
        failures: Number of the program's own failures with the same exit that settle the run.
    """
    own = [_end(run) for run in attempts if not run.cause.is_outside]
    again = len(own) >= failures and len(set(own[-failures:])) == 1
    return attempts[-1].ok or again or len(attempts) >= MOST_ATTEMPTS


def _end(run: Measurement) -> tuple[RunStatus, int | None]:
    """Return how a run ended, with its exit code unless the tuner stopped it."""
    return run.status, None if run.status is RunStatus.TIMEOUT else run.exit_code


def joint_cause(
    attempts: Sequence[Measurement], failures: int = FAILURES_THAT_COUNT
) -> FailureCause:
    """Return why a run failed, from all attempts at it; an outside cause if that is unclear.

    A failure counts against the settings only if the program's own failure repeats.
    """
    if attempts[-1].ok:
        return FailureCause.NONE
    outside = [run.cause for run in attempts if run.cause.is_outside]
    if len(attempts) - len(outside) < failures and outside:
        return outside[-1]
    return next(run.cause for run in reversed(attempts) if not run.cause.is_outside)


# A trial: a configuration and the measurements of its runs.


class TrialState(StrEnum):
    """State of a trial."""

    COMPLETE = "complete"
    HOPELESS = "hopeless"
    """The trial was stopped early, since it was clearly slower than the baseline."""
    FAILED = "failed"
    """The program failed, timed out or was not observed with this configuration."""
    LOST = "lost"
    """Nothing is known about these settings: an outside cause ended the runs, or the output
    differs from the baseline's in some runs and not in others."""
    REJECTED = "rejected"
    """The output differs from the baseline's."""


@dataclass(frozen=True)
class Speedup:
    """Ratio baseline / candidate of I/O times from paired runs.

    Attributes:
        median: Median speed-up: exp(median of the log-ratios).
        low / high: Bounds of the confidence interval; NaN if there were too few pairs.
        n_pairs: Number of pairs.
        confidence: Nominal level of the interval, 0.95.
        method: Name of the method that computed the interval.
    """

    median: float
    low: float
    high: float
    n_pairs: int
    confidence: float = 0.95
    method: str = ""


@dataclass(frozen=True)
class Proposal:
    """A point of the search space to try.

    Attributes:
        settings: Tunable name to value; other tunables keep their defaults.
        reason: Why this point is proposed, in words.
    """

    settings: Mapping[str, Value]
    reason: str


@dataclass(frozen=True)
class Trial:
    """One point of the search with its runs.

    Attributes:
        number: Number of the trial, from 1.
        settings: Tunable name to value, e.g. {"mpiio.cb_nodes": 4}; others keep their defaults.
        configuration: Configuration that is applied.
        state: Outcome of the trial.
        measurements: Measurements of its runs.
        io_ratio: I/O time divided by that of the neighbouring baseline runs, the median over its
            runs; infinite if it failed.  Strategies minimise it.  With several cases it is the
            weighted geometric mean, or the worst case if that became clearly slower.
        elapsed_ratio: The same ratio for the elapsed time.
        message: One line of explanation.
        details: Details of its effect, for people.
        case_ratios: Name of each case that ran to its I/O-time ratio; empty with one case.
        class_ratios: Glob of a class of files to the ratio of the I/O time on them; empty if all
            files of the program are in one class.
    """

    number: int
    settings: Mapping[str, Value]
    configuration: Configuration
    state: TrialState = TrialState.COMPLETE
    measurements: tuple[Measurement, ...] = ()
    io_ratio: float = float("inf")
    elapsed_ratio: float = float("inf")
    message: str = ""

    details: Mapping[str, str] = field(default_factory=dict)
    case_ratios: Mapping[str, float] = field(default_factory=dict)
    class_ratios: Mapping[str, float] = field(default_factory=dict)
