# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A strategy that is given its first points, and points that are to come last."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from stripewise.model import Configuration, Proposal, Trial, TrialState, Value
from stripewise.strategies._base import Strategy
from stripewise.tunables import PointKey, key_of


class SeededStrategy(Strategy):
    """Asks given points first, then another strategy, which is told of them.

    A point that the other strategy proposes again is not asked again: it is told the outcome
    that is known.  A point to be avoided counts as failed for it, and is asked when it has
    nothing more.
    """

    def __init__(
        self,
        inner: Strategy,
        seeds: Sequence[Proposal],
        avoided: Sequence[Mapping[str, Value]] = (),
    ) -> None:
        """Take the points.

        Args:
            inner: Goes on after the seeds; nothing was asked of it yet.
            seeds: Points of its space; those given twice count once.
            avoided: Points to be asked last.
        """
        self.name = inner.name
        self.summary = inner.summary
        super().__init__(inner.space, inner.facts, inner.seed)
        self.options = inner.options
        self._inner = inner
        self._seeds = deque({key_of(seed.settings): seed for seed in seeds}.values())
        self._n_seeds = len(self._seeds)
        self._avoided = {key_of(point) for point in avoided}
        self._last: deque[Proposal] = deque()
        self._known: dict[PointKey, Trial] = {}
        self._is_primed = not self._seeds
        self._of_inner: set[PointKey] = set()

    def ask(self, n: int) -> list[Proposal]:
        """Propose the next points; the other strategy begins when all seeds are told."""
        asked: list[Proposal] = []
        while len(asked) < n and (proposal := self._next()) is not None:
            asked.append(proposal)
        return asked

    def tell(self, trial: Trial) -> None:
        """Pass the outcome on, to the strategy that asked for it."""
        key = key_of(trial.settings)
        self._known[key] = trial
        if key in self._of_inner:
            self._inner.noise = self.noise
            self._inner.tell(trial)

    @property
    def least_patience(self) -> float:
        """So much as the other strategy needs, and the seeds."""
        return self._inner.least_patience + self._n_seeds

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        if self._seeds or self._last or not self._is_primed:
            return ""
        return self._inner.finished_because

    def _next(self) -> Proposal | None:
        if self._seeds:
            return self._seeds.popleft()
        if len(self._known) < self._n_seeds:
            return None
        if not self._is_primed:
            self._is_primed = True
            self._inner.noise = self.noise
            self._inner.prime(tuple(self._known.values()))
        asked = self._ask_inner()
        if asked is not None:
            self._of_inner.add(key_of(asked.settings))
            return asked
        return self._last.popleft() if self._last and self._inner.finished_because else None

    def _ask_inner(self) -> Proposal | None:
        """Return a new point of the other strategy; None if it has none."""
        while asked := self._inner.ask(1):
            proposal = asked[0]
            key = key_of(proposal.settings)
            if key in self._known:
                self._inner.tell(replace(self._known[key], settings=proposal.settings))
            elif key in self._avoided:
                self._last.append(proposal)
                self._known[key] = _failed(proposal)
                self._inner.tell(self._known[key])
            else:
                return proposal
        return None


def _failed(proposal: Proposal) -> Trial:
    return Trial(0, proposal.settings, Configuration(), TrialState.FAILED, io_ratio=inf)
