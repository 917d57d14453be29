# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fresh pairs of a candidate: in each round one in every case.

A round's ratio is the weighted geometric mean of its pairs, so the ratios of the rounds are a
sample like those of a single case, and their interval holds in the same way.  Each case has
its own interval from its own pairs; the looks are accounted for in every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from math import log
from random import Random

from stripewise.model import Measurement, RunRole, Speedup, Trial
from stripewise.study._baseline import Baseline
from stripewise.study._case_runs import TINY_SECONDS
from stripewise.study._context import CaseContext, Context
from stripewise.study._contract import failure_text, trial_timeout
from stripewise.study._ensemble import mean_spread, weighted_mean
from stripewise.study._places import MakeUnit
from stripewise.study._slot import RunSlot, Steps
from stripewise.study._statistics import (
    LOOKS,
    SLOWER_MEDIAN,
    Noise,
    excludes_one,
    got_slower,
    is_futile,
    speedup_of,
)

Pair = tuple[Measurement, Measurement]
Seconds = Callable[[Measurement], float]


def io_seconds(run: Measurement) -> float:
    """Return the I/O time of a run, never 0."""
    return max(run.io_seconds, TINY_SECONDS)


def elapsed_seconds(run: Measurement) -> float:
    """Return the whole time of a run, never 0."""
    return max(run.elapsed_seconds, TINY_SECONDS)


_WHICH: dict[Seconds, int] = {io_seconds: 0, elapsed_seconds: 1}
"""Place of a time's noise in `Rounds.noises`."""


@dataclass(frozen=True)
class Rounds:
    """Rounds of pairs.

    Attributes:
        pairs: A list for each case, in the order of the cases; one pair a round.
        weights: Of the cases.
        noises: Of each case's baseline, I/O and whole time, before the first pair.
    """

    pairs: tuple[list[Pair], ...]
    weights: tuple[float, ...]
    noises: tuple[tuple[Noise, Noise], ...]

    @property
    def n(self) -> int:
        """Rounds in which every case has its pair."""
        return min(len(pairs) for pairs in self.pairs)

    def ratios(self, seconds: Seconds) -> list[float]:
        """Return baseline / candidate of each round: the weighted mean over the cases."""
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
        return speedup_of(pairs, self.noises[place][_WHICH[seconds]])

    def noise(self, seconds: Seconds = io_seconds) -> Noise:
        """Return the noise of a round of baseline runs, over all cases."""
        own = [noises[_WHICH[seconds]] for noises in self.noises]
        both = mean_spread([noise.spread for noise in own], self.weights)
        return Noise(both, min(noise.n_runs for noise in own))

    def is_futile(self) -> bool:
        """Whether more rounds would hardly show an improvement."""
        return is_futile([log(ratio) for ratio in self.ratios(io_seconds)], self.noise())

    def is_slower(self, place: int, seconds: Seconds) -> bool:
        """Whether a case got slower; see `got_slower`."""
        ratios = [seconds(b) / seconds(w) for b, w in self.pairs[place]]
        return got_slower(self.of_case(place, seconds), ratios)

    def in_doubt(self, place: int) -> bool:
        """Whether the I/O of a case may have got slower, and more pairs could tell."""
        speedup = self.of_case(place)
        return speedup.median < SLOWER_MEDIAN and speedup.high >= 1

    def is_in_doubt(self) -> bool:
        """Whether that holds of some case, or of the whole time."""
        whole = self.speedup(elapsed_seconds)
        if whole.median < SLOWER_MEDIAN and whole.high >= 1:
            return True
        return len(self.pairs) > 1 and any(self.in_doubt(i) for i in range(len(self.pairs)))

    def is_lost(self) -> bool:
        """Whether the I/O of some case has provably got slower."""
        of_cases = [self.of_case(place) for place in range(len(self.pairs))]
        return any(s.median < SLOWER_MEDIAN and s.high < 1 for s in of_cases)


