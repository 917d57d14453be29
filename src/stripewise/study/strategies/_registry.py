# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds strategies by name."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.core import ProgramFacts
from stripewise.core.errors import RuntimeMissingError, UsageError
from stripewise.settings.tunables import Space
from stripewise.study.strategies._auto import AutoStrategy
from stripewise.study.strategies._base import Strategy, parse_options
from stripewise.study.strategies._exhaustive import ExhaustiveStrategy
from stripewise.study.strategies._expbb import ExpbbStrategy
from stripewise.study.strategies._genetic import GeneticStrategy
from stripewise.study.strategies._model import ModelStrategy
from stripewise.study.strategies._random import RandomStrategy
from stripewise.study.strategies._rules import RulesStrategy
from stripewise.study.strategies._tpe import TpeStrategy

_STRATEGIES: dict[str, type[Strategy]] = {
    member.name: member
    for member in (
        AutoStrategy,
        ModelStrategy,
        RulesStrategy,
        TpeStrategy,
        GeneticStrategy,
        RandomStrategy,
        ExhaustiveStrategy,
        ExpbbStrategy,
    )
}


def strategy_names() -> tuple[str, ...]:
    """Return the names of all strategies, the default first."""
    return tuple(_STRATEGIES)


def find_strategy(name: str) -> type[Strategy]:
    """Return the class of a strategy.

    Raises:
        UsageError: There is no such strategy.
    """
    if name not in _STRATEGIES:
        raise UsageError(f"no strategy {name!r}; there are: {', '.join(_STRATEGIES)}")
    return _STRATEGIES[name]


def check_strategy_options(name: str, options: Mapping[str, str]) -> None:
    """Refuse a strategy that cannot be used here, and unknown options or invalid values.

    Raises:
        UsageError: The strategy or an option is unknown; the message lists the known ones.
        RuntimeMissingError: A package that the strategy needs is not installed.
    """
    member = find_strategy(name)
    if problem := member.problem():
        raise RuntimeMissingError(f"the strategy {name} is not available: {problem}")
    parse_options(name, member.declared, options)


def create(
    name: str,
    space: Space,
    facts: ProgramFacts,
    seed: int,
    options: Mapping[str, str] | None = None,
) -> Strategy:
    """Create a strategy for a space.

    Raises:
        UsageError: There is no such strategy, or it has no such option.
    """
    return find_strategy(name)(space, facts, seed, options)
