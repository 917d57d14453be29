# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The winner: fresh pairs, the verdict, and two unsynced runs for the record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from stripewise.model import Measurement, RunRole, Speedup, Trial
from stripewise.study._baseline import Baseline
from stripewise.study._context import Context
from stripewise.study._effective import without_effect
from stripewise.study._search_result import SearchResult
from stripewise.study._slot import RunSlot
from stripewise.study._statistics import (
    LOOK_RANKS,
    LOOKS,
    clearly_worse,
    excludes_one,
    speedup_of,
)

Pair = tuple[Measurement, Measurement]
_TINY_SECONDS = 1e-9
WORTH_PAIRS = 0.1
"""A trial that was faster by so much comes to the pairs whatever the noise: they decide."""


@dataclass
class Verdict:
    """What the fresh pairs showed."""

    winner: Trial | None = None
    improved: bool = False
    speedup: Speedup | None = None
    elapsed_speedup: Speedup | None = None
    pairs: list[Pair] = field(default_factory=list)
    unsynced: Pair | None = None


def judge_winner(context: Context, baseline: Baseline, search: SearchResult) -> Verdict:
    """Take the best verified trial and show, by pairs that did not choose it, what it gives.

    Of trials that are as fast within the noise it is the one that sets least.

    Only one trial comes to the pairs, so that chance has one try; the next best is taken only
    if a run of it fails.
    """
    noise = context.ledger.remember("final-noise", context.noise)
    least = min(noise / 2, WORTH_PAIRS)
    for trial in search.finalists(noise):
        if trial.io_ratio > 1 - least or not _may_begin(context, baseline, trial):
            break
        verdict = _pairs_of(context, baseline, trial)
        if verdict is not None:
            _conclude(context, baseline, verdict)
            if verdict.improved:
                verdict.unsynced = _unsynced(context, baseline, trial)
            return verdict
    if search.trials:
        text = "no improvement: no configuration was faster than the baseline"
        context.decide("verdict", f"{text} by {least:.0%} or more")
    return Verdict()


def _may_begin(context: Context, baseline: Baseline, trial: Trial) -> bool:
    """Whether pairs of a trial may begin; the first trial's were kept in the budget."""
    begun = context.ledger.recall(_order_name(trial, 1)) is not None
    first = not any(entry.role is RunRole.PAIR_WINNER for entry in context.ledger.entries)
    runs = 2 * LOOKS[0]
    return (
        begun
        or first
        or context.budget.allows(context.ledger, runs, baseline.run_seconds, final=True)
    )


def _pairs_of(context: Context, baseline: Baseline, trial: Trial) -> Verdict | None:
    """Run the pairs; None if the candidate fails in one of them."""
    shown = " ".join(f"{name}={value}" for name, value in trial.settings.items())
    context.decide(
        f"candidate/{trial.number}",
        f"trial {trial.number} ({shown}) goes to the proof, {1 / trial.io_ratio:.2f}x; "
        f"now {LOOKS[0]} fresh pairs, up to {LOOKS[-1]} if they leave it open",
    )
    pairs: list[Pair] = []
    for look in LOOKS:
        if not _may_go_on(context, baseline, trial, pairs, look):
            break
        while len(pairs) < look:
            pair = _pair(context, baseline, trial, len(pairs) + 1)
            if pair is None:
                return None
            pairs.append(pair)
            context.observer.pair_finished(len(pairs), look, _io_speedup(pairs))
        if excludes_one(_io_speedup(pairs)):
            break
    return Verdict(
        winner=trial,
        speedup=_io_speedup(pairs),
        elapsed_speedup=speedup_of([(b.elapsed_seconds, w.elapsed_seconds) for b, w in pairs]),
        pairs=pairs,
    )


