# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Proposes every point, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from math import inf
from random import Random

from stripewise.core import Proposal, Trial, Value
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import is_valid, key_of, settings_text
from stripewise.study.strategies._base import Strategy, StrategyOption

Settings = dict[str, Value]
MOST_SHUFFLED = 2_000_000
"""Size up to which a space is shuffled as a whole; larger ones are never measured entirely."""


class ExhaustiveStrategy(Strategy):
    """Proposes all valid points, those with few settings first, in the order of likely effect.

    With `order=most` those with many settings come first; with `order=random` the order is random
    and determined by the seed.  It ends when every point was tried; the study's budget usually
    ends it earlier.
    """

    name = "exhaustive"
    summary = "every configuration once, those that set few tunables first"
    declared = (
        StrategyOption(
            "order",
            "effect",
            "effect: few settings first; most: many first; random",
            ("effect", "most", "random"),
        ),
    )

    @property
    def least_patience(self) -> float:
        """Number of all points: the strategy is meant to try everything."""
        return inf

    def begin(self) -> None:
        """Create the list of points at the first `ask`."""
        self._done = {key_of({})}
        self._listed = self._proposals()
        self._next: list[Proposal] = []

    def prime(self, trials: Sequence[Trial]) -> None:
        """Leave out points that are already known."""
        self._done |= {key_of(trial.settings) for trial in trials}

    def ask(self, n: int) -> list[Proposal]:
        """Propose the next points of the list."""
        proposals = self._next + list(islice(self._listed, max(0, n - len(self._next))))
        self._next = proposals[n:]
        return proposals[:n]

    def tell(self, trial: Trial) -> None:
        """Learn nothing, because all points are tried."""

    @property
    def finished_because(self) -> str:
        """Reason why there are no more proposals."""
        self._next = self._next or list(islice(self._listed, 1))
        return "" if self._next else "every valid configuration has been tried"

    def _proposals(self) -> Iterator[Proposal]:
        tried = 0
        for point in self._points():
            if key_of(point) not in self._done and is_valid(point, self.facts):
                tried += 1
                yield Proposal(point, f"configuration {tried} of all: {settings_text(point)}")

    def _points(self) -> Iterator[Settings]:
        if self.options["order"] == "random":
            return self._shuffled()
        return self._by_settings(most_first=self.options["order"] == "most")

    def _by_settings(self, *, most_first: bool) -> Iterator[Settings]:
        ladders = [[(d.tunable.name, v) for v in d.values] for d in self.space.dimensions]
        numbers = range(1, len(ladders) + 1)
        for n_settings in reversed(numbers) if most_first else numbers:
            for chosen in combinations(ladders, n_settings):
                for point in product(*chosen):
                    yield dict(point)

    def _shuffled(self) -> Iterator[Settings]:
        if self.space.size > MOST_SHUFFLED:
            raise UsageError(
                f"order=random lists all {self.space.size} configurations; use order=effect, or "
                "search fewer tunables with --only"
            )
        order = list(range(1, self.space.size))
        Random(f"exhaustive:{self.seed}").shuffle(order)
        return (self.space.point(index) for index in order)
