# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A strategy written as one generator: yields a proposal, receives its trial."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence

from stripewise.model import ProgramFacts, Trial
from stripewise.strategies._base import Proposal, Strategy
from stripewise.tunables import Space

Steps = Generator[Proposal, Trial, str]
"""Yields what to try, is sent its outcome, returns why there is nothing more."""


class StepwiseStrategy(Strategy):
    """Turns `steps` into ask and tell; it asks one point at a time."""

    def __init__(
        self,
        space: Space,
        facts: ProgramFacts,
        seed: int,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the space; the generator starts at the first question."""
        super().__init__(space, facts, seed, options)
        self._steps: Steps | None = None
        self._pending: Proposal | None = None
        self._finished = ""
        self.primed: tuple[Trial, ...] = ()

    @abstractmethod
    def steps(self) -> Steps:
        """Search; see `Steps`."""

    def prime(self, trials: Sequence[Trial]) -> None:
        """Keep the trials for `steps`."""
        self.primed = tuple(trials)

    def ask(self, n: int) -> list[Proposal]:
        """Propose the next point."""
        self._start()
        return [self._pending] if self._pending is not None and n > 0 else []

    def tell(self, trial: Trial) -> None:
        """Send the outcome to the generator, which then knows its next point."""
        if self._steps is not None and self._pending is not None:
            self._advance(self._steps, trial)

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        self._start()
        return self._finished

    def _start(self) -> None:
        if self._steps is None:
            self._steps = self.steps()
            self._advance(self._steps, None)

    def _advance(self, steps: Steps, trial: Trial | None) -> None:
        try:
            self._pending = next(steps) if trial is None else steps.send(trial)
        except StopIteration as stop:
            self._pending, self._finished = None, str(stop.value)
