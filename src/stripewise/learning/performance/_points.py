# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the points of a space and corrects the predictions by measured runs."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import erf, exp, inf, isfinite, log, pi, prod, sqrt
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.core import ProgramFacts
from stripewise.learning.performance._records import Prediction
from stripewise.settings.tunables import Space, is_valid

Positions = tuple[int, ...]
"""Point of a space: the index of each tunable's value on its ladder, 0 for the default."""

MOST_PREDICTIONS = 4000
"""Maximum number of predicted points; larger spaces are searched with the model (assumed)."""
_STARTS = 4
_EQUAL = 1e-3
_TIDIED = 30


class Predicted(NamedTuple):
    """Predictions of a model for a space.

    Attributes:
        ratios: Positions to predicted I/O time relative to the default, of all points or of those
            on the way to the best.
        inert: Axes of the tunables that make no difference in the model.
    """

    ratios: dict[Positions, float]
    inert: frozenset[int]


def predict(
    space: Space,
    facts: ProgramFacts,
    prediction: Prediction,
    *,
    seed: int = 0,
    starts: Sequence[Positions] = (),
    most: int = MOST_PREDICTIONS,
) -> Predicted:
    """Return a model's predictions for the points of a space.

    Args:
        space: Space of permitted settings.
        facts: Facts of the program.
        prediction: Model of the program.
        seed: Seed of the random starting points in a space that is too large.
        starts: Further starting points for such a space.
        most: Maximum number of points to predict.
    """
    default = prediction.seconds({})
    if default is None or not 0 < default < inf:
        return Predicted({}, frozenset())
    known: dict[Positions, float] = {}

    def ratio(positions: Positions) -> float:
        if positions not in known:
            settings = space.at(positions)
            seconds = prediction.seconds(settings) if is_valid(settings, facts) else None
            known[positions] = seconds / default if seconds and isfinite(seconds) else inf
        return known[positions]

    moves = _Moves(space, facts, prediction)
    varied = moves.choices
    if prod(map(len, varied)) > most:
        begins = [*starts, *moves.starts(Random(seed))]
        _descend(moves, ratio, known, begins, most)
        moves.choices = _acting(varied, known)
    if prod(map(len, moves.choices)) <= most:
        for positions in itertools.product(*moves.choices):
            ratio(positions)
    acting = _acting(varied, known)
    inert = (n for n, (had, has) in enumerate(zip(varied, acting, strict=True)) if had != has)
    return Predicted({p: value for p, value in known.items() if value < inf}, frozenset(inert))


def distinct(ratios: Mapping[Positions, float]) -> dict[Positions, float]:
    """Return only one of those points that are equal in the model, with the fewest settings."""
    found: dict[float, Positions] = {}
    for positions in sorted(ratios, key=lambda each: sum(map(bool, each))):
        found.setdefault(round(ratios[positions] / _EQUAL), positions)
    return {positions: ratios[positions] for positions in found.values() if any(positions)}


class _Moves:
    """Moves from a point by one setting together with the settings that it requires."""

    def __init__(self, space: Space, facts: ProgramFacts, prediction: Prediction) -> None:
        axes = {d.tunable.name: axis for axis, d in enumerate(space.dimensions)}
        self._needs: dict[int, Positions] = {}
        varied = set()
        for name in axes.keys() & prediction.tunables:
            dimension = space.dimensions[axes[name]]
            needed = {n: v for n, v in dimension.tunable.requires(facts).items() if n in axes}
            self._needs[axes[name]] = space.positions(needed) or (0,) * len(axes)
            varied |= {name, *needed}
        self.choices = [
            range(len(d.values) + 1 if d.tunable.name in varied else 1) for d in space.dimensions
        ]

    def near(self, positions: Positions) -> Iterator[Positions]:
        """Yield the points that differ in one tunable and the settings that it requires."""
        for axis, choice in enumerate(self.choices):
            needs = self._needs.get(axis, (0,) * len(positions))
            for place in choice:
                if place != positions[axis]:
                    moved = [need or here for need, here in zip(needs, positions, strict=True)]
                    moved[axis] = place
                    yield tuple(moved)

    def starts(self, random: Random) -> Iterator[Positions]:
        """Yield the default and some random points."""
        yield tuple(0 for _ in self.choices)
        for _ in range(_STARTS):
            yield tuple(random.choice(choice) for choice in self.choices)


def _descend(
    moves: _Moves,
    ratio: Callable[[Positions], float],
    known: Mapping[Positions, float],
    starts: Sequence[Positions],
    most: int,
) -> None:
    """Predict along ladders from several starts until the model's optima are known."""
    for start in starts:
        best, further = start, True
        while further and len(known) < most:
            one = min(moves.near(best), key=ratio, default=best)
            if ratio(one) >= ratio(best):
                two = (positions for step in moves.near(best) for positions in moves.near(step))
                one = min(two, key=ratio, default=best)
            further = ratio(one) < ratio(best) * (1 - _EQUAL)
            best = one if further else best
    for positions in heapq.nsmallest(_TIDIED, known, key=ratio):
        _without_the_needless(positions, ratio)


def _acting(choices: list[range], known: Mapping[Positions, float]) -> list[range]:
    """Return the choices of tunables; those that made no difference so far keep the default."""

    def acts(axis: int) -> bool:
        pairs = ((p, (*p[:axis], 0, *p[axis + 1 :])) for p in known if p[axis])
        return any(
            abs(known[point] - known[without]) > _EQUAL * known[without]
            for point, without in pairs
            if without in known and isfinite(known[point]) and isfinite(known[without])
        )

    return [choice if acts(axis) else range(1) for axis, choice in enumerate(choices)]


