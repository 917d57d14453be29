# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The error of a model as a smooth function of the settings (Kriging).

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erf, exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.performance._points import Places

Floats = NDArray[np.float64]

PRIOR = 0.3
"""Standard deviation of the log of a model's error before anything is measured (assumed)."""
LEAST_PRIOR, MOST_PRIOR = 0.05, 1.0
"""No model is taken for better than this, nor for worse (assumed)."""
_NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its distances from 0."""
PRIOR_WEIGHT = 3.0
"""So many measured errors weigh as much as the prior (assumed)."""
REACH = 0.5
"""Distance, in shares of a ladder, over which an error is alike (assumed)."""
LEAST_NOISE = 0.02


def prior_of(error: float | None) -> float:
    """Return the standard deviation of the log error of a model whose median error is known.

    Args:
        error: Median of |predicted - measured| / measured; None: not known.
    """
    if error is None:
        return PRIOR
    return min(max(log(1 + error) * _NORMAL, LEAST_PRIOR), MOST_PRIOR)


class Corrected(NamedTuple):
    """What a model, corrected by the errors seen, says of a point.

    Attributes:
        places: Of the point.
        ratio: Its time relative to the default, the median of what it may be.
        spread: Standard deviation of its logarithm.
    """

    places: Places
    ratio: float
    spread: float

    def chance_below(self, limit: float) -> float:
        """Return the probability that the time, relative to the default, is below a limit."""
        return (1 + erf(self._steps(limit) / sqrt(2))) / 2

    def gain(self, best: float) -> float:
        """Return by how much the point is expected to cut the best time, if it is run.

        Expected improvement of the logarithm; a point that turns out worse costs nothing.

        Source: Jones, Schonlau and Welch, Journal of Global Optimization 13 (1998) 455.
        """
        steps = self._steps(best)
        density = exp(-(steps**2) / 2) / sqrt(2 * pi)
        return self.spread * (steps * self.chance_below(best) + density)

    def _steps(self, limit: float) -> float:
        return log(limit / self.ratio) / self.spread


class Residuals:
    """Errors at points that were run, and what they say of the others."""

    def __init__(self, lengths: Sequence[int], prior: float = PRIOR, own: float = 0.0) -> None:
        """Begin without error at the default.

        Args:
            lengths: Number of values of each tunable, the default not counted.
            prior: Standard deviation of the log of the model's error, before any run.
            own: Share of its variance that is each point's own: no neighbour tells of it.
        """
        self._prior, self._own = prior, own
        self._scale = np.maximum(np.asarray(lengths, np.float64), 1.0)
        self._points: list[Places] = [tuple(0 for _ in lengths)]
        self._errors = [0.0]
        self._noises, self._shifts = [0.0], [0.0]
        self._sources = [0]

    def add(
        self, places: Places, error: float, noise: float = 0.0, shift: float = 0.0, source: int = 0
    ) -> None:
        """Learn the log of measured over predicted at a point.

        Args:
            places: Of the point.
            error: That was seen there.
            noise: Standard deviation of its logarithm, where that is more than usual.
            shift: The same of what all points of a source have in common: measured with a program
                that is only like this one, whose default is not as bad as the one here.
            source: Which program that was.
        """
        self._points.append(places)
        self._errors.append(error)
        self._noises.append(noise)
        self._shifts.append(shift)
        self._sources.append(source)

    def corrected(self, ratios: Mapping[Places, float], noise: float) -> list[Corrected]:
        """Return what the corrected model says of points, in their order.

        Args:
            ratios: Points -> predicted time relative to the default.
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
        """Covariance of what the errors were measured with, over the prior variance."""
        own = np.maximum(max(noise, LEAST_NOISE), np.asarray(self._noises)) / self._prior
        shifts = np.asarray(self._shifts) / self._prior
        shared = np.outer(shifts, shifts) * np.equal.outer(self._sources, self._sources)
        whole: Floats = np.diag(own**2) + shared
        return whole

    def _alike(self, one: Floats, other: Floats) -> Floats:
        """Correlation of the errors, shape (n, m)."""
        apart = (one[:, None, :] - other[None, :, :]) / (self._scale * REACH)
        distance = np.square(apart).sum(axis=2)
        correlation: Floats = (1 - self._own) * np.exp(-distance / 2) + self._own * (distance == 0)
        return correlation
