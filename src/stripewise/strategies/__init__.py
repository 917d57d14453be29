# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies: ask for a point, tell what it gave."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.model import Proposal
    from stripewise.strategies._base import Strategy
    from stripewise.strategies._options import OptionValue, StrategyOption
    from stripewise.strategies._registry import (
        check_strategy_options,
        create,
        find_strategy,
        strategy_names,
    )
    from stripewise.strategies._seeded import SeededStrategy
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "OptionValue",
    "Proposal",
    "SeededStrategy",
    "Strategy",
    "StrategyOption",
    "check_strategy_options",
    "create",
    "find_strategy",
    "strategy_names",
]
