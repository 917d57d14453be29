# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fresh pairs of a candidate: in each round one in every case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from functools import partial
from random import Random

from stripewise.model import RunRole, Trial, Value
from stripewise.study._budget import BudgetSpentError
from stripewise.study._context import Baseline, CaseContext, Context
from stripewise.study._places import MakeUnit
from stripewise.study._slot import RunSlot, Steps, failure_text
from stripewise.study._statistics import LOOKS, Noise, excludes_one
from stripewise.study._verdict import TIMES, Pair, Rounds, Seconds


@dataclass
class PairRunner:
    """Runs the pairs of one trial.

    Attributes:
        context: Of the study.
        trial: The candidate.
        reference: What it is compared with; empty: the unchanged program.
        kind: Of these pairs, in the names of their runs.
    """

    context: Context
    trial: Trial
    reference: Mapping[str, Value] = field(default_factory=dict)
    kind: str = "pair"

    def may_begin(self) -> bool:
        """Whether pairs may begin: those up to the first look are within the budget."""
        return self._begun(1) or self._allows(LOOKS[0])

    def run(self) -> Rounds | None:
        """Run the pairs up to the look that decides; None if the candidate fails in one."""
        noises = tuple(self._noises(baseline.context) for baseline in self.context.baselines)
        rounds = Rounds(tuple([] for _ in self.context.baselines), self.context.weights, noises)
        try:
            failed = not self._run(rounds)
        except BudgetSpentError as spent:
            self.context.executor.abandon_all(str(spent))
            failed = False
        return None if failed else rounds

    def _run(self, rounds: Rounds) -> bool:
        """Add the pairs to rounds; False if the candidate fails in one."""
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
        """Of the runs of a pair: what is compared with, and the candidate."""
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
        """Yield the rounds up to a look, as long as the budget holds those up to it.

        What ends them early is judged on the rounds in order, so that it does not depend on which
        of those in flight ends first.
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
        del place  # a pair brings its own baseline
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
        """Return the runs of a pair in their order, which is drawn once."""
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
        """Whether a round was begun before a restart."""
        return any(c.recall(self._order_name(number)) is not None for c in self.context.cases)

    def _order_name(self, name: int | str) -> str:
        return f"{self.kind}-order/{self.trial.number}/{name}"

    def _allows(self, rounds: int) -> bool:
        runs = 2 * rounds * len(self.context.baselines)
        return self.context.budget.allows(runs, self.context.run_seconds, final=True)
