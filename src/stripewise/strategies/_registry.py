# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The strategies by name."""

from __future__ import annotations

from difflib import get_close_matches

from stripewise.errors import UsageError
from stripewise.model import ProgramFacts
from stripewise.strategies._auto import AutoStrategy
from stripewise.strategies._base import Strategy
from stripewise.strategies._random import RandomStrategy
from stripewise.strategies._rules import RulesStrategy
from stripewise.tunables import Space

_STRATEGIES: dict[str, type[Strategy]] = {
    member.name: member for member in (AutoStrategy, RulesStrategy, RandomStrategy)
}


def strategy_names() -> tuple[str, ...]:
    """Return the names, the default first."""
    return tuple(_STRATEGIES)


def create(name: str, space: Space, facts: ProgramFacts, seed: int) -> Strategy:
    """Make a strategy for a space.

    Raises:
        UsageError: There is no such strategy.
    """
    member = _STRATEGIES.get(name)
    if member is None:
        close = get_close_matches(name, _STRATEGIES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(_STRATEGIES)}"
        raise UsageError(f"no strategy {name!r}; {hint}")
    return member(space, facts, seed)
