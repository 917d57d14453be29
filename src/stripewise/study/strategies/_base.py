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
    """Option of a strategy.

    Attributes:
        name: Words joined by `_`.
        default: Default value, which also determines the type.
        summary: One line of description.
        choices: Allowed texts; empty if the option is not a choice.
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
        """Description of valid values, for users."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = "an integer" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.minimum:g} to {self.maximum:g}"

    def parse(self, text: str) -> OptionValue:
        """Read a value.

        Raises:
            UsageError: The text is not a valid value.
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
    """Return the values of all declared options.

    Raises:
        UsageError: The strategy has no such option, or the value is invalid.
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

    A strategy is deterministic: the same space, facts, seed and sequence of ask and tell give the
    same proposals, so that a study is resumed by passing it the results of the journal.
    """

    name: str
    summary: str
    """Description in one line."""
    declared: tuple[StrategyOption, ...] = ()
    """Options that users can set."""
    climbs_nodes: bool = False
    """Whether it tries the numbers of burst-buffer nodes in order, as rungs."""
    tunes_classes: bool = False
    """Whether it can give classes of files their own settings."""
    uses_models: bool = False
    """Whether a study starts it with predictions of trained models by default."""
    noise: float = 0.05
    """Relative difference of `io_ratio` within the noise; the study sets it before `tell`."""
    baseline: Measurement | None = None
    """Run of the default with its files; the study sets it before the first `ask`."""

    def __init__(
        self,
        space: Space,
        facts: ProgramFacts,
        seed: int,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Store the arguments without drawing random numbers.

        Raises:
            UsageError: There is no such option, or its value is invalid.
        """
        self.space = self.refine(space, facts)
        self.facts = facts
        self.seed = seed
        self.options: Mapping[str, OptionValue] = parse_options(
            self.name, self.declared, options or {}
        )
        self.begin()

    def begin(self) -> None:  # noqa: B027 - most need nothing
        """Prepare for the first `ask`; all arguments of the strategy are already set."""

    @classmethod
    def refine(cls, space: Space, facts: ProgramFacts) -> Space:
        """Return the space with the values that the strategy tries, usually unchanged.

        Only values may differ, and only for tunables whose ladder the user did not set.
        """
        del facts
        return space

    @classmethod
    def problem(cls) -> str:
        """Return why it cannot be used here, with the remedy; empty if it can."""
        return ""

    def number(self, name: str) -> float:
        """Return the value of a numeric option."""
        return float(self.options[name])

    @property
    def least_patience(self) -> float:
        """Least number of trials without improvement before a study may stop."""
        return 0

    @abstractmethod
    def ask(self, n: int) -> list[Proposal]:
        """Propose up to `n` new points.

        Points without a result yet are in flight: the strategy proposes what it can without their
        results, and fewer points or none if it needs them.  If nothing is in flight, no proposal
        means that it has finished.  Asking for n points is equivalent to asking n times for one.
        """

    @abstractmethod
    def tell(self, trial: Trial) -> None:
        """Learn a result (`io_ratio`, `elapsed_ratio`; inf for a failure), in any order."""

    def prime(self, trials: Sequence[Trial]) -> None:
        """Learn trials that it did not propose, once, before the first `ask`.

        A strategy that can use them to start does so; the default implementation ignores them.
        """
        del trials

    @property
    @abstractmethod
    def finished_because(self) -> str:
        """Reason why there are no more proposals; empty while there are some."""


# A strategy written as one generator, which yields proposals and receives their trials.

Batch = list[Proposal]
Steps = Generator[Batch, list[Trial], str]
"""Generator that yields independent proposals, receives their trials, and returns why it ended."""


class StepwiseStrategy(Strategy):
    """Strategy that implements ask and tell with the generator `steps`."""

    def begin(self) -> None:
        """Store the space; the generator starts at the first `ask`."""
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
        proposals = self._batch[self._n_asked : self._n_asked + n]
        self._n_asked += len(proposals)
        return proposals

    def tell(self, trial: Trial) -> None:
        """Send the results of a batch to the generator once all of them are there."""
        self._outcomes[key_of(trial.settings)] = trial
        keys = [key_of(proposal.settings) for proposal in self._batch]
        if self._steps is not None and keys and all(key in self._outcomes for key in keys):
            self._advance(self._steps, [self._outcomes[key] for key in keys])

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
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