class PairRunner:
    """Runs the pairs of one trial."""

    def __init__(self, context: Context, baselines: Sequence[Baseline], trial: Trial) -> None:
        """Take the parts; run nothing yet."""
        self._context = context
        self._baselines = baselines
        self._trial = trial
        self._run_seconds = sum(b.run_seconds for b in baselines) / len(baselines)

    def may_begin(self) -> bool:
        """Whether pairs may begin; the first trial's were kept in the budget."""
        roles = [entry.role for entry in self._context.ledger.entries]
        first = RunRole.PAIR_WINNER not in roles
        return self._begun(1) or first or self._allows(LOOKS[0])

    def run(self) -> Rounds | None:
        """Run the pairs up to the look that decides; None if the candidate fails in one."""
        noises = tuple(self._noises(baseline.context) for baseline in self._baselines)
        rounds = Rounds(tuple([] for _ in self._baselines), self._context.weights, noises)
        for look in LOOKS:
            if rounds.n and rounds.is_futile():
                break
            for found in self._context.side_by_side().each(self._units(rounds, look)):
                if found is None:
                    return None
                for place, pair in found.items():
                    rounds.pairs[place].append(pair)
                self._tell(rounds, look)
                if rounds.n < look and rounds.is_futile():
                    break
            if rounds.n < look:
                break
            if rounds.is_lost() or (excludes_one(rounds.speedup()) and not rounds.is_in_doubt()):
                break
        return rounds

    def _noises(self, case: CaseContext) -> tuple[Noise, Noise]:
        """Return how much the baseline varies; fixed before the first pair."""

        def seen() -> list[tuple[float, ...]]:
            runs = case.baselines()
            return [astuple(Noise.of([seconds(run) for run in runs])) for seconds in _WHICH]

        io, whole = case.remember(f"pair-noise/{self._trial.number}", seen)
        return Noise(*io), Noise(*whole)

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
            for place, case in enumerate(self._context.cases)
            if case.name
        }
        self._context.observer.pair_finished(rounds.n, look, rounds.speedup(), cases)

    def _round(self, number: int, place: int) -> Steps[dict[int, Pair] | None]:
        del place  # a pair brings its own baseline
        pairs: dict[int, Pair] = {}
        for index in self._context.order(f"pair-cases/{self._trial.number}/{number}"):
            pair = yield from self._pair(self._baselines[index], number)
            if pair is None:
                return None
            pairs[index] = pair
        return pairs

    def _pair(self, baseline: Baseline, number: int) -> Steps[Pair | None]:
        case = baseline.context
        name = case.ledger.halves.whole(str(number), lambda name: self._names(baseline, name))
        if self._baseline_first(case, name):
            before = yield from case.baseline(self._slot(baseline, name, winner=False))
            winner = yield from case.attempts(self._slot(baseline, name, winner=True))
        else:
            winner = yield from case.attempts(self._slot(baseline, name, winner=True))
            before = yield from case.baseline(self._slot(baseline, name, winner=False))
        if winner.ok:
            return before, winner
        why = failure_text(winner, self._trial.settings)
        text = f"trial {self._trial.number} failed in a fresh pair ({why}): given up"
        case.decide(f"failed/{self._trial.number}", text)
        case.warn(text)
        return None

    def _baseline_first(self, case: CaseContext, name: str) -> bool:
        seed = case.key(f"{self._context.options.seed}:pair:{self._trial.number}:{name}")
        first: bool = case.remember(self._order_name(name), lambda: Random(seed).random() < 0.5)
        return first

    def _names(self, baseline: Baseline, name: str) -> tuple[str, str]:
        """Return the names of a pair's slots in the order in which they run."""
        first = not self._baseline_first(baseline.context, name)
        slots = [self._slot(baseline, name, winner=winner) for winner in (first, not first)]
        return slots[0].name, slots[1].name

    def _slot(self, baseline: Baseline, name: str, *, winner: bool) -> RunSlot:
        settings = self._trial.settings if winner else {}
        return baseline.context.slot(
            f"pair/{self._trial.number}/{name}/{'winner' if winner else 'baseline'}",
            RunRole.PAIR_WINNER if winner else RunRole.PAIR_BASELINE,
            settings=settings,
            trial_number=self._trial.number,
            pair_number=int(name.partition("/")[0]),
            timeout_seconds=trial_timeout(baseline, settings),
        )

    def _begun(self, number: int) -> bool:
        """Whether a round was begun before a restart."""
        return any(c.recall(self._order_name(number)) is not None for c in self._context.cases)

    def _order_name(self, name: int | str) -> str:
        return f"pair-order/{self._trial.number}/{name}"

    def _allows(self, rounds: int) -> bool:
        runs = 2 * rounds * len(self._baselines)
        budget, ledger = self._context.budget, self._context.ledger
        return budget.allows(ledger, runs, self._run_seconds, final=True)
