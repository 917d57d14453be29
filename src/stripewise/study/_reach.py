# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far the trials of a study get on the ladder of burst-buffer nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from stripewise.model import RungAhead, Trial
from stripewise.strategies import reach_text, rungs_ahead
from stripewise.study._context import Context
from stripewise.study._strategy import make_strategy


def rungs_of(context: Context, tried: Sequence[tuple[Trial, float]] = ()) -> tuple[RungAhead, ...]:
    """Return the numbers of nodes that the search would yet come to.

    Args:
        context: Of the study.
        tried: Trials, each with the noise as the strategy was told it.
    """
    return rungs_ahead(partial(make_strategy, context), context.facts, tried)


def say_reach(context: Context) -> None:
    """Record and show how many rungs the trials are likely to reach, where there are several."""
    rungs = rungs_of(context)
    trials = context.budget.trials_within(context.run_seconds)
    if len(rungs) > 1:
        context.decide(f"reach/{trials}", reach_text(rungs, trials))