def _may_go_on(
    context: Context, baseline: Baseline, trial: Trial, pairs: list[Pair], look: int
) -> bool:
    """Whether to run up to the next look: always to the first, to others if they may help."""
    if not pairs:
        return True
    against = sum(before.io_seconds <= winner.io_seconds for before, winner in pairs)
    if _io_speedup(pairs).median <= 1 or against > LOOK_RANKS[LOOKS[-1]]:
        return False
    begun = context.ledger.recall(_order_name(trial, len(pairs) + 1)) is not None
    runs = 2 * (look - len(pairs))
    return begun or context.budget.allows(context.ledger, runs, baseline.run_seconds, final=True)


def _pair(context: Context, baseline: Baseline, trial: Trial, number: int) -> Pair | None:
    draw = Random(f"{context.options.seed}:pair:{trial.number}:{number}")
    baseline_first: bool = context.ledger.remember(
        _order_name(trial, number), lambda: draw.random() < 0.5
    )
    if baseline_first:
        before = context.baseline(_slot(context, baseline, trial, number, winner=False))
        winner = context.executor.run(_slot(context, baseline, trial, number, winner=True))
    else:
        winner = context.executor.run(_slot(context, baseline, trial, number, winner=True))
        before = context.baseline(_slot(context, baseline, trial, number, winner=False))
    if winner.ok:
        return before, winner
    text = f"trial {trial.number} failed in a fresh pair ({winner.message}): given up"
    context.decide(f"failed/{trial.number}", text)
    context.warn(text)
    return None


def _order_name(trial: Trial, number: int) -> str:
    return f"pair-order/{trial.number}/{number}"


def _slot(
    context: Context, baseline: Baseline, trial: Trial, number: int, *, winner: bool
) -> RunSlot:
    who = "winner" if winner else "baseline"
    return RunSlot(
        f"pair/{trial.number}/{number}/{who}",
        RunRole.PAIR_WINNER if winner else RunRole.PAIR_BASELINE,
        settings=trial.settings if winner else {},
        trial_number=trial.number,
        pair_number=number,
        timeout_seconds=baseline.timeout_seconds,
        sync=context.options.sync,
    )


def _io_speedup(pairs: list[Pair]) -> Speedup:
    times = [
        (max(b.io_seconds, _TINY_SECONDS), max(w.io_seconds, _TINY_SECONDS)) for b, w in pairs
    ]
    return speedup_of(times)


def _conclude(context: Context, baseline: Baseline, verdict: Verdict) -> None:
    io, whole = verdict.speedup, verdict.elapsed_speedup
    assert io is not None
    assert whole is not None
    shown = f"{io.median:.2f}x [{io.low:.2f}-{io.high:.2f}, {io.n_pairs} fresh pairs]"
    if not excludes_one(io):
        text = f"no improvement: the interval of the I/O speed-up contains 1: {shown}"
    elif clearly_worse(whole):
        text = f"no improvement: I/O {shown}, but the whole time got worse: {whole.median:.2f}x"
    else:
        verdict.improved = True
        text = f"I/O {shown} faster; whole time {whole.median:.2f}x"
    context.decide("verdict", text)
    if verdict.improved and verdict.winner is not None:
        winners = [winner for _, winner in verdict.pairs]
        before = [first for first, _ in verdict.pairs]
        for warning in without_effect(verdict.winner, winners, before, baseline.facts):
            context.warn(warning)


def _unsynced(context: Context, baseline: Baseline, trial: Trial) -> Pair | None:
    """Run baseline and winner once without fsync: how it feels with the cache."""
    if not context.options.unsynced or not context.options.sync:
        return None
    done = context.ledger.measurement("unsynced/winner") is not None
    budget = context.budget
    if not done and not budget.allows(context.ledger, 2, baseline.run_seconds, final=True):
        return None
    before = RunSlot(
        "unsynced/baseline",
        RunRole.UNSYNCED_BASELINE,
        trial_number=trial.number,
        timeout_seconds=baseline.timeout_seconds,
        sync=False,
    )
    after = replace(
        before,
        name="unsynced/winner",
        role=RunRole.UNSYNCED_WINNER,
        settings=trial.settings,
    )
    runs = context.executor.run(before), context.executor.run(after)
    return runs if all(run.ok for run in runs) else None
