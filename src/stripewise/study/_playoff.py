# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Further rounds for the best trials where one or two runs cannot rank them.

The best of many noisy trials is often a lucky one.  On a noisy machine the leaders run again,
fewer of them in each round, so that the one that comes to the fresh pairs is good and not
lucky.  These runs choose the winner; they never report it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stripewise.model import Trial
from stripewise.study._context import Context
from stripewise.study._search_result import SearchResult
from stripewise.study._trial_runs import TrialRuns

QUIET = 0.2
"""Relative difference of two single runs (a CV of about 0.12) up to which two rounds rank well."""
NOISY = 0.45
"""The same (a CV of about 0.26) from which on all rounds are run."""
ROUNDS = ((3, 4), (4, 3), (5, 2), (6, 2))
"""(Rounds that a leader has afterwards, how many leaders.)"""
QUIETER_ROUNDS = ROUNDS[:2]

Judge = Callable[[TrialRuns], Trial]


def play_off(
    context: Context, result: SearchResult, runs: Mapping[int, TrialRuns], judge: Judge
) -> None:
    """Run the leaders again and put their new figures into the result.

    Args:
        context: Of the study.
        result: Of the search.
        runs: Trial number to its runs.
        judge: Makes a trial of its runs.
    """
    noise = context.ledger.remember("playoff-noise", context.noise)
    if noise <= QUIET or len(result.candidates()) < 2:
        return
    leaders = result.candidates()[: ROUNDS[0][1]]
    names = ", ".join(str(trial.number) for trial in leaders)
    context.decide("playoff", f"noise of {noise:.0%}: trials {names} run again to rank them")
    for rounds, places in ROUNDS if noise >= NOISY else QUIETER_ROUNDS:
        numbers = {trial.number for trial in leaders}
        leaders = [trial for trial in result.candidates() if trial.number in numbers][:places]
        for trial in leaders:
            if not _bring_to(runs[trial.number], rounds):
                return
            result.trials[trial.number - 1] = judge(runs[trial.number])


def _bring_to(runs: TrialRuns, rounds: int) -> bool:
    """Run a trial until it has so many rounds; False if the budget ends before."""
    while runs.rounds < rounds and runs.ok and runs.slower is None:
        number = runs.rounds + 1
        if not runs.affordable(number):
            return False
        runs.bring_to(number)
    return True
