# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies: ask for a point, tell what it gave."""

from stripewise.strategies._base import Proposal, Strategy
from stripewise.strategies._registry import create, strategy_names

__all__ = ["Proposal", "Strategy", "create", "strategy_names"]
