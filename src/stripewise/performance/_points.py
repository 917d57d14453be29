# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a model of the storage says of the points of a space, before anything is run."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, isfinite, prod
from random import Random
from typing import NamedTuple

from stripewise.model import ProgramFacts
from stripewise.performance._prediction import Prediction
from stripewise.tunables import Space, is_valid

Places = tuple[int, ...]
"""A point of a space: the place of each tunable's value on its ladder, 0 for the default."""

MOST_PREDICTIONS = 4000
"""Points whose time is predicted; larger spaces are searched with the model itself (assumed)."""
_STARTS = 4
_EQUAL = 1e-3
_TIDIED = 30


class Predicted(NamedTuple):
    """What a model says of a space.

    Attributes:
        ratios: Places -> predicted I/O time relative to the default, of all points, or towards
            the best.
        inert: Places in a point of the tunables that the model knows to make no difference.
    """

    ratios: dict[Places, float]
    inert: frozenset[int]


def predict(
    space: Space,
    facts: ProgramFacts,
    prediction: Prediction,
    *,
    seed: int = 0,
    starts: Sequence[Places] = (),
    most: int = MOST_PREDICTIONS,
) -> Predicted:
    """Return what a model says of the points of a space.

    Args:
        space: To choose from.
        facts: Of the program.
        prediction: The model.
        seed: Of the points that the search begins from in a space that is too large.
        starts: Further points that it begins from there.
        most: Points whose time is predicted.
    """
    default = prediction.seconds({})
    if default is None or not 0 < default < inf:
        return Predicted({}, frozenset())
    known: dict[Places, float] = {}

    def ratio(places: Places) -> float:
        if places not in known:
            settings = space.at(places)
            seconds = prediction.seconds(settings) if is_valid(settings, facts) else None
            known[places] = seconds / default if seconds and isfinite(seconds) else inf
        return known[places]

    moves = _Moves(space, facts, prediction)
    varied = moves.choices
    if prod(map(len, varied)) > most:
        begins = [*starts, *moves.starts(Random(seed))]
        _descend(moves, ratio, known, begins, most)
        moves.choices = _acting(varied, known)
    if prod(map(len, moves.choices)) <= most:
        for places in itertools.product(*moves.choices):
            ratio(places)
    acting = _acting(varied, known)
    inert = (n for n, (had, has) in enumerate(zip(varied, acting, strict=True)) if had != has)
    return Predicted({p: value for p, value in known.items() if value < inf}, frozenset(inert))


def distinct(ratios: Mapping[Places, float]) -> dict[Places, float]:
    """Keep one point of those that the model holds for equal: the one with fewest settings."""
    found: dict[float, Places] = {}
    for places in sorted(ratios, key=lambda each: sum(map(bool, each))):
        found.setdefault(round(ratios[places] / _EQUAL), places)
    return {places: ratios[places] for places in found.values() if any(places)}


class _Moves:
    """Where one can go from a point by one setting, and what that setting needs."""

    def __init__(self, space: Space, facts: ProgramFacts, prediction: Prediction) -> None:
        axes = {d.tunable.name: axis for axis, d in enumerate(space.dimensions)}
        self._needs: dict[int, Places] = {}
        varied = set()
        for name in axes.keys() & prediction.tunables:
            dimension = space.dimensions[axes[name]]
            needed = {n: v for n, v in dimension.tunable.requires(facts).items() if n in axes}
            self._needs[axes[name]] = space.places(needed) or (0,) * len(axes)
            varied |= {name, *needed}
        self.choices = [
            range(len(d.values) + 1 if d.tunable.name in varied else 1) for d in space.dimensions
        ]

    def near(self, places: Places) -> Iterator[Places]:
        """Yield the points that differ in one tunable and what it needs."""
        for axis, choice in enumerate(self.choices):
            needs = self._needs.get(axis, (0,) * len(places))
            for place in choice:
                if place != places[axis]:
                    moved = [need or here for need, here in zip(needs, places, strict=True)]
                    moved[axis] = place
                    yield tuple(moved)

    def starts(self, random: Random) -> Iterator[Places]:
        """Yield the default and some points at random."""
        yield tuple(0 for _ in self.choices)
        for _ in range(_STARTS):
            yield tuple(random.choice(choice) for choice in self.choices)


def _descend(
    moves: _Moves,
    ratio: Callable[[Places], float],
    known: Mapping[Places, float],
    starts: Sequence[Places],
    most: int,
) -> None:
    """Predict along ladders from several starts, until the model's own optima are known."""
    for start in starts:
        best, further = start, True
        while further and len(known) < most:
            one = min(moves.near(best), key=ratio, default=best)
            if ratio(one) >= ratio(best):
                two = (places for step in moves.near(best) for places in moves.near(step))
                one = min(two, key=ratio, default=best)
            further = ratio(one) < ratio(best) * (1 - _EQUAL)
            best = one if further else best
    for places in heapq.nsmallest(_TIDIED, known, key=ratio):
        _without_the_needless(places, ratio)


def _acting(choices: list[range], known: Mapping[Places, float]) -> list[range]:
    """Return the choices without those of tunables that made no difference anywhere so far."""

    def acts(axis: int) -> bool:
        pairs = ((p, (*p[:axis], 0, *p[axis + 1 :])) for p in known if p[axis])
        return any(
            abs(known[point] - known[without]) > _EQUAL * known[without]
            for point, without in pairs
            if without in known and isfinite(known[point]) and isfinite(known[without])
        )

    return [choice if acts(axis) else range(1) for axis, choice in enumerate(choices)]


def _without_the_needless(best: Places, ratio: Callable[[Places], float]) -> None:
    """Predict the point without each setting that does nothing there."""
    for axis in range(len(best)):
        without = (*best[:axis], 0, *best[axis + 1 :])
        if best[axis] and ratio(without) <= ratio(best) * (1 + _EQUAL):
            best = without
