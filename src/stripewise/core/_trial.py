# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what one run of a program measured, and what all runs of a candidate gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from stripewise.core._amount import Amount, Figured, reasons, total
from stripewise.core._configuration import Configuration, Value
from stripewise.core._cray_mpiio import MpiioFile

# What one run of a program gave.


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    FAILED = "failed"
    """Non-zero exit status or a signal."""
    TIMEOUT = "timeout"
    """Stopped by its time limit; a deadlock looks like this."""
    CANCELLED = "cancelled"
    """Stopped by the tuner's end; it counts as never run."""
    UNSEEN = "unseen"
    """It ran, but the library did not see it (static program, preload dropped, ...)."""


class FailureCause(StrEnum):
    """Why a run did not end well."""

    NONE = ""
    PROGRAM = "program"
    """Its own: an exit code, a crash, output that cannot be seen."""
    HANG = "hang"
    """Stopped by its time limit."""
    SIGNAL = "signal"
    """Ended from outside."""
    STORAGE = "storage"
    """No room, a storage that fails, or its directory was removed."""
    LAUNCH = "launch"
    """Its launcher did not come up."""
    HOST = "host"
    """This host was too slow for the storage that it emulates."""

    @property
    def is_outside(self) -> bool:
        """Whether it says nothing about the settings of the run."""
        return self not in (FailureCause.NONE, FailureCause.PROGRAM, FailureCause.HANG)


@dataclass(frozen=True)
class ObservedFile(Figured):
    """What was observed of one file in one run: effective settings, not requested ones.

    Attributes:
        path: Relative to the run's directory where it lies inside, otherwise absolute.
        read_bytes / write_bytes: What the program asked to move (outermost calls).
        io_seconds: Outermost time, maximum over ranks.
        interface: Highest layer that the program used: "hdf5", "mpiio", "stdio", "posix".
        writers: Ranks (processes) that issued system writes.
        readers: Ranks (processes) that issued system reads; 0 in journals of earlier versions.
        system_writes: Number of system writes; system_write_bytes: their bytes.
        system_reads: Number of system reads; system_read_bytes: their bytes.
        median_write_bytes: Approximate (from bins) median size of a system write.
        largest_write_bytes: Largest system write.
        aligned_fraction: {alignment_bytes: fraction of system writes whose offset and size
            are multiples of it} for 4 KiB, 64 KiB and 1 MiB.
        requested / applied / reported: Hints that the program passed, that Stripewise added,
            and that MPI_File_get_info echoed.
        missing: Figures that are not known, or of which this is the least, and why.
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
    """One run.

    Attributes:
        run_id: UUID text.
        status: How it ended.
        exit_code: Of the command; negative: minus the signal; None if it never started.
        elapsed_seconds: Wall clock of the command.
        io_seconds: Maximum over ranks of the time in outermost I/O calls.
        read_bytes / write_bytes: What the program asked to move, over all ranks.
        started_unix_seconds: When it started.
        files: What was observed, largest first.
        message: One line where status is not OK.
        cause: Why status is not OK.
        limits: What its requests waited for on an emulated storage, in words.
        bypassed: What else a user should know of an emulated run, such as what bypassed it.
        stage_in_seconds: Copying its files to a burst buffer took so long, before the command
            started; None: nothing was copied.
        stage_out_seconds: Copying back, likewise.
        mpiio: What Cray MPICH printed of its files, largest first.
        missing: Of `io_seconds`, `read_bytes` and `write_bytes` those that are not known, or
            of which this is the least, and why.
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
        """Bytes that the program asked to move, as far as they are known."""
        return self.read_bytes + self.write_bytes

    @property
    def total_amount(self) -> Amount:
        """Bytes that the program asked to move."""
        return total(map(self.amount, ("read_bytes", "write_bytes")))

    @property
    def bandwidth(self) -> Amount:
        """Bytes over I/O time: nothing is known of it where a part of either is missing."""
        moved, seconds = self.total_amount, self.amount("io_seconds")
        why = reasons((moved.why, seconds.why))
        if why or not seconds.value:
            return Amount.of(None, why)
        return Amount(moved.least / seconds.value)


MOST_ATTEMPTS = 3
"""So often a run is made that fails each time."""
FAILURES_THAT_COUNT = 2


def is_settled(attempts: Sequence[Measurement], failures: int = FAILURES_THAT_COUNT) -> bool:
    """Whether attempts at one run need no other: one did well, or the same failure came again.

    Args:
        attempts: In order, at least one.
        failures: So many of the program's own, with the same exit, count.
    """
    own = [_end(run) for run in attempts if not run.cause.is_outside]
    again = len(own) >= failures and len(set(own[-failures:])) == 1
    return attempts[-1].ok or again or len(attempts) >= MOST_ATTEMPTS


def _end(run: Measurement) -> tuple[RunStatus, int | None]:
    """Say how a run ended; the exit code of one that was stopped says only how it was."""
    return run.status, None if run.status is RunStatus.TIMEOUT else run.exit_code


def joint_cause(
    attempts: Sequence[Measurement], failures: int = FAILURES_THAT_COUNT
) -> FailureCause:
    """Return why a run failed, from all attempts at it; an outside cause if nothing is known.

    A failure says something about the settings only if the program's own repeats.
    """
    if attempts[-1].ok:
        return FailureCause.NONE
    outside = [run.cause for run in attempts if run.cause.is_outside]
    if len(attempts) - len(outside) < failures and outside:
        return outside[-1]
    return next(run.cause for run in reversed(attempts) if not run.cause.is_outside)


# A candidate configuration and what its runs gave.


class TrialState(StrEnum):
    """The state of a trial."""

    COMPLETE = "complete"
    HOPELESS = "hopeless"
    """Stopped early: clearly slower than the baseline."""
    FAILED = "failed"
    """The program failed, timed out or was not seen under this configuration."""
    LOST = "lost"
    """Nothing is known of these settings: what ended its runs came from outside, or its output
    differs from the baseline's in one run and not in the next."""
    REJECTED = "rejected"
    """Its output differs from the baseline's."""


@dataclass(frozen=True)
class Speedup:
    """Ratio baseline / candidate of I/O times from paired runs.

    Attributes:
        median: exp(median of the log-ratios).
        low / high: Bounds of the interval; NaN where there were too few pairs.
        n_pairs: Number of pairs.
        confidence: Nominal level of the interval, 0.95.
        method: Name of the method.
    """

    median: float
    low: float
    high: float
    n_pairs: int
    confidence: float = 0.95
    method: str = ""


@dataclass(frozen=True)
class Proposal:
    """A point to try.

    Attributes:
        settings: Tunable name to value; tunables not named stay at their default.
        reason: Why this one, in plain words.
    """

    settings: Mapping[str, Value]
    reason: str


@dataclass(frozen=True)
class Trial:
    """One point of the search.

    Attributes:
        number: From 1.
        settings: Tunable name to value, e.g. {"mpiio.cb_nodes": 4}; the rest at default.
        configuration: What is applied.
        state: Outcome.
        measurements: Its runs.
        io_ratio: Median over its runs of I/O time / that of the baseline run(s) next to
            them (smaller is better); inf if it failed.  What strategies minimise.  Of
            several cases the weighted geometric mean, or the worst case if that got clearly
            slower.
        elapsed_ratio: The same of the whole time.
        message: One line of explanation.
        details: What it did, for people.
        case_ratios: Case to its I/O-time ratio, of those that ran; empty with one case.
        class_ratios: Glob of a class of files to the ratio of the I/O time on these; empty
            where the files of a program are of one class.
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
