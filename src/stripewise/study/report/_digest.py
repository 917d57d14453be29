# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Summarises the runs of a study and of each of its cases in the figures of reports."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from stripewise.core import (
    BASELINE_ROLES,
    CaseResult,
    Figured,
    Measurement,
    StudyResult,
    Trial,
    Verification,
    VerificationStatus,
    reasons,
)
from stripewise.present import plural


@dataclass(frozen=True)
class Digest(Figured):
    """Medians over the runs of one configuration.

    Attributes:
        n_runs: Number of runs that count.
        seconds: Elapsed time; NaN without runs.
        io_seconds: I/O time; NaN without runs.
        total_bytes: Bytes that the program requested to move.
        bandwidth_bytes_per_second: Bytes over I/O time; NaN without I/O time.
        io_seconds_minimum / io_seconds_maximum: Range of the I/O time.
        coefficient_of_variation: Variation of the I/O time; NaN with fewer than two runs.
        missing: Figures that are unknown or only a lower bound, with the reason.
    """

    n_runs: int
    seconds: float = math.nan
    io_seconds: float = math.nan
    total_bytes: int = 0
    bandwidth_bytes_per_second: float = math.nan
    io_seconds_minimum: float = math.nan
    io_seconds_maximum: float = math.nan
    coefficient_of_variation: float = math.nan
    missing: dict[str, str] = field(default_factory=dict)


def digest(measurements: Sequence[Measurement]) -> Digest:
    """Summarise the runs that count."""
    runs = [m for m in measurements if m.ok]
    if not runs:
        return Digest(0)
    times = [m.io_seconds for m in runs]
    io_seconds = statistics.median(times)
    total_bytes = int(statistics.median_low([m.total_bytes for m in runs]))
    mean = statistics.fmean(times)
    missing = _missing(
        reasons(m.missing.get("io_seconds", "") for m in runs),
        reasons(m.total_amount.why for m in runs),
    )
    varies = len(times) > 1 and mean > 0
    return Digest(
        n_runs=len(runs),
        seconds=statistics.median([m.elapsed_seconds for m in runs]),
        io_seconds=io_seconds,
        total_bytes=total_bytes,
        bandwidth_bytes_per_second=_rate(total_bytes, io_seconds, missing),
        io_seconds_minimum=min(times),
        io_seconds_maximum=max(times),
        coefficient_of_variation=statistics.stdev(times) / mean if varies else math.nan,
        missing=missing,
    )


def _missing(of_seconds: str, of_bytes: str) -> dict[str, str]:
    """Return why figures are missing or incomplete; an incomplete rate counts as missing."""
    found = {
        "io_seconds": of_seconds,
        "total_bytes": of_bytes,
        "bandwidth_bytes_per_second": reasons((of_seconds, of_bytes)),
    }
    return {name: why for name, why in found.items() if why}


def _rate(total_bytes: int, io_seconds: float, missing: Mapping[str, str]) -> float:
    known = io_seconds > 0 and "bandwidth_bytes_per_second" not in missing
    return total_bytes / io_seconds if known else math.nan


def baseline_runs(result: StudyResult) -> tuple[Measurement, ...]:
    """Return the runs on which the baseline's figures are based.

    After an improvement these are the baseline runs of the confirmation pairs, made at the same
    time as the winner's, so that the figures match the speed-up; otherwise all baseline runs of
    the study, including those beside trials.
    """
    paired = tuple(pair[0] for pair in result.pairs if pair[0].ok)
    if result.improved and paired:
        return paired
    every = tuple(
        run.measurement for run in result.runs if run.role in BASELINE_ROLES and run.measurement.ok
    )
    return every or tuple(m for m in (*result.baseline, *paired) if m.ok)


def best_runs(result: StudyResult) -> tuple[Measurement, ...]:
    """Return the runs of the best configuration's figures; the baseline's if nothing won."""
    if not result.improved:
        return baseline_runs(result)
    fresh = tuple(pair[1] for pair in result.pairs if pair[1].ok)
    if fresh or result.winner is None:
        return fresh
    return tuple(m for m in result.winner.measurements if m.ok)


_OF_CASES = {one.name for one in fields(CaseResult)} & {one.name for one in fields(StudyResult)}
"""Fields that a study and each of its cases have in common."""


