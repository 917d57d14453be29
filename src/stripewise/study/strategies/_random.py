# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Proposes points drawn uniformly, without repetition."""

from __future__ import annotations

from random import Random

from stripewise.core import Proposal, Trial
from stripewise.settings.tunables import is_valid
from stripewise.study.strategies._base import Strategy

ENUMERATED_POINTS = 4096
"""Number of points up to which they are listed and shuffled; otherwise they are drawn."""
FRUITLESS_DRAWS = 5000
"""Number of draws in a row without a new valid point after which the strategy ends."""


class RandomStrategy(Strategy):
    """Draws uniformly from the valid points without repetition, leaving out the default."""

    name = "random"
    summary = "points drawn uniformly at random, none twice"

    def begin(self) -> None:
        """Prepare the order; small spaces are shuffled as a whole."""
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
        """Learn nothing: draws do not depend on results."""

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
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
