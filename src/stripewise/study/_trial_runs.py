# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The runs of one trial over all cases, and what they say of it together.

In a round the candidate runs beside the baseline in every case, the cases in random order.  A
configuration that fails in one case has failed, and one that makes a case clearly slower is
given up there and then: no gain elsewhere can make up for it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from statistics import median_low

from stripewise.model import Trial, TrialState
from stripewise.strategies import Proposal
from stripewise.study._budget import TRIAL_RUNS
from stripewise.study._case_runs import CaseRuns
from stripewise.study._context import Context
from stripewise.study._effective import effective_settings
from stripewise.study._ensemble import weighted_mean
from stripewise.study._slot import Steps

CLEARLY_SLOWER = 0.1
"""A candidate that is slower by so much and by twice the noise is given up."""
SURPRISING = 2.0
"""A lead of so many times the noise counts after one round, whatever reached the storage."""
OF_TWO_ROUNDS = 1 / sqrt(2)
"""The noise of the mean of two rounds, in that of one."""
_SAME = "the storage was asked for the same: taken for chance"


class TrialRuns:
    """The runs of one trial and of the baseline beside them, case by case.

    Attributes:
        is_closed: What it gave was recorded before a restart: it gets no further runs, since the
            strategy was told.
    """

    def __init__(self, context: Context, number: int, proposal: Proposal) -> None:
        self._context = context
        self.number = number
        self.is_closed = context.ledger.recall(f"trial/{number}") is not None
        self.proposal = proposal
        self.cases = tuple(CaseRuns(one, number, proposal) for one in context.baselines)

    @property
    def rounds(self) -> int:
        """How often the candidate has run in every case."""
        return min(case.rounds for case in self.cases)

    @property
    def failure(self) -> str:
        """Why the first bad run of the candidate does not count; "" if there is none."""
        return next((case.failure for case in self.cases if case.failure), "")

    @property
    def slower(self) -> CaseRuns | None:
        """The one of several cases that the candidate makes clearly slower; None if none.

        Chance has a try in every case, so that one round alone does not count.
        """
        if len(self.cases) == 1:
            return None
        return next((c for c in self.cases if c.rounds > 1 and self._looks_slower(c)), None)

    @property
    def io_ratio(self) -> float:
        """The score: weighted mean of the cases' I/O-time ratios; inf after a failure.

        Where a case got clearly slower its ratio is the score: no gain makes up for it.
        """
        return self._score(lambda case: case.io_ratio)

    @property
    def asks_the_same(self) -> bool:
        """Whether nothing that reaches the storage changed, in any case."""
        return all(case.asks_the_same for case in self.cases)

    def is_unclear(self, best: float, noise: float) -> bool:
        """Whether a second round may change what is made of it: a lead that noise can give."""
        if self.failure or not self.rounds:
            return False
        if self.asks_the_same:
            return self.io_ratio < 1 - OF_TWO_ROUNDS * noise and not self._is_surprising(noise)
        return best * (1 - 2 * noise) < self.io_ratio < best * (1 - noise / 2)

    def outcome(self, noise: float) -> Trial:
        """Return what the runs say, with the noise as it was known when they began."""
        state, message, slower = TrialState.COMPLETE, self.proposal.reason, self.slower
        io_ratio = self.io_ratio
        if self.failure:
            is_lost = any(case.is_lost for case in self.cases)
            state = TrialState.LOST if is_lost else TrialState.FAILED
            message = self.failure
        elif slower is not None:
            state, said = TrialState.HOPELESS, slower.context.said("clearly slower")
            message = f"{said} than the baseline ({slower.io_ratio:.2f} times its I/O time)"
        elif io_ratio > slower_limit(noise):
            state = TrialState.HOPELESS
            message = f"clearly slower than the baseline after {self.rounds} run"
        elif self.asks_the_same and io_ratio < 1 and not self._is_surprising(noise):
            message = f"{io_ratio:.2f} times the baseline's I/O time, and {_SAME}"
            io_ratio = 1.0
        several = len(self.cases) > 1
        by_case = {case.context.name: case.io_ratio for case in self.cases if case.rounds}
        by_class = not (several or self.failure or self.asks_the_same)
        return Trial(
            number=self.number,
            settings=dict(self.proposal.settings),
            configuration=self._context.executor.configure(self.proposal.settings),
            state=state,
            measurements=tuple(run for case in self.cases for run in case.candidates),
            io_ratio=io_ratio,
            elapsed_ratio=self._score(lambda case: case.elapsed_ratio),
            message=message,
            details=self._details(),
            case_ratios=by_case if several else {},
            class_ratios=self.cases[0].class_ratios if by_class else {},
        )

    def affordable(self, rounds: int) -> bool:
        """Whether to bring every case to so many rounds is within the budget, or was begun."""
        missing = [case for case in self.cases if case.rounds < rounds]
        wanted = TRIAL_RUNS * sum(rounds - case.rounds for case in missing)
        return any(case.begun for case in missing) or self._allows(wanted)

    def bring_to(self, rounds: int, place: int) -> Steps[None]:
        """Run the candidate until it has so many rounds in every case, or is given up."""
        while self.rounds < rounds and not self.failure and self.slower is None:
            yield from self._round(self.rounds + 1, place)

    def release(self) -> None:
        """Remove what the runs made."""
        for case in self.cases:
            case.release()

    def _round(self, number: int, place: int) -> Steps[None]:
        just_run = self._context.ledger.last_entry(place).case
        for index in self._context.order(f"cases/{self.number}/{number}", first=just_run):
            case = self.cases[index]
            if case.rounds >= number:
                continue
            yield from case.round(place)
            if case.ok and self._needs_another(case):
                yield from case.round(place)
            if not case.ok or self.slower is not None:
                return

    def _details(self) -> dict[str, str]:
        """Return what the settings did, in each case."""
        return {
            f"{case.context.name}: {name}" if case.context.name else name: text
            for case in self.cases
            for name, text in effective_settings(
                self.proposal.settings, case.candidates, case.beside
            ).items()
        }

    def _is_surprising(self, noise: float) -> bool:
        """Whether a lead counts although the storage was asked for the same.

        Most settings do nothing then, but what comes before the storage (copying, communication)
        may have become faster: more than the noise has to be seen, that of two rounds in two.
        """
        return self.io_ratio < 1 - noise * (SURPRISING if self.rounds == 1 else OF_TWO_ROUNDS)

    def _needs_another(self, case: CaseRuns) -> bool:
        """Whether one of several cases looks slower after its first round: was it chance?"""
        if len(self.cases) == 1 or case.rounds > 1 or not self._looks_slower(case):
            return False
        return case.begun or self._allows(TRIAL_RUNS)

    def _looks_slower(self, case: CaseRuns) -> bool:
        noise: float = case.context.remember(f"case-noise/{self.number}", case.context.noise)
        return case.ok and median_low(case.io_ratios) > slower_limit(noise)

    def _allows(self, runs: int) -> bool:
        allows = self._context.budget.allows
        return not self.is_closed and allows(runs, self._context.run_seconds)

    def _score(self, ratio: Callable[[CaseRuns], float]) -> float:
        if self.failure:
            return inf
        if self.slower is not None:
            return ratio(self.slower)
        return weighted_mean([ratio(case) for case in self.cases], self._context.weights)


def slower_limit(noise: float) -> float:
    """Return the ratio from which on a candidate is clearly slower than the baseline."""
    return 1 + max(CLEARLY_SLOWER, 2 * noise)
