# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The winner: fresh pairs, the verdict, and two unsynced runs for the record."""

from __future__ import annotations

from functools import partial

from stripewise.model import Proposal, RunRole, Trial, TrialState
from stripewise.study._budget import BudgetSpentError
from stripewise.study._context import Baseline, Context
from stripewise.study._effective import without_effect
from stripewise.study._pairs import PairRunner
from stripewise.study._search_result import SearchResult
from stripewise.study._statistics import LOOKS
from stripewise.study._trial_runs import OF_TWO_ROUNDS, TrialRuns
from stripewise.study._verdict import Pair, Verdict, conclude
from stripewise.tunables import said_of_files

MOST_PROOFS = 2
SECOND_LOOKS = 4
"""So many trials at most are run once more before one is the candidate (assumed)."""
WORTH_PAIRS = 0.1
"""A trial that was faster by so much comes to the pairs whatever the noise: they decide."""


def judge_winner(context: Context, search: SearchResult) -> Verdict:
    """Take the best verified trial and show, by pairs that did not choose it, what it gives.

    Of trials that are as fast within the noise it is the one that sets least; they are run once
    more before that is believed, since one run each may have been luck.

    Pairs that do not bear the best trial out end early, and the next best gets its turn; two
    trials at most, so that chance has two tries (each at 1 % where nothing is to be gained).
    What a study proved before it was given a larger budget stays the answer unless another
    trial is proven now.
    """
    noise = context.ledger.remember("final-noise", context.noise)
    least = min(noise / 2, WORTH_PAIRS)
    judged = 0
    verdict = Verdict()
    if search.is_cut and not search.trials:
        verdict.left_open = search.stopped_because
        verdict.text = f"nothing was tried: {search.stopped_because}"
    elif search.trials:
        text = "no improvement: no configuration was faster than the baseline"
        verdict.text = f"{text} by {least:.0%} or more"
    for trial in _finalists(context, search, noise):
        if trial.io_ratio > 1 - least:
            break
        if not PairRunner(context, trial).may_begin():
            if not judged:
                verdict = _without_pairs(context, trial)
            break
        _announce(context, trial)
        found = _judge(context, trial)
        if found is not None:
            verdict = found if found.improved or not judged else verdict
            judged += 1
        if verdict.improved or judged == MOST_PROOFS:
            break
    if not verdict.improved:
        verdict = _proven_before(context, search, verdict) or verdict
    if verdict.text:
        context.decide("verdict", verdict.text, quietly=True)
    if verdict.improved:
        _record_proof(context, verdict)
    return verdict


def _without_pairs(context: Context, trial: Trial) -> Verdict:
    """Say that a candidate's pairs would exceed the budget."""
    why = context.budget.why_no_pairs(context.run_seconds) or "the budget is spent"
    shown = said_of_files(trial.settings, lambda name, value: f"{name}={value}")
    left_open = (
        f"trial {trial.number} ({shown}) was {1 / trial.io_ratio:.2f}x faster in its trial, and "
        f"no fresh pairs could confirm it: {why}; go on with --resume and a larger limit"
    )
    return Verdict(text=f"undecided: {left_open}", left_open=left_open)


def _finalists(context: Context, search: SearchResult, noise: float) -> list[Trial]:
    """Return the trials for the pairs in order; those that may be the best get a second look.

    One run each does not tell apart what is as fast within the noise: the fastest of several is
    a lucky one, and a simpler one may be.
    """
    looked: set[int] = set()
    while found := search.finalists(noise * OF_TWO_ROUNDS if looked else noise):
        close = search.as_fast(noise)
        new = [t for t in dict.fromkeys((found[0].number, *close[:2])) if t not in looked]
        is_one = len(close) == 1 or len(looked) + len(new) > SECOND_LOOKS
        if is_one or not new or not _may_run_again(context, new):
            break
        for number in new:
            looked.add(number)
            search.trials[number - 1] = _run_again(context, search.trials[number - 1], noise)
    return found


