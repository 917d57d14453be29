# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies: ask for a point, tell what it gave."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.model import Proposal as Proposal
    from stripewise.strategies._base import Strategy as Strategy
    from stripewise.strategies._model import ModelStrategy as ModelStrategy
    from stripewise.strategies._model import PrunedStrategy as PrunedStrategy
    from stripewise.strategies._options import OptionValue as OptionValue
    from stripewise.strategies._options import StrategyOption as StrategyOption
    from stripewise.strategies._predicted import PredictedStrategy as PredictedStrategy
    from stripewise.strategies._registry import check_strategy_options as check_strategy_options
    from stripewise.strategies._registry import create as create
    from stripewise.strategies._registry import find_strategy as find_strategy
    from stripewise.strategies._registry import strategy_names as strategy_names
    from stripewise.strategies._rungs_ahead import last_text as last_text
    from stripewise.strategies._rungs_ahead import reach_text as reach_text
    from stripewise.strategies._rungs_ahead import rungs_ahead as rungs_ahead
    from stripewise.strategies._rungs_ahead import span_text as span_text
    from stripewise.strategies._seeded import SeededStrategy as SeededStrategy
else:
    __getattr__, __all__ = lazy_exports(__name__)
