# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Matches the cells of two campaigns, and pools the noise of few repeats over many cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from stripewise.bench._case import Case
from stripewise.bench.campaign import Campaign, CaseRates, operations_of, samples_of

# What few repeats of many cells tell together: the noise, and how far medians may be apart.
#
# Three runs say little of the noise of their case; those of all cases together do.  The variance
# of a case is drawn towards the common one as far as the cases agree ("moderated").
#
# Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004) 3, section 6.2
# (moments of log variances); Wallace, Annals of Mathematical Statistics 30 (1959) 1124 (Student's
# t as a normal deviate); Holm, Scandinavian Journal of Statistics 6 (1979) 65.

Floats = NDArray[np.float64]

DRAWS = 20_000
_SEED = 20181009
_MOST_DEGREES = 1000.0
_LEAST_VARIANCE = 1e-6
"""Of logs: rates that agree to less than a permille are not believed to be that exact."""


@dataclass(frozen=True)
class PooledNoise:
    """The noise of single runs, as variances of the natural log of their rate.

    Attributes:
        variance: Common to all cases.
        degrees: Degrees of freedom that it counts for beside those of a case; 0: unknown.
    """

    variance: float
    degrees: float

    def of_case(self, variance: float, degrees: float) -> float:
        """Return the moderated variance of a case with its own variance and degrees."""
        total = self.degrees + degrees
        if total <= 0:
            return float("nan")
        return max((self.degrees * self.variance + degrees * variance) / total, _LEAST_VARIANCE)


def pooled_noise(groups: Sequence[Floats]) -> PooledNoise:
    """Return the noise that groups of log rates have in common; a group is one case's repeats."""
    from scipy.special import digamma, polygamma

    degrees = np.array([len(one) - 1 for one in groups if len(one) > 1], dtype=float)
    if not degrees.size:
        return PooledNoise(float("nan"), 0.0)
    own = np.array([np.var(one, ddof=1) for one in groups if len(one) > 1])
    logs = np.log(np.maximum(own, _LEAST_VARIANCE))
    shifted = logs - digamma(degrees / 2) + np.log(degrees / 2)
    if degrees.size < 3:
        return PooledNoise(float(np.average(own, weights=degrees)), float(degrees.sum()))
    beyond = float(np.var(shifted, ddof=1) - np.mean(polygamma(1, degrees / 2)))
    prior = 2 * _inverse_trigamma(beyond) if beyond > 0 else _MOST_DEGREES
    prior = min(prior, _MOST_DEGREES, float(degrees.sum()))
    centre = float(np.mean(shifted)) + float(digamma(prior / 2)) - log(prior / 2)
    return PooledNoise(max(exp(centre), _LEAST_VARIANCE), prior)


@lru_cache(maxsize=512)
def reference(first: int, second: int, degrees: float) -> Floats:
    """Return what chance makes of the distance of two medians, in moderated deviations.

    A parametric bootstrap with a fixed seed: normal logs whose variance differs from case to
    case as far as `degrees` of the pooled noise say.

    Args:
        first: Runs of one case.
        second: Runs of the other.
        degrees: Of the pooled noise.

    Returns:
        Absolute values, ascending: `(DRAWS,)`.
    """
    chance = np.random.default_rng(_SEED)
    deviation = np.ones((DRAWS, 1))
    if 0 < degrees < _MOST_DEGREES:
        deviation = np.sqrt(degrees / chance.chisquare(degrees, (DRAWS, 1)))
    one = deviation * chance.standard_normal((DRAWS, first))
    two = deviation * chance.standard_normal((DRAWS, second))
    own = (first - 1) * _variance(one) + (second - 1) * _variance(two)
    moderated = (degrees + own) / (degrees + first + second - 2)
    distance = np.median(one, axis=1) - np.median(two, axis=1)
    return np.sort(np.abs(distance) / np.sqrt(moderated))


def _variance(values: Floats) -> Floats:
    if values.shape[1] < 2:
        return np.zeros(len(values))
    found: Floats = np.var(values, axis=1, ddof=1)
    return found


def chance_of(distance: float, drawn: Floats) -> float:
    """Return the probability of a distance as large or larger, by chance alone."""
    above = len(drawn) - int(np.searchsorted(drawn, abs(distance), side="left"))
    return (above + 1) / (len(drawn) + 1)


