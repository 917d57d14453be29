# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges the confirmation pairs of a candidate and makes the result of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite, log

from stripewise.core import (
    CaseOutcome,
    CaseResult,
    Measurement,
    Reference,
    RungAhead,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.present import ratio_text
from stripewise.study.plan import (
    LOOKS,
    SLOWER_MEDIAN,
    Noise,
    clearly_worse,
    excludes_one,
    got_slower,
    is_futile,
    resolution_text,
    speedup_of,
)
from stripewise.study.procedure._context import (
    Baseline,
    CaseContext,
    Context,
    mean_spread,
    merge_verifications,
    weighted_mean,
)
from stripewise.study.procedure._trial_runs import elapsed_seconds, io_seconds


def make_result(
    context: Context,
    search: SearchResult,
    verdict: Verdict,
    references: tuple[Reference, ...] = (),
) -> StudyResult:
    """Collect everything that a report shows, as far as the study got."""
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
        tunables=tuple(
            d.tunable.name for d in context.space.dimensions if d.tunable.name in acting
        ),
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
    """Return what could be detected, based on all baseline runs of the study."""
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


# Result of a search.

_AS_FAST = 0.25
"""Loss that counts even on a noisy machine."""


@dataclass
class SearchResult:
    """Trials in order, the comparison of their outputs (by trial and case), and why it ended.

    `rungs_left` has the numbers of burst-buffer nodes that were not tried.  `is_cut` is true if a
    budget ended the search during a trial or before the first one.
    """

    trials: list[Trial] = field(default_factory=list)
    verifications: dict[int, dict[str, Verification]] = field(default_factory=dict)
    stopped_because: str = ""
    rungs_left: tuple[RungAhead, ...] = ()
    is_cut: bool = False

    def candidates(self) -> list[Trial]:
        """Return the trials that were faster than the baseline, the fastest first."""
        faster = [t for t in self.trials if t.state is TrialState.COMPLETE and t.io_ratio < 1]
        return sorted(faster, key=lambda trial: trial.io_ratio)

    def as_fast(self, noise: float) -> list[int]:
        """Return the numbers of the candidates within the noise of the best, in order."""
        found = self.candidates()
        limit = (1 + min(noise, _AS_FAST)) * (found[0].io_ratio if found else 1.0)
        return [trial.number for trial in found if trial.io_ratio <= limit]

    def verification(self, trial: Trial | None) -> Verification:
        """Return the comparison of a trial's outputs, over all cases."""
        return merge_verifications(self.verifications.get(trial.number, {}) if trial else {})

    def rejected(self, case: str | None = None) -> dict[int, Verification]:
        """Return the trials whose outputs differ, in any case or in a given one."""
        return {
            number: merge_verifications(found if case is None else {case: found[case]})
            for number, found in self.verifications.items()
            for name, verification in found.items()
            if verification.status is VerificationStatus.DIFFERENT and case in (None, name)
        }

    def finalists(self, noise: float) -> list[Trial]:
        """Return the candidates, starting with the one that should get pairs first.

        It is the fastest one, or one with a subset of its settings that is equally fast within the
        noise: a setting without visible effect is not recommended to the user.

        Args:
            noise: Relative difference of two single runs that is within the noise.
        """
        found = self.candidates()
        if not found:
            return []
        best, close = found[0], set(self.as_fast(noise))
        simpler = [
            trial
            for trial in found
            if trial.number in close and trial.settings.items() <= best.settings.items()
        ]
        first = min(simpler, key=lambda trial: (len(trial.settings), trial.io_ratio))
        return [first, *(trial for trial in found if trial is not first)]


# Confirmation pairs of a candidate and the verdict on them.
#
# A round has one pair in every case.  Its ratio is the weighted geometric mean over the cases, so
# the ratios of the rounds are a sample like those of a single case, and their interval is valid in
# the same way.  Each case also has its own interval from its own pairs; the number of looks is
# accounted for in each interval.

Pair = tuple[Measurement, Measurement]
Seconds = Callable[[Measurement], float]
TIMES: tuple[Seconds, Seconds] = (io_seconds, elapsed_seconds)


@dataclass(frozen=True)
class Rounds:
    """Rounds of confirmation pairs.

    Attributes:
        pairs: List of pairs for each case, in the order of the cases; one pair per round.
        weights: Weights of the cases.
        noises: Noise of each case's baseline before the first pair, for each of `TIMES`.
    """

    pairs: tuple[list[Pair], ...]
    weights: tuple[float, ...]
    noises: tuple[Mapping[Seconds, Noise], ...]

    @property
    def n(self) -> int:
        """Number of rounds in which every case has its pair."""
        return min(len(pairs) for pairs in self.pairs)

    def ratios(self, seconds: Seconds) -> list[float]:
        """Return baseline / candidate of each round, as the weighted mean over the cases."""
        return [
            weighted_mean([seconds(b) / seconds(w) for b, w in found], self.weights)
            for found in zip(*self.pairs, strict=False)
        ]

    def speedup(self, seconds: Seconds = io_seconds) -> Speedup:
        """Return the speed-up over all cases."""
        return speedup_of([(ratio, 1.0) for ratio in self.ratios(seconds)], self.noise(seconds))

    def of_case(self, place: int, seconds: Seconds = io_seconds) -> Speedup:
        """Return the speed-up of one case."""
        pairs = [(seconds(b), seconds(w)) for b, w in self.pairs[place]]
        return speedup_of(pairs, self.noises[place][seconds])

    def noise(self, seconds: Seconds = io_seconds) -> Noise:
        """Return the noise of a round of baseline runs, over all cases."""
        own = [noises[seconds] for noises in self.noises]
        both = mean_spread([noise.spread for noise in own], self.weights)
        return Noise(both, min(noise.n_runs for noise in own))

    def is_futile(self) -> bool:
        """Return whether more rounds are unlikely to show an improvement."""
        return is_futile([log(ratio) for ratio in self.ratios(io_seconds)], self.noise())

    def in_doubt(self, place: int) -> bool:
        """Return whether the I/O of a case may have got slower, which more pairs could decide."""
        return _is_doubtful(self.of_case(place))

    def is_in_doubt(self) -> bool:
        """Return whether any case or the elapsed time may have got slower."""
        several = len(self.pairs) > 1
        return _is_doubtful(self.speedup(elapsed_seconds)) or (
            several and any(self.in_doubt(place) for place in range(len(self.pairs)))
        )

    def is_lost(self) -> bool:
        """Return whether the I/O of a case has provably got slower."""
        of_cases = [self.of_case(place) for place in range(len(self.pairs))]
        return any(s.median < SLOWER_MEDIAN and s.high < 1 for s in of_cases)

    def is_open(self, place: int) -> bool:
        """Return whether one of several cases may be slower because the pairs ended too early."""
        return len(self.pairs) > 1 and self.n < LOOKS[-1] and self.in_doubt(place)

    def slower(self, place: int) -> Seconds | None:
        """Return which of a case's times got slower, I/O first; None if neither did."""
        for seconds in TIMES:
            ratios = [seconds(b) / seconds(w) for b, w in self.pairs[place]]
            if got_slower(self.of_case(place, seconds), ratios):
                return seconds
        return None

    def outcome(self, place: int) -> CaseOutcome:
        """Return the outcome of the pairs for a case."""
        if self.slower(place):
            return CaseOutcome.SLOWER
        if self.is_open(place):
            return CaseOutcome.OPEN
        faster = excludes_one(self.of_case(place))
        return CaseOutcome.FASTER if faster else CaseOutcome.UNCHANGED


@dataclass
class Verdict:
    """Conclusion from the confirmation pairs, also in words; `unsynced` has an entry per case.

    `left_open` says why a budget left the question undecided; empty if it is decided.
    """

    winner: Trial | None = None
    rounds: Rounds | None = None
    improved: bool = False
    text: str = ""
    left_open: str = ""
    unsynced: list[Pair | None] = field(default_factory=list)


def conclude(context: Context, trial: Trial, rounds: Rounds) -> Verdict:
    """Return whether the pairs of a trial show an improvement, and why not."""
    io, whole = rounds.speedup(), rounds.speedup(elapsed_seconds)
    shown = _shown(io)
    losses, left_open = _losses(context, rounds), _left_open(context, rounds)
    improved, undecided = False, _undecided(context, rounds)
    if undecided:
        text = f"undecided: {undecided}"
    elif io.n_pairs < LOOKS[0]:
        text = f"no improvement: the first fresh pairs do not confirm it: {shown}"
    elif not excludes_one(io):
        text = f"no improvement: the interval of the I/O speed-up contains 1: {shown}"
    elif losses:
        text = f"no improvement: I/O {shown} over all cases, but {'; '.join(losses)}"
    elif clearly_worse(whole):
        worse = f"but the whole time got worse: {ratio_text(whole.median)}x"
        text = f"no improvement: I/O {shown}, {worse}"
    elif left_open:
        cases = "; ".join(left_open)
        text = f"no improvement: {cases}, and {_no_more_pairs(context, rounds)}"
    else:
        improved = True
        text = f"I/O {shown} faster; whole time {ratio_text(whole.median)}x"
    return Verdict(trial, rounds, improved, text, undecided)


def _undecided(context: Context, rounds: Rounds) -> str:
    """Return a text if the budget ended the pairs before they showed anything; empty otherwise."""
    io = rounds.speedup()
    is_over = rounds.n >= LOOKS[-1] or rounds.is_futile() or rounds.is_lost()
    if is_over or excludes_one(io):
        return ""
    return f"I/O {_shown(io)}: too few pairs to tell; {_no_more_pairs(context, rounds)}"


def _is_doubtful(speedup: Speedup) -> bool:
    return speedup.median < SLOWER_MEDIAN and speedup.high >= 1


def _shown(io: Speedup) -> str:
    pairs = f"{io.n_pairs} fresh pair{'s' if io.n_pairs != 1 else ''}"
    interval = f"{ratio_text(io.low)}-{ratio_text(io.high)}, " if isfinite(io.low) else ""
    return f"{ratio_text(io.median)}x [{interval}{pairs}]"


def _left_open(context: Context, rounds: Rounds) -> list[str]:
    """Return which of several cases may have got slower, if more pairs could have decided."""
    return [
        f"case {case.name} is left open (I/O {_interval(rounds.of_case(place))})"
        for place, case in enumerate(context.cases)
        if rounds.is_open(place)
    ]


def _losses(context: Context, rounds: Rounds) -> list[str]:
    """Return which of several cases got slower, and by how much."""
    losses: list[str] = []
    for place, case in enumerate(context.cases if len(context.cases) > 1 else ()):
        if seconds := rounds.slower(place):
            what = "I/O" if seconds is io_seconds else "whole time"
            shown = _interval(rounds.of_case(place, seconds))
            losses.append(f"case {case.name} gets slower: {what} {shown}")
    return losses


def _interval(speedup: Speedup) -> str:
    return f"{ratio_text(speedup.median)}x [{ratio_text(speedup.low)}-{ratio_text(speedup.high)}]"


def _no_more_pairs(context: Context, rounds: Rounds) -> str:
    """Return which budget ended the pairs, and how to extend it if that helps."""
    options, budget, done = context.options, context.budget, len(context.ledger.entries)
    runs_each = 2 * len(context.cases)
    ahead = runs_each * (next(look for look in LOOKS if look > rounds.n) - rounds.n)
    most = done + runs_each * (LOOKS[-1] - rounds.n)
    text = "the budget allows no more pairs"
    if budget.runs is not None and done + ahead > budget.runs:
        is_requested = budget.runs == options.runs
        return (
            f"{text}; continue with --resume --runs {most}"
            if is_requested
            else f"{text} (the policy's)"
        )
    if budget.seconds is not None:
        seconds = ceil(context.ledger.active_seconds * most / done)
        return f"{text}; continue with --resume --time {seconds}s"
    if budget.node_seconds is not None:
        hours = budget.spent_node_seconds * most / done / 3600
        return f"{text}; continue with --resume --budget {hours:.2g}nh"
    return f"{text} (the policy's)"
