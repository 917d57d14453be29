# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs confirmation pairs of the best candidates and of the other default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import partial
from random import Random

from stripewise.core import Proposal, Reference, RunRole, Trial, TrialState, Value
from stripewise.present import ratio_text
from stripewise.settings.tunables import settings_by_files
from stripewise.study.plan import (
    LOOKS,
    BudgetSpentError,
    Noise,
    RunSlot,
    Steps,
    excludes_one,
    failure_text,
)
from stripewise.study.procedure._context import Baseline, CaseContext, Context
from stripewise.study.procedure._result import (
    TIMES,
    Pair,
    Rounds,
    SearchResult,
    Seconds,
    Verdict,
    conclude,
)
from stripewise.study.procedure._trial_runs import (
    OF_TWO_ROUNDS,
    TrialRuns,
    elapsed_seconds,
    without_effect,
)
from stripewise.study.runs import MakeUnit
from stripewise.study.strategies import NODES

MOST_PROOFS = 2
SECOND_LOOKS = 4
"""Maximum number of trials that are repeated before one becomes the candidate (assumed)."""
WORTH_PAIRS = 0.1
"""Gain from which on a trial gets pairs whatever the noise: the pairs decide."""


def judge_winner(context: Context, search: SearchResult) -> Verdict:
    """Measure the gain of the best verified trial with pairs of runs made after its selection.

    If several trials are equally fast within the noise, the one with the fewest settings is taken.
    They are repeated first, since a single run each may have been lucky.

    Pairs that do not confirm the best trial end early, and the next best gets its turn.  At most
    two trials are judged, so that chance has only two tries (each at 1 % if there is no gain).
    What a study proved before its budget was extended remains the answer unless another trial is
    proven now.
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
    """Return the verdict that a candidate's pairs would exceed the budget."""
    why = context.budget.why_no_pairs(context.run_seconds) or "the budget is spent"
    shown = settings_by_files(trial.settings, lambda name, value: f"{name}={value}")
    left_open = (
        f"trial {trial.number} ({shown}) was {ratio_text(1 / trial.io_ratio)}x faster in its "
        f"trial, but no fresh pairs could be run to confirm it: {why}; continue with "
        "--resume and a larger limit"
    )
    return Verdict(text=f"undecided: {left_open}", left_open=left_open)


def _finalists(context: Context, search: SearchResult, noise: float) -> list[Trial]:
    """Return the trials to be judged in order; those that may be the best are repeated first.

    Single runs cannot distinguish trials that are equally fast within the noise: the fastest of
    several is a lucky one, and a simpler one may be best.
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
    """Return whether the budget allows another round of trials; the same after a restart."""
    runs = 2 * len(trials) * len(context.cases)
    name = "second-look/" + "-".join(map(str, trials))
    allows = context.ledger.remember(
        name, lambda: context.budget.allows(runs, context.run_seconds)
    )
    return bool(allows)


def _run_again(context: Context, trial: Trial, noise: float) -> Trial:
    """Repeat a trial and its baseline; return and show the result of all its runs.

    If the run is ended from outside, the trial is returned unchanged.
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
    """Run the pairs of a trial and return the verdict; None if one of its runs fails."""
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
            verdict.text += f"; this was proven earlier, and no later trial was ({now.text})"
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
    shown = settings_by_files(trial.settings, lambda name, value: f"{name}={value}")
    context.decide(
        f"candidate/{trial.number}",
        f"trial {trial.number} ({shown}) is the candidate, {ratio_text(1 / trial.io_ratio)}x so "
        f"far; {LOOKS[0]} to {LOOKS[-1]} fresh pairs of runs now confirm or refute it",
    )


def _unsynced(baseline: Baseline, trial: Trial) -> Pair | None:
    """Run baseline and winner once without fsync, to see their times with the cache."""
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


# Confirmation pairs of a candidate: each round has one pair in every case.