def holm(chances: Sequence[float]) -> list[float]:
    """Return probabilities adjusted for their number, so that all errors together stay bounded."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    adjusted, highest = [1.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[place]))
        adjusted[place] = highest
    return adjusted


def student(normal: float, degrees: float) -> float:
    """Return the value of Student's t that is as rare as a normal deviate."""
    scaled = normal * (8 * degrees + 3) / (8 * degrees + 1)
    return sqrt(degrees * (exp(min(scaled * scaled / degrees, 600.0)) - 1))


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function, which falls throughout, has a value."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    least = max(value, 1e-6)
    return exp(brentq(lambda place: polygamma(1, exp(place)) - least, log(1e-3), log(1e7)))


# The cells of a campaign, and which cells of two campaigns belong together.

_UNSEEN = ("series", "repeats")
_FIELD = re.compile(rf" ({'|'.join(field.name for field in fields(Case))})=")
_USUAL = ("operation", "runner", "backend", "layout", "mode", "pattern")
"""Fields that the name of a series says, as a rule."""


@dataclass(frozen=True, eq=False)
class Cell(CaseRates):
    """One operation of one case, with its runs, compared by the logs of their rates."""

    @cached_property
    def logs(self) -> Floats:
        """Natural logs of the rates, by repeat."""
        logs: Floats = np.log(np.array(self.rates, dtype=float))
        return logs

    @cached_property
    def median(self) -> float:
        """Middle rate, bytes or operations a second; of two middle ones their geometric mean."""
        return float(np.exp(np.median(self.logs)))


def cells_of(campaign: Campaign) -> list[Cell]:
    """Return all cells that have a good run, in the order of the suite."""
    return [
        Cell(case, operation, rates)
        for case, runs in campaign.of_cases()
        for operation in operations_of(runs)
        if (rates := tuple(x.rate for x in samples_of(runs, operation) if x.amount > 0))
    ]


def matched(first: Sequence[Cell], second: Sequence[Cell]) -> Iterator[tuple[Cell, Cell, str]]:
    """Yield cells of two campaigns that belong together, and why they are not alike ("": alike).

    Cells of the same case come first; of those that are left, cells of the same series,
    operation and nodes, with the same ranks before others.
    """
    rest_one, rest_two = list(first), list(second)
    for look in (_same, _same_ranks, _same_nodes):
        by_look = {look(cell): cell for cell in reversed(rest_two)}
        for one in list(rest_one):
            two = by_look.pop(look(one), None)
            if two is not None:
                rest_one.remove(one)
                rest_two.remove(two)
                yield one, two, "" if look is _same else _unlike(one.case, two.case)


def case_words(key: str) -> str:
    """Return the key of a case for people: "MPI-IO, 4 nodes, striped"."""
    series, *pairs = _FIELD.split(key)
    said = []
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        if name in ("nodes", "ranks_per_node"):
            noun = "node" if name == "nodes" else "rank"
            one = f"{value} {noun}{'' if value == '1' else 's'}"
            said.append(one if name == "nodes" else f"{one} per node")
        elif name == "directory":
            said.append(value)
        elif name not in _USUAL:
            said.append(f"{name.replace('_', ' ')} {value}")
    return ", ".join([series, *said])


def _same(cell: Cell) -> tuple[object, ...]:
    return cell.case.key, cell.operation


def _same_ranks(cell: Cell) -> tuple[object, ...]:
    case = cell.case
    return case.series, cell.operation, case.directory, case.nodes, case.ranks_per_node


def _same_nodes(cell: Cell) -> tuple[object, ...]:
    return cell.case.series, cell.operation, cell.case.nodes


def _unlike(one: Case, two: Case) -> str:
    """Say in which of their fields two cases differ."""
    said = [
        f"{field.name.replace('_', ' ')} {_text(getattr(one, field.name))} against "
        f"{_text(getattr(two, field.name))}"
        for field in fields(one)
        if field.name not in _UNSEEN and getattr(one, field.name) != getattr(two, field.name)
    ]
    return "not like for like: " + ", ".join(said)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{name}={one}" for name, one in value) or "no settings"
    return str(value) if value != "" else "the default"
