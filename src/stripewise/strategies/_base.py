# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a search strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from stripewise.model import Measurement, ProgramFacts, Proposal, Trial
from stripewise.strategies._options import OptionValue, StrategyOption, parse_options
from stripewise.tunables import Space


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
    climbs_nodes: bool = False
    """Whether it tries the numbers of burst-buffer nodes one after the other, as rungs."""
    noise: float = 0.05
    """Relative difference of `io_ratio` that means nothing; the study sets it before `tell`."""
    baseline: Measurement | None = None
    """A run of the default, with its files; the study sets it before the first `ask`."""

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
        self.space = self.refine(space, facts)
        self.facts = facts
        self.seed = seed
        self.options: Mapping[str, OptionValue] = parse_options(
            self.name, self.declared, options or {}
        )
        self.begin()

    def begin(self) -> None:  # noqa: B027 - most need nothing
        """Prepare what the first question needs; what the strategy was made with is set."""

    @classmethod
    def refine(cls, space: Space, facts: ProgramFacts) -> Space:
        """Return the space with the values that the strategy tries; most leave it as it is.

        Only values may differ, and only of tunables whose ladder the user did not give.
        """
        del facts
        return space

    @classmethod
    def problem(cls) -> str:
        """Return why it cannot be used here, with the remedy; "" if it can."""
        return ""

    def number(self, name: str) -> float:
        """Return the value of an option that is a number."""
        return float(self.options[name])

    @property
    def least_patience(self) -> float:
        """So many trials without improvement must be allowed before a study gives up."""
        return 0

    @abstractmethod
    def ask(self, n: int) -> list[Proposal]:
        """Propose up to `n` points not asked before.

        Points that were asked and not told yet are in flight: it proposes what it can without
        their outcomes, fewer points or none if it needs them.  When nothing is in flight, none
        means that it has finished.  To ask for n is to ask n times for one.
        """

    @abstractmethod
    def tell(self, trial: Trial) -> None:
        """Learn an outcome (`io_ratio`, `elapsed_ratio`; inf for a failure), in any order."""

    def prime(self, trials: Sequence[Trial]) -> None:
        """Learn of trials that were not asked here, once, before the first ask.

        A strategy that can begin with what they show does so; without this it begins as ever.
        """
        del trials

    @property
    @abstractmethod
    def finished_because(self) -> str:
        """Why there is nothing more to ask; "" while there is."""
