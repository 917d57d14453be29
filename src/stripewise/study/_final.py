# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The winner: fresh pairs, the verdict, and two unsynced runs for the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stripewise.model import CaseOutcome, RunRole, Speedup, Trial
from stripewise.study._baseline import Baseline
from stripewise.study._context import Context
from stripewise.study._effective import without_effect
from stripewise.study._pairs import Pair, PairRunner, Rounds, elapsed_seconds, io_seconds
from stripewise.study._search_result import SearchResult
from stripewise.study._statistics import LOOKS, clearly_worse, excludes_one

WORTH_PAIRS = 0.1
"""A trial that was faster by so much comes to the pairs whatever the noise: they decide."""


@dataclass
class Verdict:
    """What the fresh pairs showed; `unsynced` has an entry for each case."""

    winner: Trial | None = None
    rounds: Rounds | None = None
    improved: bool = False
    unsynced: list[Pair | None] = field(default_factory=list)

    def outcome(self, place: int) -> CaseOutcome:
        """Return what the pairs showed of a case."""
        if self.rounds is None:
            return CaseOutcome.UNKNOWN
        if self.slower_in(place):
            return CaseOutcome.SLOWER
        faster = excludes_one(self.rounds.of_case(place))
        return CaseOutcome.FASTER if faster else CaseOutcome.UNCHANGED

    def slower_in(self, place: int) -> str:
        """Say what of a case got slower: "I/O" or "whole time"; "" if nothing did."""
        assert self.rounds is not None
        if self.rounds.is_slower(place, io_seconds):
            return "I/O"
        return "whole time" if self.rounds.is_slower(place, elapsed_seconds) else ""


def judge_winner(context: Context, baselines: Sequence[Baseline], search: SearchResult) -> Verdict:
    """Take the best verified trial and show, by pairs that did not choose it, what it gives.

    Of trials that are as fast within the noise it is the one that sets least.

    Only one trial comes to the pairs, so that chance has one try; the next best is taken only
    if a run of it fails.
    """
    noise = context.ledger.remember("final-noise", context.noise)
    least = min(noise / 2, WORTH_PAIRS)
    for trial in search.finalists(noise):
        runner = PairRunner(context, baselines, trial)
        if trial.io_ratio > 1 - least or not runner.may_begin():
            break
        _announce(context, trial)
        rounds = runner.run()
        if rounds is not None:
            verdict = Verdict(trial, rounds)
            _conclude(context, baselines, verdict)
            if verdict.improved:
                verdict.unsynced = [_unsynced(baseline, trial) for baseline in baselines]
            return verdict
    if search.trials:
        text = "no improvement: no configuration was faster than the baseline"
        context.decide("verdict", f"{text} by {least:.0%} or more", quietly=True)
    return Verdict()


def _announce(context: Context, trial: Trial) -> None:
    shown = " ".join(f"{name}={value}" for name, value in trial.settings.items())
    context.decide(
        f"candidate/{trial.number}",
        f"trial {trial.number} ({shown}) goes to the proof, {1 / trial.io_ratio:.2f}x; "
        f"now {LOOKS[0]} fresh pairs, up to {LOOKS[-1]} if they leave it open",
    )


def _conclude(context: Context, baselines: Sequence[Baseline], verdict: Verdict) -> None:
    rounds = verdict.rounds
    assert rounds is not None
    assert verdict.winner is not None
    io, whole = rounds.speedup(), rounds.speedup(elapsed_seconds)
    shown = f"{io.median:.2f}x [{io.low:.2f}-{io.high:.2f}, {io.n_pairs} fresh pairs]"
    losses = _losses(context, verdict)
    if not excludes_one(io):
        text = f"no improvement: the interval of the I/O speed-up contains 1: {shown}"
    elif losses:
        text = f"no improvement: I/O {shown} over all cases, but {'; '.join(losses)}"
    elif clearly_worse(whole):
        text = f"no improvement: I/O {shown}, but the whole time got worse: {whole.median:.2f}x"
    else:
        verdict.improved = True
        text = f"I/O {shown} faster; whole time {whole.median:.2f}x"
    context.decide("verdict", text, quietly=True)
    if not verdict.improved:
        return
    for place, baseline in enumerate(baselines):
        before, winners = zip(*rounds.pairs[place], strict=True)
        for warning in without_effect(verdict.winner, winners, before, baseline.facts):
            baseline.context.warn(warning)


def _losses(context: Context, verdict: Verdict) -> list[str]:
    """Say which of several cases got slower, and by how much."""
    rounds, said = verdict.rounds, []
    assert rounds is not None
    for place, case in enumerate(context.cases):
        what = verdict.slower_in(place) if len(context.cases) > 1 else ""
        if what:
            seconds = io_seconds if what == "I/O" else elapsed_seconds
            speedup: Speedup = rounds.of_case(place, seconds)
            said.append(
                f"case {case.name} gets slower: {what} {speedup.median:.2f}x "
                f"[{speedup.low:.2f}-{speedup.high:.2f}]"
            )
    return said


def _unsynced(baseline: Baseline, trial: Trial) -> Pair | None:
    """Run baseline and winner once without fsync: how it feels with the cache."""
    case = baseline.context
    if not case.options.unsynced or not case.options.sync:
        return None
    name, budget = f"unsynced/{trial.number}", case.budget
    done = case.measurement(f"{name}/winner") is not None
    if not done and not budget.allows(case.ledger, 2, baseline.run_seconds, final=True):
        return None
    shared = {
        "trial_number": trial.number,
        "timeout_seconds": baseline.timeout_seconds,
        "sync": False,
    }
    before = case.slot(f"{name}/baseline", RunRole.UNSYNCED_BASELINE, **shared)
    after = case.slot(f"{name}/winner", RunRole.UNSYNCED_WINNER, settings=trial.settings, **shared)
    runs = case.executor.run(before), case.executor.run(after)
    return runs if all(run.ok for run in runs) else None
