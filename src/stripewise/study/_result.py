# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From what the stages left to the result of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stripewise.model import (
    CaseOutcome,
    CaseResult,
    Measurement,
    Reference,
    StudyResult,
    Verification,
    VerificationStatus,
)
from stripewise.study._case_runs import elapsed_seconds
from stripewise.study._context import Baseline, CaseContext, Context
from stripewise.study._search_result import SearchResult
from stripewise.study._statistics import resolution_text
from stripewise.study._verdict import Verdict


def make_result(
    context: Context,
    search: SearchResult,
    verdict: Verdict,
    references: tuple[Reference, ...] = (),
) -> StudyResult:
    """Gather everything that a report shows, as far as the study came."""
    ledger, space = context.ledger, context.space
    cases = tuple(_case(context, search, verdict, place) for place in range(len(context.cases)))
    only = cases[0] if len(cases) == 1 else None
    rounds = verdict.rounds
    return StudyResult(
        command=context.options.command or context.cases[0].case.command,
        directory=str(context.options.study_directory),
        runs=ledger.entries,
        trials=tuple(search.trials),
        baseline=only.baseline if only else (),
        winner=verdict.winner,
        improved=verdict.improved,
        speedup=rounds.speedup() if rounds else None,
        elapsed_speedup=rounds.speedup(elapsed_seconds) if rounds else None,
        pairs=only.pairs if only else (),
        unsynced=only.unsynced if only else None,
        verification=search.verification(verdict.winner),
        rejected=search.rejected(),
        stopped_because=search.stopped_because,
        left_open="" if verdict.improved else verdict.left_open,
        rungs_left=search.rungs_left,
        resolution=_resolution(context) if context.baselines else "",
        decisions=ledger.decisions,
        warnings=ledger.warnings,
        facts=context.facts,
        searched={
            d.tunable.name: tuple(str(value) for value in d.values) for d in space.dimensions
        },
        left_out=space.left_out,
        provenance=_provenance(context),
        cases=cases,
        references=references,
    )


def _case(context: Context, search: SearchResult, verdict: Verdict, place: int) -> CaseResult:
    case = context.cases[place]
    rounds, winner = verdict.rounds, verdict.winner
    acting = {dimension.tunable.name for dimension in case.space.dimensions}
    verifications = search.verifications.get(winner.number, {}) if winner else {}
    return CaseResult(
        name=case.name,
        command=case.case.command,
        weight=case.case.weight,
        facts=case.facts,
        knobs=tuple(d.tunable.name for d in context.space.dimensions if d.tunable.name in acting),
        baseline=_baseline_or_warm_up(case, context.baselines[place : place + 1]),
        outcome=rounds.outcome(place) if rounds else CaseOutcome.UNKNOWN,
        speedup=rounds.of_case(place) if rounds else None,
        elapsed_speedup=rounds.of_case(place, elapsed_seconds) if rounds else None,
        pairs=tuple(rounds.pairs[place]) if rounds else (),
        unsynced=verdict.unsynced[place] if verdict.unsynced else None,
        verification=verifications.get(case.name, Verification(VerificationStatus.NOT_DONE)),
        rejected=search.rejected(case.name),
        resolution=resolution_text(case.spread()) if context.baselines else "",
    )


def _resolution(context: Context) -> str:
    """Say what could be seen, from every baseline run that the study made."""
    if len(context.cases) == 1:
        return resolution_text(context.spread())
    what, runs_each = "the mean of the cases' I/O times", 2 * len(context.cases)
    return resolution_text(context.spread(), what, runs_each)


def _baseline_or_warm_up(
    case: CaseContext, baseline: Sequence[Baseline]
) -> tuple[Measurement, ...]:
    if baseline:
        return baseline[0].measurements
    warm = case.measurement("warm-up")
    return (warm,) if warm is not None else ()


def _provenance(context: Context) -> Mapping[str, str]:
    study = context.ledger.study
    recorded: dict[str, str] = dict(study["provenance"]) if study is not None else {}
    return recorded | {
        "strategy": context.options.strategy,
        **{f"strategy {name}": v for name, v in context.options.strategy_options.items()},
        "seed": str(context.options.seed),
        "synced": "yes" if context.options.sync and context.facts.in_reach else "no",
        "runs": str(len(context.ledger.entries)),
    }
