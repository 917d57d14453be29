# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Proposes points drawn uniformly, none twice."""

from __future__ import annotations

from random import Random

from stripewise.core import Proposal, Trial
from stripewise.settings.tunables import is_valid
from stripewise.study.strategies._base import Strategy

ENUMERATED_POINTS = 4096
"""Up to this many points are listed and shuffled; above it they are drawn and looked up."""
FRUITLESS_DRAWS = 5000
"""Draws in a row without a new valid point that count as "nothing more to try"."""


class RandomStrategy(Strategy):
    """Uniform over the valid points, without repetition; the default point is left out."""

    name = "random"
    summary = "configurations drawn uniformly, none twice"

    def begin(self) -> None:
        """Prepare the order; small spaces are shuffled whole."""
        self._random = Random(f"random:{self.seed}")
        self._drawn: set[int] = {0}
        self._order: list[int] | None = None
        if self.space.size <= ENUMERATED_POINTS:
            self._order = list(range(1, self.space.size))
            self._random.shuffle(self._order)
        self._next = self._draw()

    def ask(self, n: int) -> list[Proposal]:
        """Propose up to `n` new points."""
        proposals: list[Proposal] = []
        while self._next is not None and len(proposals) < n:
            proposals.append(Proposal(self.space.point(self._next), "drawn at random"))
            self._next = self._draw()
        return proposals

    def tell(self, trial: Trial) -> None:
        """Learn nothing: the draw is blind."""

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        return "" if self._next is not None else "every valid configuration has been tried"

    def _draw(self) -> int | None:
        if self._order is not None:
            return self._draw_listed(self._order)
        for _ in range(FRUITLESS_DRAWS):
            index = self._random.randrange(1, self.space.size)
            if index not in self._drawn:
                self._drawn.add(index)
                if is_valid(self.space.point(index), self.facts):
                    return index
        return None

    def _draw_listed(self, order: list[int]) -> int | None:
        while order:
            index = order.pop()
            if is_valid(self.space.point(index), self.facts):
                return index
        return None
