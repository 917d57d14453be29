# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The error of a model as a smooth function of the settings (Kriging).

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRIOR = 0.5
"""Standard deviation of the log of a model's error before anything is measured (assumed)."""
REACH = 0.5
"""Distance, in shares of a ladder, over which an error is alike (assumed)."""
LEAST_NOISE = 0.02


class Residuals:
    """Errors at points that were run, and what they say of the others."""

    def __init__(self, lengths: Sequence[int]) -> None:
        """Begin without error at the default.

        Args:
            lengths: Number of values of each tunable, the default not counted.
        """
        self._scale = np.maximum(np.asarray(lengths, np.float64), 1.0)
        self._points: list[tuple[int, ...]] = [tuple(0 for _ in lengths)]
        self._errors = [0.0]

    def add(self, places: tuple[int, ...], error: float) -> None:
        """Learn the log of measured over predicted at a point."""
        self._points.append(places)
        self._errors.append(error)

    def corrected(
        self, ratios: Mapping[tuple[int, ...], float], noise: float
    ) -> list[tuple[tuple[int, ...], float]]:
        """Return points with their corrected ratios, the most promising first.

        Args:
            ratios: Points -> predicted time relative to the default.
            noise: Relative noise of a measured ratio.
        """
        if not ratios:
            return []
        points = list(ratios)
        predicted = np.log(np.fromiter(ratios.values(), np.float64, len(points)))
        known, errors = np.asarray(self._points), np.asarray(self._errors)
        covariance = self._alike(known, known) + max(noise, LEAST_NOISE) ** 2 * np.eye(len(errors))
        weights = np.linalg.solve(covariance, errors)
        mean = self._alike(np.asarray(points), known) @ weights
        values = np.exp(predicted + mean)
        order = np.argsort(values, kind="stable")
        return [(points[index], float(values[index])) for index in order]

    def _alike(self, one: Floats, other: Floats) -> Floats:
        """Covariance of the errors, shape (n, m)."""
        apart = (one[:, None, :] - other[None, :, :]) / (self._scale * REACH)
        distance = np.square(apart).sum(axis=2)
        covariance: Floats = PRIOR**2 * np.exp(-distance / 2)
        return covariance
