# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies: ask for a point, tell what it gave."""

from stripewise.strategies._base import Proposal, Strategy
from stripewise.strategies._points import PointKey, describe, key_of
from stripewise.strategies._registry import create, strategy_names
from stripewise.strategies._seeded import SeededStrategy

__all__ = [
    "PointKey",
    "Proposal",
    "SeededStrategy",
    "Strategy",
    "create",
    "describe",
    "key_of",
    "strategy_names",
]
