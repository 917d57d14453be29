# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every point, once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import inf
from random import Random

from stripewise.errors import UsageError
from stripewise.model import Value
from stripewise.strategies._base import Proposal
from stripewise.strategies._options import StrategyOption
from stripewise.strategies._points import describe, is_valid, key_of, point_at
from stripewise.strategies._stepwise import Steps, StepwiseStrategy

Settings = dict[str, Value]
MOST_SHUFFLED = 2_000_000
"""Larger spaces are not shuffled whole; nobody measures them whole either."""


class ExhaustiveStrategy(StepwiseStrategy):
    """All valid points; those that set few knobs first, in the order of likely effect.

    With `order=most` those that set many first; with `order=random` in a random order that the
    seed decides.  It ends when every point was
    tried; the study's budget usually ends it earlier.
    """

    name = "exhaustive"
    summary = "every point once, those that set few knobs first"
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
        """It is meant to see everything."""
        return inf

    def steps(self) -> Steps:
        """Propose one point after another."""
        done = {key_of({}), *(key_of(trial.settings) for trial in self.primed)}
        tried = 0
        for point in self._points():
            if key_of(point) in done or not is_valid(point, self.facts):
                continue
            tried += 1
            yield Proposal(point, f"point {tried} of all: {describe(point)}")
        return "every valid point has been tried"

    def _points(self) -> Iterator[Settings]:
        if self.option("order") == "random":
            return self._shuffled()
        return self._by_settings(most_first=self.option("order") == "most")

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
                f"order=random lists all {self.space.size} points; use order=effect, or search "
                "fewer knobs with --only"
            )
        order = list(range(1, self.space.size))
        Random(f"exhaustive:{self.seed}").shuffle(order)
        return (point_at(self.space, index) for index in order)
