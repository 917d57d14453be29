# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a search strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stripewise.model import ProgramFacts, Trial, Value
from stripewise.strategies._options import OptionValue, StrategyOption, parse_options
from stripewise.tunables import Space


@dataclass(frozen=True)
class Proposal:
    """A point to try.

    Attributes:
        settings: Tunable name to value; knobs not named stay at their default.
        reason: Why this one, in plain words.
    """

    settings: Mapping[str, Value]
    reason: str


class Strategy(ABC):
    """Proposes points and learns from their trials.

    A strategy is deterministic: the same space, facts, seed and sequence of ask and tell
    give the same proposals, so that a study is resumed by telling it the journal.
    """

    name: str
    summary: str
    """One line for people."""
    declared: tuple[StrategyOption, ...] = ()
    """Options that the user may give."""
    noise: float = 0.05
    """Relative difference of `io_ratio` that means nothing; the study sets it before `tell`."""

    def __init__(
        self,
        space: Space,
        facts: ProgramFacts,
        seed: int,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the space; draw nothing yet.

        Raises:
            UsageError: There is no such option, or it has no such value.
        """
        self.space = space
        self.facts = facts
        self.seed = seed
        self.options: Mapping[str, OptionValue] = parse_options(
            self.name, self.declared, options or {}
        )

    @classmethod
    def problem(cls) -> str:
        """Return why it cannot be used here, with the remedy; "" if it can."""
        return ""

    def option(self, name: str) -> OptionValue:
        """Return the value of a declared option."""
        return self.options[name]

    def number(self, name: str) -> float:
        """Return the value of an option that is a number."""
        return float(self.options[name])

    @property
    def least_patience(self) -> float:
        """So many trials without improvement must be allowed before a study gives up."""
        return 0

    @abstractmethod
    def ask(self, n: int) -> list[Proposal]:
        """Propose up to `n` points not asked before; fewer or none when it has finished.

        Every point that was asked is told before the next ask.
        """

    @abstractmethod
    def tell(self, trial: Trial) -> None:
        """Learn the outcome (`io_ratio`, `elapsed_ratio`; inf for a failure)."""

    def prime(self, trials: Sequence[Trial]) -> None:
        """Learn of trials that were not asked here, once, before the first ask.

        A strategy that can begin with what they show does so; without this it begins as ever.
        """
        del trials

    @property
    @abstractmethod
    def finished_because(self) -> str:
        """Why there is nothing more to ask; "" while there is."""
