# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One case of a study as if it had been studied alone, and all cases in one line each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

from stripewise.model import CaseOutcome, CaseResult, StudyResult, Trial
from stripewise.report._digest import Digest, baseline_runs, best_runs, digest
from stripewise.report._text import format_interval, format_ratio, format_seconds
from stripewise.text import printable

_OF_CASES = {one.name for one in fields(CaseResult)} & {one.name for one in fields(StudyResult)}
"""What a study and each of its cases have."""


def case_results(result: StudyResult) -> tuple[StudyResult, ...]:
    """Return a result for each case; of a study of one command, that one alone."""
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
    """Summarise the unchanged program; of several cases the sums of one run of each."""
    return _sum([digest(baseline_runs(case)) for case in case_results(result)])


def best_figures(result: StudyResult) -> Digest:
    """Summarise the program under the answer that the study gives."""
    return _sum([digest(best_runs(case)) for case in case_results(result)])


def unsynced_figures(result: StudyResult) -> tuple[Digest, Digest] | None:
    """Summarise the runs without sync; None unless every case has them."""
    found = [case.unsynced for case in case_results(result)]
    if not all(found):
        return None
    first = [digest([pair[0]]) for pair in found if pair is not None]
    return _sum(first), _sum([digest([pair[1]]) for pair in found if pair is not None])


def _sum(figures: Sequence[Digest]) -> Digest:
    if len(figures) == 1:
        return figures[0]
    if not all(one.n_runs for one in figures):
        return Digest(0)
    io_seconds = sum(one.io_seconds for one in figures)
    total_bytes = sum(one.total_bytes for one in figures)
    return Digest(
        n_runs=sum(one.n_runs for one in figures),
        seconds=sum(one.seconds for one in figures),
        io_seconds=io_seconds,
        total_bytes=total_bytes,
        bandwidth_bytes_per_second=total_bytes / io_seconds if io_seconds > 0 else math.nan,
    )


def case_phrase(case: StudyResult) -> str:
    """Say what the study gained for one case, from its view.

    "I/O 0.9 s -> 0.3 s   3.0x faster [2.8-3.3, 95 %, 6 paired runs]    whole program 1.9x"
    """
    before = digest(baseline_runs(case))
    if case.speedup is None or not case.pairs:
        return f"I/O {format_seconds(before.io_seconds)}"
    after = digest([second for _, second in case.pairs])
    first = digest([first for first, _ in case.pairs])
    text = (
        f"I/O {format_seconds(first.io_seconds)} → {format_seconds(after.io_seconds)}"
        f"   {format_ratio(case.speedup.median)}x {outcome_word(case)}"
        f" {format_interval(case.speedup)}"
    )
    if case.elapsed_speedup is not None:
        text += f"    whole program {format_ratio(case.elapsed_speedup.median)}x"
    return text


def outcome_word(case: StudyResult) -> str:
    """Say how a case fared: "faster", "SLOWER", "no significant change"."""
    outcome = case.cases[0].outcome
    return "SLOWER" if outcome is CaseOutcome.SLOWER else outcome.value


def slower_phrase(result: StudyResult) -> str:
    """Say which cases got slower, with their intervals; "" if none did."""
    said = []
    for case in result.cases if result.is_ensemble else ():
        if case.outcome is not CaseOutcome.SLOWER:
            continue
        io, whole = case.speedup, case.elapsed_speedup
        figures = [
            f"{name} {format_ratio(speedup.median)}x {format_interval(speedup)}"
            for name, speedup in (("I/O", io), ("whole program", whole))
            if speedup is not None and speedup.median < 1
        ]
        said.append(f"{printable(case.name)} got slower ({'; '.join(figures)})")
    return ", and ".join(said)
