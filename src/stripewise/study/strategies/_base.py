# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a strategy, its options, and strategies written as generators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite

from stripewise.core import Measurement, ProgramFacts, Proposal, Trial
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import PointKey, Space, key_of

# Options of a strategy: declared by it, given as text, checked before anything runs.

OptionValue = int | float | str


@dataclass(frozen=True)
class StrategyOption:
    """One option.

    Attributes:
        name: Words joined by `_`.
        default: Also tells its type.
        summary: One line.
        choices: Allowed texts; empty otherwise.
        minimum / maximum: Bounds of a number.
    """

    name: str
    default: OptionValue
    summary: str
    choices: tuple[str, ...] = ()
    minimum: float = 0.0
    maximum: float = 1e9

    @property
    def expected(self) -> str:
        """What a value must be, for people."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = "an integer" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.minimum:g} to {self.maximum:g}"

    def parse(self, text: str) -> OptionValue:
        """Read a value.

        Raises:
            UsageError: It is none.
        """
        wrong = UsageError(f"strategy option {self.name}={text!r}: give {self.expected}")
        if self.choices:
            if text not in self.choices:
                raise wrong
            return text
        try:
            value = int(text) if isinstance(self.default, int) else float(text)
        except ValueError:
            raise wrong from None
        if not isfinite(value) or not self.minimum <= value <= self.maximum:
            raise wrong
        return value


def parse_options(
    strategy: str, declared: Sequence[StrategyOption], given: Mapping[str, str]
) -> dict[str, OptionValue]:
    """Return every declared option's value.

    Raises:
        UsageError: The strategy has no such option, or that option no such value.
    """
    known = {option.name: option for option in declared}
    for name in given:
        if name not in known:
            raise UsageError(f"strategy {strategy} has no option {name!r}{_hint(name, known)}")
    return {
        name: option.parse(given[name]) if name in given else option.default
        for name, option in known.items()
    }


def _hint(name: str, known: Mapping[str, StrategyOption]) -> str:
    if not known:
        return "; it has none"
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has: {', '.join(known)}"


# The contract of a search strategy.


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
    tunes_classes: bool = False
    """Whether it can give classes of files settings of their own."""
    uses_models: bool = False
    """Whether a study with it begins with what trained models promise, without being asked."""
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
        """Return why it cannot be used here, with the remedy; empty if it can."""
        return ""

    def number(self, name: str) -> float:
        """Return the value of an option that is a number."""
        return float(self.options[name])

    @property
    def least_patience(self) -> float:
        """Least number of trials without improvement before a study may give up."""
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


# A strategy written as one generator: yields proposals, receives their trials.

Batch = list[Proposal]
Steps = Generator[Batch, list[Trial], str]
"""Yields what can be tried side by side, is sent the outcomes, returns why there is no more."""


class StepwiseStrategy(Strategy):
    """Turns `steps` into ask and tell."""

    def begin(self) -> None:
        """Keep the space; the generator starts at the first question."""
        self._steps: Steps | None = None
        self._batch: Batch = []
        self._n_asked = 0
        self._outcomes: dict[PointKey, Trial] = {}
        self._finished = ""
        self.primed: tuple[Trial, ...] = ()

    @abstractmethod
    def steps(self) -> Steps:
        """Search the space; see `Steps`."""

    def prime(self, trials: Sequence[Trial]) -> None:
        """Keep the trials for `steps`."""
        self.primed = tuple(trials)

    def ask(self, n: int) -> list[Proposal]:
        """Propose the next points of the batch."""
        self._start()
        asked = self._batch[self._n_asked : self._n_asked + n]
        self._n_asked += len(asked)
        return asked

    def tell(self, trial: Trial) -> None:
        """Send the outcomes to the generator when all of the batch are there."""
        self._outcomes[key_of(trial.settings)] = trial
        keys = [key_of(proposal.settings) for proposal in self._batch]
        if self._steps is not None and keys and all(key in self._outcomes for key in keys):
            self._advance(self._steps, [self._outcomes[key] for key in keys])

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        self._start()
        return self._finished

    def _start(self) -> None:
        if self._steps is None:
            self._steps = self.steps()
            self._advance(self._steps, None)

    def _advance(self, steps: Steps, trials: list[Trial] | None) -> None:
        self._n_asked = 0
        self._outcomes.clear()
        try:
            self._batch = next(steps) if trials is None else steps.send(trials)
        except StopIteration as stop:
            self._batch, self._finished = [], str(stop.value)
