# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A strategy written as one generator: yields proposals, receives their trials."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence

from stripewise.model import Proposal, Trial
from stripewise.strategies._base import Strategy
from stripewise.tunables import PointKey, key_of

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
        self._told: dict[PointKey, Trial] = {}
        self._finished = ""
        self.primed: tuple[Trial, ...] = ()

    @abstractmethod
    def steps(self) -> Steps:
        """Search; see `Steps`."""

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
        self._told[key_of(trial.settings)] = trial
        keys = [key_of(proposal.settings) for proposal in self._batch]
        if self._steps is not None and keys and all(key in self._told for key in keys):
            self._advance(self._steps, [self._told[key] for key in keys])

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
        self._told.clear()
        try:
            self._batch = next(steps) if trials is None else steps.send(trials)
        except StopIteration as stop:
            self._batch, self._finished = [], str(stop.value)