def case_results(result: StudyResult) -> tuple[StudyResult, ...]:
    """Return a result for each case; in a study of one command, only that result."""
    if not result.is_ensemble:
        return (result,)
    return tuple(_view(result, case) for case in result.cases)


def _view(result: StudyResult, case: CaseResult) -> StudyResult:
    runs = tuple(entry for entry in result.runs if entry.case == case.name)
    known = {entry.measurement.run_id for entry in runs}
    trials = tuple(_trial(trial, case.name, known) for trial in result.trials)
    winner = _trial(result.winner, case.name, known) if result.winner else None
    own = {name: getattr(case, name) for name in _OF_CASES}
    return replace(result, **own, runs=runs, trials=trials, winner=winner, cases=(case,))


def _trial(trial: Trial, case: str, known: set[str]) -> Trial:
    measurements = tuple(run for run in trial.measurements if run.run_id in known)
    ratio = trial.case_ratios.get(case, math.inf)
    return replace(trial, measurements=measurements, io_ratio=ratio, case_ratios={})


def baseline_figures(result: StudyResult) -> Digest:
    """Summarise the unchanged program; with several cases, as sums of one run of each."""
    return _sum([digest(baseline_runs(case)) for case in case_results(result)])


def best_figures(result: StudyResult) -> Digest:
    """Summarise the program with the configuration that the study recommends."""
    return _sum([digest(best_runs(case)) for case in case_results(result)])


def unsynced_figures(result: StudyResult) -> dict[str, Digest] | None:
    """Summarise the runs without sync as "baseline" and "best"; None if a case has none."""
    views = case_results(result)
    pairs = [view.unsynced for view in views if view.unsynced]
    if len(pairs) < len(views):
        return None
    sides = zip(("baseline", "best"), zip(*pairs, strict=True), strict=True)
    return {name: _sum([digest([run]) for run in runs]) for name, runs in sides}


def _sum(figures: Sequence[Digest]) -> Digest:
    if len(figures) == 1:
        return figures[0]
    if not all(one.n_runs for one in figures):
        return Digest(0)
    io_seconds = sum(one.io_seconds for one in figures)
    total_bytes = sum(one.total_bytes for one in figures)
    missing = _missing(
        *(
            reasons(one.missing.get(name, "") for one in figures)
            for name in ("io_seconds", "total_bytes")
        )
    )
    return Digest(
        n_runs=sum(one.n_runs for one in figures),
        seconds=sum(one.seconds for one in figures),
        io_seconds=io_seconds,
        total_bytes=total_bytes,
        bandwidth_bytes_per_second=_rate(total_bytes, io_seconds, missing),
        missing=missing,
    )


_SAID = {
    VerificationStatus.IDENTICAL: "output identical to the baseline's ({files}, bit for bit)",
    VerificationStatus.SAME_CONTENT: (
        "output has the same content as the baseline's ({files}; HDF5 by element)"
    ),
    VerificationStatus.DIFFERENT: "OUTPUT DIFFERS from the baseline's in {different}",
    VerificationStatus.NOT_VERIFIABLE: (
        "output cannot be verified: two unchanged runs differ or write nothing"
    ),
    VerificationStatus.NOT_DONE: "no configuration is recommended, so there is nothing to verify",
}
_VERIFIED = (VerificationStatus.IDENTICAL, VerificationStatus.SAME_CONTENT)


def is_verified(result: StudyResult) -> bool | str:
    """Return true, false or "not verifiable" for the configuration that the study recommends."""
    status = result.verification.status
    if status in _VERIFIED:
        return True
    if status is VerificationStatus.NOT_DONE and not result.improved:
        return False if result.rejected else "not verifiable"
    return False if status is VerificationStatus.DIFFERENT else "not verifiable"


def describe_verification(verification: Verification) -> str:
    """Return a phrase on how the winner's files compare with the baseline's."""
    text = _SAID[verification.status].format(
        files=plural(len(verification.compared), "file"),
        different=plural(len(verification.differences), "file"),
    )
    skipped = len(verification.not_verifiable) if verification.status in _VERIFIED else 0
    return f"{text}; {plural(skipped, 'file')} not verifiable" if skipped else text
