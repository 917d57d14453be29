# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies, which propose points and receive the results of their trials."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.strategies._base import Strategy as Strategy
    from stripewise.study.strategies._burst_buffer import FILES as FILES
    from stripewise.study.strategies._burst_buffer import NODES as NODES
    from stripewise.study.strategies._burst_buffer import is_on_request as is_on_request
    from stripewise.study.strategies._model import ModelStrategy as ModelStrategy
    from stripewise.study.strategies._model import PredictedStrategy as PredictedStrategy
    from stripewise.study.strategies._model import PrunedStrategy as PrunedStrategy
    from stripewise.study.strategies._model import SeededStrategy as SeededStrategy
    from stripewise.study.strategies._registry import (
        check_strategy_options as check_strategy_options,
    )
    from stripewise.study.strategies._registry import create as create
    from stripewise.study.strategies._registry import find_strategy as find_strategy
    from stripewise.study.strategies._registry import strategy_names as strategy_names
    from stripewise.study.strategies._studied_file import last_run as last_run
else:
    __getattr__, __all__ = lazy_exports(__name__)
