# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidths to be explained by figures of a description: the best ones, and how sure they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stripewise.calibration._cases import Case
from stripewise.calibration._least_squares import Vector, huber_loss, least_squares, slopes_at
from stripewise.calibration._predict import Ready, bandwidths
from stripewise.machines import Evidence, Figure, Storage

WIDE = 2.0
"""Of what is expected beforehand: hardly anything, standard deviation of the logarithm."""
NOTHING = 0.05
SPARED = 2.0
"""A figure without which the loss is greater by less is not told: a chi-square of 4."""
DRAWS, STARTS, ROUNDS, SCALE = 2000, 3, 25, 2.0


@dataclass(frozen=True)
class Problem:
    """Bandwidths to be explained by figures, all as logarithms."""

    base: Storage
    cases: Sequence[Case]
    rates: Vector
    unsure: Vector
    expected: dict[str, float]

    @cached_property
    def _ready(self) -> list[Ready]:
        return [Ready.of(self.base, case) for case in self.cases]

    def residuals(self, place: Vector) -> Vector:
        values = dict(zip(self.expected, np.exp(place), strict=True))
        moved = with_values(self.base, values)
        found = np.log(bandwidths(moved, self._ready))
        far = (place - np.log(list(self.expected.values()))) / WIDE
        return np.concatenate([(found - self.rates) / self.unsure, far])

    def solve(self, random: np.random.Generator, start: Vector | None) -> Vector:
        """Return the best of several descents: limits make edges at which one may stop.

        Args:
            random: For the places to begin from.
            start: One that is known to be good, shape (k,); None: none is.
        """
        guess = np.log(list(self.expected.values()))
        if not len(guess):
            return guess
        places = [guess, *(guess + random.normal(0.2, 0.4, len(guess)) for _ in range(STARTS))]
        found = [
            least_squares(self.residuals, place, scale=SCALE, rounds=ROUNDS)
            for place in (places if start is None else [start])
        ]
        # The first one keeps limits apart that explain the same.
        best = found[0]
        for one in found[1:]:
            best = one if one[1] < best[1] - NOTHING else best
        return best[0]

    def without(self, index: int) -> Problem:
        """Return the problem without one of the figures."""
        name = list(self.expected)[index]
        left = {key: value for key, value in self.expected.items() if key != name}
        return replace(self, expected=left)

    def loss(self, place: Vector) -> float:
        """Return half of the squared errors of the rates, as far as they count."""
        return huber_loss(self.residuals(place)[: len(self.rates)], SCALE)

    def spare(self, place: Vector) -> list[str]:
        """Return the figures without each of which the rates are explained as well."""
        found = []
        for index, name in enumerate(self.expected):
            simpler, rest = self.without(index), np.delete(place, index)
            if len(rest):
                rest, _ = least_squares(simpler.residuals, rest, scale=SCALE, rounds=ROUNDS)
            if simpler.loss(rest) - self.loss(place) < SPARED:
                found.append(name)
        return found

    def draws(self, place: Vector, random: np.random.Generator) -> tuple[Vector, Vector]:
        """Return standard deviations (k,), and a bootstrap to first order (draws, k).

        Each draw takes other repeats, which move the figures along the slopes at the optimum;
        what the laws cannot explain widens the draws, but does not make a figure untold.
        """
        if not len(place):
            return place, np.zeros((1, 0))
        slopes, left = slopes_at(self.residuals, place), self.residuals(place)
        number, free = len(self.rates), len(place)
        misfit = float((left[:number] ** 2).sum()) / max(number - free, 1)
        inflate = np.sqrt(max(misfit, 1.0))
        normal = np.linalg.inv(slopes.T @ slopes + 1e-12 * np.eye(free))
        drawn = random.normal(0, inflate, (DRAWS, number))
        moved = drawn @ (normal @ slopes[:number].T).T
        blind = np.sqrt(np.diag(normal))
        return blind, place + moved


def with_values(storage: Storage, values: Mapping[str, float]) -> Storage:
    """Return a storage with other values of some figures."""
    figures = dict(storage.figures)
    for name, value in values.items():
        known = figures.get(name, Figure(value, Evidence.ASSUMED, "fit"))
        figures[name] = replace(known, value=value, low=None, high=None)
    return replace(storage, figures=figures)
