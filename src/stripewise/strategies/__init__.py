# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies: ask for a point, tell what it gave."""

from stripewise.strategies._base import Proposal, Strategy
from stripewise.strategies._options import OptionValue, StrategyOption
from stripewise.strategies._points import PointKey, describe, key_of
from stripewise.strategies._registry import (
    check_strategy_options,
    create,
    find_strategy,
    strategy_names,
)
from stripewise.strategies._seeded import SeededStrategy

__all__ = [
    "OptionValue",
    "PointKey",
    "Proposal",
    "SeededStrategy",
    "Strategy",
    "StrategyOption",
    "check_strategy_options",
    "create",
    "describe",
    "find_strategy",
    "key_of",
    "strategy_names",
]