def _may_run_again(context: Context, trials: list[int]) -> bool:
    """Whether the budget holds another round of trials; the same after a restart."""
    runs = 2 * len(trials) * len(context.cases)
    name = "second-look/" + "-".join(map(str, trials))
    allows = context.ledger.remember(
        name, lambda: context.budget.allows(runs, context.run_seconds)
    )
    return bool(allows)


def _run_again(context: Context, trial: Trial, noise: float) -> Trial:
    """Run a trial and the baseline beside it once more; return and show what all its runs say.

    A run that was ended from outside says nothing: the trial is what it was.
    """
    runs = TrialRuns(context, trial.number, Proposal(trial.settings, trial.message))
    rounds = len(trial.measurements) // len(context.cases)
    context.carry_out(runs.bring_to(rounds + 1, 0))
    runs.release()
    outcome = runs.outcome(noise)
    if outcome.state is TrialState.LOST:
        return trial
    context.observer.trial_repeated(outcome)
    return outcome


def _judge(context: Context, trial: Trial) -> Verdict | None:
    """Run the pairs of a trial and conclude; None if a run of it fails."""
    rounds = PairRunner(context, trial).run()
    if rounds is None:
        return None
    return conclude(context, trial, rounds) if rounds.n else _without_pairs(context, trial)


def _proven_before(context: Context, search: SearchResult, now: Verdict) -> Verdict | None:
    """Return what the study proved last, from its recorded pairs; None if there is nothing."""
    tried = now.winner.number if now.winner else None
    for number in reversed(context.ledger.recall_all("proven/")):
        trial = search.trials[number - 1]
        if number == tried or trial.state in (TrialState.FAILED, TrialState.REJECTED):
            continue
        verdict = _judge(context, trial)
        if verdict is not None and verdict.improved:
            verdict.text += f"; proven before, and no other trial was since ({now.text})"
            return verdict
    return None


def _record_proof(context: Context, verdict: Verdict) -> None:
    winner, rounds = verdict.winner, verdict.rounds
    assert winner is not None
    assert rounds is not None
    context.ledger.remember(f"proven/{winner.number}", lambda: winner.number)
    for place, baseline in enumerate(context.baselines):
        before, winners = zip(*rounds.pairs[place], strict=True)
        for warning in without_effect(winner, winners, before, baseline.context.facts):
            baseline.context.warn(warning)
    verdict.unsynced = [_unsynced(baseline, winner) for baseline in context.baselines]


def _announce(context: Context, trial: Trial) -> None:
    shown = said_of_files(trial.settings, lambda name, value: f"{name}={value}")
    context.decide(
        f"candidate/{trial.number}",
        f"trial {trial.number} ({shown}) is the candidate, {1 / trial.io_ratio:.2f}x so far; "
        f"{LOOKS[0]} to {LOOKS[-1]} fresh pairs of runs now confirm or refute it",
    )


def _unsynced(baseline: Baseline, trial: Trial) -> Pair | None:
    """Run baseline and winner once without fsync: how it feels with the cache."""
    case = baseline.context
    if not case.options.unsynced or not case.options.sync or not case.facts.in_reach:
        return None
    slot = partial(baseline.slot, trial_number=trial.number, sync=False)
    first, second = case.ledger.halves.whole(
        f"unsynced/{trial.number}",
        lambda name: (
            slot(f"{name}/baseline", RunRole.UNSYNCED_BASELINE),
            slot(f"{name}/winner", RunRole.UNSYNCED_WINNER, trial.settings),
        ),
    )
    done = case.ledger.measurement(second.name) is not None
    if not done and not case.budget.allows(2, baseline.run_seconds, final=True):
        return None
    try:
        before = case.carry_out(case.attempts(first))
        after = case.carry_out(case.attempts(second))
    except BudgetSpentError:
        return None
    return (before, after) if before.ok and after.ok else None
