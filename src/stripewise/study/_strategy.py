# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The strategy of a study, made as its options say."""

from __future__ import annotations

from stripewise.strategies import Strategy, create
from stripewise.study._context import Context


def make_strategy(context: Context) -> Strategy:
    """Return the strategy, which knows a run of the baseline if there is one case.

    Args:
        context: Of the study, with its baselines.
    """
    options = context.options
    strategy = create(
        options.strategy, context.space, context.facts, options.seed, options.strategy_options
    )
    if len(context.baselines) == 1:
        runs = context.baselines[0].measurements
        strategy.baseline = next((run for run in reversed(runs) if run.ok), None)
    return strategy
