# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a finished study leaves to those that follow."""

from __future__ import annotations

import time
from math import isfinite

import stripewise
from stripewise.knowledge._describe import one_line
from stripewise.knowledge._records import Case, Effect, Lesson, Tried, TriedState
from stripewise.model import (
    FailureCause,
    Measurement,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    is_settled,
    joint_cause,
)


def learn(result: StudyResult, case: Case, study_id: str) -> Lesson | None:
    """Return what a study learned; None if it tried nothing."""
    trials = result.trials
    if not trials:
        return None
    winner = result.winner
    return Lesson(
        study_id=study_id,
        recorded_unix_seconds=time.time(),
        case=case,
        improved=result.improved,
        candidate=dict(winner.settings) if winner is not None else {},
        effect=_effect(result.speedup),
        elapsed_effect=_effect(result.elapsed_speedup),
        resolution=one_line(result.resolution),
        tried=tuple(
            _tried(trial, _failed_pair(result, trial))
            for trial in trials
            if trial.state is not TrialState.LOST
        ),
        n_runs=len(result.runs),
        strategy=one_line(result.provenance.get("strategy", "")),
        stripewise=stripewise.__version__,
    )


def _tried(trial: Trial, failed_pair: TriedState | None) -> Tried:
    state = failed_pair or _state(trial)
    ratio = trial.io_ratio if isfinite(trial.io_ratio) and not state.is_bad else None
    by_class = {m: r for m, r in trial.class_ratios.items() if isfinite(r) and not state.is_bad}
    return Tried(dict(trial.settings), state, ratio, len(trial.measurements), by_class)


def _state(trial: Trial) -> TriedState:
    if trial.state is TrialState.REJECTED:
        return TriedState.REJECTED
    if trial.state is TrialState.FAILED:
        hung = any(run.status is RunStatus.TIMEOUT for run in trial.measurements)
        return TriedState.HUNG if hung else TriedState.FAILED
    return TriedState.SLOWER if trial.state is TrialState.HOPELESS else TriedState.COMPLETE


def _failed_pair(result: StudyResult, trial: Trial) -> TriedState | None:
    """Return how a trial failed in its fresh pairs; None if it did not."""
    attempts: dict[tuple[int | None, str], list[Measurement]] = {}
    for entry in result.runs:
        if entry.role is RunRole.PAIR_WINNER and entry.trial_number == trial.number:
            pair = attempts.setdefault((entry.pair_number, entry.case), [])
            pair.append(entry.measurement)
    causes = {joint_cause(pair) for pair in attempts.values() if is_settled(pair)}
    if FailureCause.HANG in causes:
        return TriedState.HUNG
    return TriedState.FAILED if FailureCause.PROGRAM in causes else None


def _effect(speedup: Speedup | None) -> Effect | None:
    if speedup is None or not isfinite(speedup.median):
        return None
    low, high = (bound if isfinite(bound) else None for bound in (speedup.low, speedup.high))
    return Effect(speedup.median, low, high, speedup.n_pairs)