@dataclass
class PairRunner:
    """Runs the pairs of one trial.

    Attributes:
        context: Context of the study.
        trial: Candidate that is judged.
        reference: Settings with which it is compared; empty for the unchanged program.
        kind: Kind of these pairs, which is part of the names of their runs.
    """

    context: Context
    trial: Trial
    reference: Mapping[str, Value] = field(default_factory=dict)
    kind: str = "pair"

    def may_begin(self) -> bool:
        """Return whether pairs may begin: the budget allows those up to the first look."""
        return self._begun(1) or self._allows(LOOKS[0])

    def run(self) -> Rounds | None:
        """Run pairs until a look decides; None if the candidate fails in one."""
        noises = tuple(self._noises(baseline.context) for baseline in self.context.baselines)
        rounds = Rounds(tuple([] for _ in self.context.baselines), self.context.weights, noises)
        try:
            failed = not self._run(rounds)
        except BudgetSpentError as spent:
            self.context.executor.abandon_all(str(spent))
            failed = False
        return None if failed else rounds

    def _run(self, rounds: Rounds) -> bool:
        """Add pairs to the rounds; return False if the candidate fails in one."""
        for look in LOOKS:
            if rounds.n and rounds.is_futile():
                break
            for found in self.context.side_by_side().each(self._units(rounds, look)):
                if found is None:
                    return False
                for place, pair in found.items():
                    rounds.pairs[place].append(pair)
                self._tell(rounds, look)
                if rounds.n < look and rounds.is_futile():
                    break
            if rounds.n < look:
                break
            if rounds.is_lost() or (excludes_one(rounds.speedup()) and not rounds.is_in_doubt()):
                break
        return True

    @property
    def _roles(self) -> tuple[RunRole, RunRole]:
        """Roles of the two runs of a pair: the reference and the candidate."""
        if self.reference:
            return RunRole.REFERENCE, RunRole.REFERENCE_WINNER
        return RunRole.PAIR_BASELINE, RunRole.PAIR_WINNER

    def _noises(self, case: CaseContext) -> dict[Seconds, Noise]:
        """Return how much the baseline varies; fixed before the first pair."""

        def seen() -> list[tuple[float, ...]]:
            runs = case.baselines()
            return [astuple(Noise.of([seconds(run) for run in runs])) for seconds in TIMES]

        known = case.remember(f"pair-noise/{self.trial.number}", seen)
        return {seconds: Noise(*noise) for seconds, noise in zip(TIMES, known, strict=True)}

    def _units(self, rounds: Rounds, look: int) -> Iterator[MakeUnit[dict[int, Pair] | None]]:
        """Yield the rounds up to a look, as long as the budget allows all of them.

        An early end is decided on the rounds in order, so that it does not depend on which of the
        rounds in flight ends first.
        """
        for number in range(rounds.n + 1, look + 1):
            if number > 1 and not self._begun(number) and not self._allows(look - number + 1):
                return
            yield partial(self._round, number)

    def _tell(self, rounds: Rounds, look: int) -> None:
        cases = {
            case.name: rounds.of_case(place)
            for place, case in enumerate(self.context.cases)
            if case.name
        }
        self.context.observer.pair_finished(rounds.n, look, rounds.speedup(), cases)

    def _round(self, number: int, place: int) -> Steps[dict[int, Pair] | None]:
        del place  # a pair runs its own baseline
        pairs: dict[int, Pair] = {}
        for index in self.context.order(f"pair-cases/{self.trial.number}/{number}"):
            pair = yield from self._pair(self.context.baselines[index], number)
            if pair is None:
                return None
            pairs[index] = pair
        return pairs

    def _pair(self, baseline: Baseline, number: int) -> Steps[Pair | None]:
        case = baseline.context
        found = {}
        for slot in case.ledger.halves.whole(str(number), partial(self._slots, baseline)):
            run = case.attempts if slot.settings else case.baseline
            found[slot.role] = yield from run(slot)
        before, winner = (found[role] for role in self._roles)
        if before.ok and winner.ok:
            return before, winner
        if not before.ok:
            return None
        why = failure_text(winner, self.trial.settings)
        text = f"trial {self.trial.number} failed in a fresh pair ({why}): given up"
        case.decide(f"failed/{self.trial.number}", text)
        case.warn(text)
        return None

    def _slots(self, baseline: Baseline, name: str) -> tuple[RunSlot, RunSlot]:
        """Return the runs of a pair in their order, which is drawn at random once."""
        case, number = baseline.context, self.trial.number
        slot = partial(baseline.slot, trial_number=number, pair_number=int(name.partition("/")[0]))
        of_reference, of_winner = self._roles
        first = f"{self.kind}/{number}/{name}"
        before = slot(f"{first}/baseline", of_reference, self.reference)
        winner = slot(f"{first}/winner", of_winner, self.trial.settings)
        seed = case.key(f"{self.context.options.seed}:{self.kind}:{number}:{name}")
        if case.remember(self._order_name(name), lambda: Random(seed).random() < 0.5):
            return before, winner
        return winner, before

    def _begun(self, number: int) -> bool:
        """Return whether a round was begun before a restart."""
        return any(c.recall(self._order_name(number)) is not None for c in self.context.cases)

    def _order_name(self, name: int | str) -> str:
        return f"{self.kind}-order/{self.trial.number}/{name}"

    def _allows(self, rounds: int) -> bool:
        runs = 2 * rounds * len(self.context.baselines)
        return self.context.budget.allows(runs, self.context.run_seconds, final=True)


# Comparison of the winner of a job script's study with the other default: a plain burst buffer.
#
# The confirmation pairs compare it with the unchanged script.  Users who add a burst buffer to the
# script and set nothing else have another default; the winner is also compared with the fastest of
# these that the search tried.

KIND = "default"


def compare_with_defaults(
    context: Context, trials: Sequence[Trial], verdict: Verdict
) -> tuple[Reference, ...]:
    """Run confirmation pairs of the winner and the other default; empty without a default."""
    winner, settings = verdict.winner, other_default(trials)
    if context.options.job is None or winner is None or not verdict.improved or not settings:
        return ()
    if dict(winner.settings) == settings:
        return ()
    name = default_name(settings)
    context.decide("reference", f"the winner is compared with {name} too, in fresh pairs of runs")
    runner = PairRunner(context, winner, settings, KIND)
    if not runner.may_begin():
        context.decide("no-reference", f"the budget has no runs left for pairs against {name}")
        return ()
    rounds = runner.run()
    if rounds is None or not rounds.n:
        return ()
    pairs = tuple(rounds.pairs[0])
    return (Reference(name, settings, rounds.speedup(), rounds.speedup(elapsed_seconds), pairs),)


def other_default(trials: Sequence[Trial]) -> dict[str, Value]:
    """Return the settings of the fastest trial that only adds or removes a burst buffer."""
    plain = [
        trial
        for trial in trials
        if set(trial.settings) == {NODES} and trial.state is not TrialState.FAILED
    ]
    best = min(plain, key=lambda trial: trial.io_ratio, default=None)
    return {} if best is None else dict(best.settings)


def default_name(settings: dict[str, Value]) -> str:
    """Return the name of a default."""
    nodes = settings[NODES]
    if not nodes:
        return "the parallel file system"
    return f"a burst buffer of {nodes} {'node' if nodes == 1 else 'nodes'} with its defaults"
