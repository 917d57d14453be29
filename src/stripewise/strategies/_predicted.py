# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Points that a model of the storage promises most of, corrected by every run; then the rest."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite, log, prod
from random import Random

from stripewise.model import Proposal, Trial, Value
from stripewise.strategies._base import Strategy
from stripewise.strategies._residuals import Residuals
from stripewise.strategies._seeded import SeededStrategy
from stripewise.tunables import PointKey, Space, is_valid, key_of

MOST_PREDICTIONS = 4000
"""Points whose time is predicted; larger spaces are searched with the model itself (assumed)."""
PATIENCE = 3
"""So many runs in a row that the model chose and that were no better end its part (assumed)."""
_STARTS = 4
_EQUAL = 1e-3
_TIDIED = 30
Places = tuple[int, ...]


@dataclass(frozen=True)
class Prediction:
    """A model of what settings cost on a storage.

    Attributes:
        source: What the model describes, for people: "archer2-hdd".
        tunables: Names of the tunables that it knows the effect of.
        seconds: Settings -> I/O time of the program in seconds; None: it cannot tell.
    """

    source: str
    tunables: frozenset[str]
    seconds: Callable[[Mapping[str, Value]], float | None]


class PredictedStrategy(SeededStrategy):
    """Asks what the model promises most of, learns where it errs, then lets another go on.

    The model's error is itself a smooth function of the settings: after each run, what it
    predicts is corrected by the errors seen nearby (Kriging of log ratios), so a model that is
    wrong by a factor still ranks, and one that ranks wrongly is noticed after a few runs.
    """

    def __init__(self, inner: Strategy, prediction: Prediction) -> None:
        """Predict the points that differ in what the model knows.

        Args:
            inner: Goes on with the tunables that the model does not know, from the best point
                found; nothing was asked of it yet.
            prediction: The model.
        """
        super().__init__(inner, ())
        self._is_primed = False
        self._source = prediction.source
        self._ratios = _ratios(self.space, inner, prediction)
        self._errors = Residuals([len(d.values) for d in self.space.dimensions])
        self._open: dict[PointKey, Proposal] = {}
        self._since_gain = 0
        self._best = 1.0
        self._is_over = not self._ratios

    @property
    def least_patience(self) -> float:
        """So much as the other strategy needs, and the model's part."""
        return self._inner.least_patience + (0 if self._is_over else PATIENCE)

    @property
    def finished_because(self) -> str:
        """Why there is nothing more to ask."""
        return self._inner.finished_because if self._is_over and self._is_primed else ""

    def ask(self, n: int) -> list[Proposal]:
        """Propose what the corrected model promises most of; the other strategy afterwards."""
        asked: list[Proposal] = []
        while len(asked) < n and not self._is_over:
            proposal = self._most_promising()
            if proposal is None:
                if self._open:
                    return asked
                self._is_over = True
            else:
                self._open[key_of(proposal.settings)] = proposal
                asked.append(proposal)
        if self._open or len(asked) == n:
            return asked
        return asked + super().ask(n - len(asked))

    def tell(self, trial: Trial) -> None:
        """Correct the model, or pass the outcome on."""
        key = key_of(trial.settings)
        if self._open.pop(key, None) is None:
            super().tell(trial)
            return
        self._known[key] = trial
        places = self.space.places(trial.settings)
        if places is not None and 0 < trial.io_ratio < inf:
            self._errors.add(places, log(trial.io_ratio / self._ratios[places]))
        gained = trial.io_ratio < self._best * (1 - self.noise)
        self._best = min(self._best, trial.io_ratio)
        self._since_gain = 0 if gained else self._since_gain + 1
        self._is_over = self._is_over or (self._since_gain >= PATIENCE and not self._open)

    def _next(self) -> Proposal | None:
        if not self._is_primed:
            self._is_primed = True
            self._inner.noise = self.noise
            self._inner.prime(tuple(self._known.values()))
        return super()._next()

    def _most_promising(self) -> Proposal | None:
        """Return the point that promises a gain over the best run; None if none does."""
        if self._since_gain + len(self._open) >= PATIENCE:
            return None
        taken = {*self._known, *self._open}
        promised = self._errors.corrected(self._ratios, self.noise)
        for places, ratio in promised:
            settings = self.space.at(places)
            if ratio >= self._best * (1 - self.noise / 2):
                return None
            if key_of(settings) not in taken:
                gain = f"{1 / ratio:.2g}x" if ratio < 0.995 else "little"
                reason = f"the model of {self._source} promises {gain}"
                return Proposal(settings, reason)
        return None


def _ratios(space: Space, inner: Strategy, prediction: Prediction) -> dict[Places, float]:
    """Return predicted I/O times relative to the default, of all points or towards the best."""
    default = prediction.seconds({})
    if default is None or not 0 < default < inf:
        return {}
    known: dict[Places, float] = {}

    def ratio(places: Places) -> float:
        if places not in known:
            settings = space.at(places)
            seconds = prediction.seconds(settings) if is_valid(settings, inner.facts) else None
            known[places] = seconds / default if seconds and isfinite(seconds) else inf
        return known[places]

    moves = _Moves(space, inner, prediction)
    if moves.n_points <= MOST_PREDICTIONS:
        for places in itertools.product(*moves.choices):
            ratio(places)
    else:
        _descend(moves, ratio, known, Random(inner.seed))
    return _distinct({places: value for places, value in known.items() if value < inf})


def _distinct(ratios: Mapping[Places, float]) -> dict[Places, float]:
    """Keep one point of those that the model holds for equal: the one with fewest settings."""
    found: dict[float, Places] = {}
    for places in sorted(ratios, key=lambda each: sum(map(bool, each))):
        found.setdefault(round(ratios[places] / _EQUAL), places)
    return {places: ratios[places] for places in found.values() if any(places)}


class _Moves:
    """Where one can go from a point by one setting, and what that setting needs."""

    def __init__(self, space: Space, inner: Strategy, prediction: Prediction) -> None:
        axes = {d.tunable.name: axis for axis, d in enumerate(space.dimensions)}
        self._needs: dict[int, Places] = {}
        varied = set()
        for name in axes.keys() & prediction.tunables:
            dimension = space.dimensions[axes[name]]
            needed = {
                n: v for n, v in dimension.tunable.requires(inner.facts).items() if n in axes
            }
            self._needs[axes[name]] = space.places(needed) or (0,) * len(axes)
            varied |= {name, *needed}
        self.choices = [
            range(len(d.values) + 1 if d.tunable.name in varied else 1) for d in space.dimensions
        ]
        self.n_points = prod(map(len, self.choices))

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
    moves: _Moves, ratio: Callable[[Places], float], known: Mapping[Places, float], random: Random
) -> None:
    """Predict along ladders from several starts, until the model's own optima are known."""
    for start in moves.starts(random):
        best, further = start, True
        while further and len(known) < MOST_PREDICTIONS:
            one = min(moves.near(best), key=ratio, default=best)
            if ratio(one) >= ratio(best):
                two = (places for step in moves.near(best) for places in moves.near(step))
                one = min(two, key=ratio, default=best)
            further = ratio(one) < ratio(best) * (1 - _EQUAL)
            best = one if further else best
    for places in heapq.nsmallest(_TIDIED, known, key=ratio):
        _without_the_needless(places, ratio)


def _without_the_needless(best: Places, ratio: Callable[[Places], float]) -> None:
    """Predict the point without each setting that does nothing there."""
    for axis in range(len(best)):
        without = (*best[:axis], 0, *best[axis + 1 :])
        if best[axis] and ratio(without) <= ratio(best) * (1 + _EQUAL):
            best = without
