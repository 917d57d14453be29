# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The few figures of a study that every report shows, computed in one place."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.model import (
    Measurement,
    RunRole,
    RunStatus,
    StudyResult,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.text import plural


@dataclass(frozen=True)
class Digest:
    """Medians over the runs of one configuration.

    Attributes:
        n_runs: Number of runs that count.
        seconds: Whole time; NaN without runs.
        io_seconds: I/O time; NaN without runs.
        total_bytes: What the program asked to move.
        bandwidth_bytes_per_second: Bytes over I/O time; NaN without I/O time.
        io_seconds_minimum / io_seconds_maximum: Range of the I/O time.
        coefficient_of_variation: Of the I/O time; NaN with fewer than two runs.
    """

    n_runs: int
    seconds: float = math.nan
    io_seconds: float = math.nan
    total_bytes: int = 0
    bandwidth_bytes_per_second: float = math.nan
    io_seconds_minimum: float = math.nan
    io_seconds_maximum: float = math.nan
    coefficient_of_variation: float = math.nan


def digest(measurements: Sequence[Measurement]) -> Digest:
    """Summarise the runs that count."""
    runs = [m for m in measurements if m.ok]
    if not runs:
        return Digest(0)
    times = [m.io_seconds for m in runs]
    io_seconds = statistics.median(times)
    total_bytes = int(statistics.median_low([m.total_bytes for m in runs]))
    mean = statistics.fmean(times)
    varies = len(times) > 1 and mean > 0
    return Digest(
        n_runs=len(runs),
        seconds=statistics.median([m.elapsed_seconds for m in runs]),
        io_seconds=io_seconds,
        total_bytes=total_bytes,
        bandwidth_bytes_per_second=total_bytes / io_seconds if io_seconds > 0 else math.nan,
        io_seconds_minimum=min(times),
        io_seconds_maximum=max(times),
        coefficient_of_variation=statistics.stdev(times) / mean if varies else math.nan,
    )


def baseline_runs(result: StudyResult) -> tuple[Measurement, ...]:
    """Runs that the baseline's figures come from.

    After an improvement these are the baseline runs of the fresh pairs, made at the same
    time as the winner's, so that the figures and the speed-up belong together; otherwise
    all baseline runs of the study, also those beside trials.
    """
    paired = tuple(pair[0] for pair in result.pairs if pair[0].ok)
    if result.improved and paired:
        return paired
    every = tuple(
        run.measurement
        for run in result.runs
        if run.role in (RunRole.BASELINE, RunRole.PAIR_BASELINE) and run.measurement.ok
    )
    return every or tuple(m for m in (*result.baseline, *paired) if m.ok)


def best_runs(result: StudyResult) -> tuple[Measurement, ...]:
    """Runs that the best configuration's figures come from; the baseline's if none won."""
    if not result.improved:
        return baseline_runs(result)
    fresh = tuple(pair[1] for pair in result.pairs if pair[1].ok)
    if fresh or result.winner is None:
        return fresh
    return tuple(m for m in result.winner.measurements if m.ok)


def state_counts(result: StudyResult) -> Counter[TrialState]:
    """Count trials by state."""
    return Counter(trial.state for trial in result.trials)


def timeout_count(result: StudyResult) -> int:
    """Count runs that were stopped by their time limit."""
    return sum(run.measurement.status is RunStatus.TIMEOUT for run in result.runs)


def is_verified(result: StudyResult) -> bool | str:
    """Tell true, false or "not verifiable" of the answer that the study gives."""
    status = result.verification.status
    if status in (VerificationStatus.IDENTICAL, VerificationStatus.SAME_CONTENT):
        return True
    if status is VerificationStatus.DIFFERENT:
        return False
    if status is VerificationStatus.NOT_DONE and result.rejected and not result.improved:
        return False
    return "not verifiable"


def describe_verification(verification: Verification) -> str:
    """Say in one phrase how the winner's files compare with the baseline's."""
    files = plural(len(verification.compared), "file")
    status = verification.status
    if status is VerificationStatus.IDENTICAL:
        text = f"output identical to the baseline's ({files}, bit for bit)"
    elif status is VerificationStatus.SAME_CONTENT:
        text = f"output has the same content as the baseline's ({files}; HDF5 by element)"
    elif status is VerificationStatus.DIFFERENT:
        return f"OUTPUT DIFFERS from the baseline's in {len(verification.differences)} file(s)"
    elif status is VerificationStatus.NOT_VERIFIABLE:
        text = "output not verifiable: two runs without any change differ or write nothing"
        return text
    else:
        return "no configuration is recommended, so there is nothing to verify"
    skipped = len(verification.not_verifiable)
    return f"{text}; {skipped} not verifiable" if skipped else text