def _without_the_needless(best: Positions, ratio: Callable[[Positions], float]) -> None:
    """Predict the point without each of those settings that have no effect there."""
    for axis in range(len(best)):
        without = (*best[:axis], 0, *best[axis + 1 :])
        if best[axis] and ratio(without) <= ratio(best) * (1 + _EQUAL):
            best = without


# The error of a model as a smooth function of the settings (Kriging).
#
# Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1.

Floats = NDArray[np.float64]

PRIOR = 0.3
"""Standard deviation of the log of a model's error before anything is measured (assumed)."""
LEAST_PRIOR, MOST_PRIOR = 0.05, 1.0
"""Bounds of the standard deviation assumed for a model's log error (assumed)."""
_NORMAL = 1.4826
"""Standard deviation of a normal distribution relative to its median distance from 0."""
PRIOR_WEIGHT = 3.0
"""Number of measured errors that weighs as much as the prior (assumed)."""
REACH = 0.5
"""Correlation length of the error, as a share of a ladder (assumed)."""
LEAST_NOISE = 0.02


def prior_of(error: float | None) -> float:
    """Return the standard deviation of the log error of a model with a known median error.

    Args:
        error: Median of |predicted - measured| / measured; None if unknown.
    """
    if error is None:
        return PRIOR
    return min(max(log(1 + error) * _NORMAL, LEAST_PRIOR), MOST_PRIOR)


class Corrected(NamedTuple):
    """Prediction for one point, corrected by the observed errors.

    Attributes:
        positions: Positions of the point along the axes.
        ratio: Median of the predicted time relative to the default.
        spread: Standard deviation of the logarithm of the ratio.
    """

    positions: Positions
    ratio: float
    spread: float

    def chance_below(self, limit: float) -> float:
        """Return the probability that the time relative to the default is below a limit."""
        return (1 + erf(self._steps(limit) / sqrt(2))) / 2

    def gain(self, best: float) -> float:
        """Return the expected reduction of the best time if the point is run.

        This is the expected improvement of the logarithm; a worse point counts as 0.

        Source: Jones, Schonlau and Welch, Journal of Global Optimization 13 (1998) 455.
        """
        steps = self._steps(best)
        density = exp(-(steps**2) / 2) / sqrt(2 * pi)
        return self.spread * (steps * self.chance_below(best) + density)

    def _steps(self, limit: float) -> float:
        return log(limit / self.ratio) / self.spread


class Residuals:
    """Errors at measured points, from which errors at other points are estimated."""

    def __init__(self, lengths: Sequence[int], prior: float = PRIOR, own: float = 0.0) -> None:
        """Start with no error at the default.

        Args:
            lengths: Number of values of each tunable without the default.
            prior: Standard deviation of the log of the model's error before any run.
            own: Share of its variance that is specific to each point, unrelated to its neighbours.
        """
        self._prior, self._own = prior, own
        self._scale = np.maximum(np.asarray(lengths, np.float64), 1.0)
        self._points: list[Positions] = [tuple(0 for _ in lengths)]
        self._errors = [0.0]
        self._noises, self._shifts = [0.0], [0.0]
        self._sources = [0]

    def add(
        self,
        positions: Positions,
        error: float,
        noise: float = 0.0,
        shift: float = 0.0,
        source: int = 0,
    ) -> None:
        """Add the log of measured over predicted time at a point.

        Args:
            positions: Positions of the point along the axes.
            error: Error measured there.
            noise: Standard deviation of the error if it is larger than usual.
            shift: Standard deviation of an error that all points of a source have in common: they
                were measured with a similar program whose default differs from the one here.
            source: Number of the program that was measured.
        """
        self._points.append(positions)
        self._errors.append(error)
        self._noises.append(noise)
        self._shifts.append(shift)
        self._sources.append(source)

    def corrected(self, ratios: Mapping[Positions, float], noise: float) -> list[Corrected]:
        """Return the corrected predictions of points, in their order.

        Args:
            ratios: Points to predicted time relative to the default.
            noise: Relative noise of a measured ratio.
        """
        if not ratios:
            return []
        predicted = np.log(np.fromiter(ratios.values(), np.float64, len(ratios)))
        known, errors = np.asarray(self._points), np.asarray(self._errors)
        inverse = np.linalg.inv(self._alike(known, known) + self._noise(noise))
        near = self._alike(np.asarray(list(ratios)), known)
        medians = np.exp(predicted + near @ inverse @ errors)
        seen = PRIOR_WEIGHT * self._prior**2 + errors @ inverse @ errors
        variance = seen / (PRIOR_WEIGHT + len(errors) - 1)
        unexplained = 1 - np.einsum("ij,jk,ik->i", near, inverse, near)
        spreads = np.sqrt(variance * np.maximum(unexplained, 0) + LEAST_NOISE**2)
        columns = zip(ratios, medians.tolist(), spreads.tolist(), strict=True)
        return [Corrected(*row) for row in columns]

    def _noise(self, noise: float) -> Floats:
        """Return the covariance of the measurement errors relative to the prior variance."""
        own = np.maximum(max(noise, LEAST_NOISE), np.asarray(self._noises)) / self._prior
        shifts = np.asarray(self._shifts) / self._prior
        shared = np.outer(shifts, shifts) * np.equal.outer(self._sources, self._sources)
        whole: Floats = np.diag(own**2) + shared
        return whole

    def _alike(self, one: Floats, other: Floats) -> Floats:
        """Return the correlation of the errors between points, shape (n, m)."""
        apart = (one[:, None, :] - other[None, :, :]) / (self._scale * REACH)
        distance = np.square(apart).sum(axis=2)
        correlation: Floats = (1 - self._own) * np.exp(-distance / 2) + self._own * (distance == 0)
        return correlation
