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

# Statistics of few repeats of many cells: their noise, and how far medians may be apart.
#
# Three runs say little about the noise of their case; all cases together say more.  The variance
# of a case is shrunk towards the common one as far as the cases agree ("moderated").
#
# Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004) 3, section 6.2
# (moments of log variances); Wallace, Annals of Mathematical Statistics 30 (1959) 1124 (Student's
# t as a normal deviate); Holm, Scandinavian Journal of Statistics 6 (1979) 65.

Floats = NDArray[np.float64]

DRAWS = 20_000
_SEED = 20181009
_MOST_DEGREES = 1000.0
_LEAST_VARIANCE = 1e-6
"""Least variance of logs: rates that agree within a permille are not considered that exact."""


@dataclass(frozen=True)
class PooledNoise:
    """Noise of single runs, as variances of the natural log of their rate.

    Attributes:
        variance: Variance common to all cases.
        degrees: Degrees of freedom that it has in addition to those of a case; 0 if unknown.
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
    """Return the common noise of groups of log rates; each group is the repeats of one case."""
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
    """Return random distances of two medians by chance, in moderated deviations.

    This is a parametric bootstrap with a fixed seed: normal logs whose variance differs between
    cases according to the `degrees` of the pooled noise.

    Args:
        first: Number of runs of one case.
        second: Number of runs of the other case.
        degrees: Degrees of freedom of the pooled noise.

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
    """Return the probability of a distance as large or larger by chance."""
    above = len(drawn) - int(np.searchsorted(drawn, abs(distance), side="left"))
    return (above + 1) / (len(drawn) + 1)


def holm(chances: Sequence[float]) -> list[float]:
    """Return probabilities adjusted for their number, which bounds the total error rate."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    adjusted, highest = [1.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[place]))
        adjusted[place] = highest
    return adjusted


def student(normal: float, degrees: float) -> float:
    """Return the value of Student's t that is as improbable as a normal deviate."""
    scaled = normal * (8 * degrees + 3) / (8 * degrees + 1)
    return sqrt(degrees * (exp(min(scaled * scaled / degrees, 600.0)) - 1))


def _inverse_trigamma(value: float) -> float:
    """Return the argument at which the trigamma function, which is decreasing, has a value."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    least = max(value, 1e-6)
    return exp(brentq(lambda place: polygamma(1, exp(place)) - least, log(1e-3), log(1e7)))


# The cells of a campaign, and the matching of cells of two campaigns.

_UNSEEN = ("series", "repeats")
_FIELD = re.compile(rf" ({'|'.join(field.name for field in fields(Case))})=")
_USUAL = ("operation", "runner", "backend", "layout", "mode", "pattern")
"""Fields that the name of a series usually contains."""


@dataclass(frozen=True, eq=False)
class ComparisonCell(CaseRates):
    """One operation of one case with its runs, which are compared by the logs of their rates."""

    @cached_property
    def logs(self) -> Floats:
        """Natural logs of the rates, by repeat."""
        logs: Floats = np.log(np.array(self.rates, dtype=float))
        return logs

    @cached_property
    def median(self) -> float:
        """Median rate, bytes or operations per second; the geometric mean of two middle ones."""
        return float(np.exp(np.median(self.logs)))


def cells_of(campaign: Campaign) -> list[ComparisonCell]:
    """Return all cells that have a good run, in the order of the suite."""
    return [
        ComparisonCell(case, operation, rates)
        for case, runs in campaign.of_cases()
        for operation in operations_of(runs)
        if (rates := tuple(x.rate for x in samples_of(runs, operation) if x.amount > 0))
    ]


def matched(
    first: Sequence[ComparisonCell], second: Sequence[ComparisonCell]
) -> Iterator[tuple[ComparisonCell, ComparisonCell, str]]:
    """Yield matching cells of two campaigns, and why they are not alike (empty if they are).

    Cells of the same case are matched first; then cells of the same series, operation and nodes,
    preferably with the same ranks.
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
    """Return the key of a case in words: "MPI-IO, 4 nodes, striped"."""
    series, *pairs = _FIELD.split(key)
    words = []
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        if name in ("nodes", "ranks_per_node"):
            noun = "node" if name == "nodes" else "rank"
            one = f"{value} {noun}{'' if value == '1' else 's'}"
            words.append(one if name == "nodes" else f"{one} per node")
        elif name == "directory":
            words.append(value)
        elif name not in _USUAL:
            words.append(f"{name.replace('_', ' ')} {value}")
    return ", ".join([series, *words])


def _same(cell: ComparisonCell) -> tuple[object, ...]:
    return cell.case.key, cell.operation


def _same_ranks(cell: ComparisonCell) -> tuple[object, ...]:
    case = cell.case
    return case.series, cell.operation, case.directory, case.nodes, case.ranks_per_node


def _same_nodes(cell: ComparisonCell) -> tuple[object, ...]:
    return cell.case.series, cell.operation, cell.case.nodes


def _unlike(one: Case, two: Case) -> str:
    """Return in which of their fields two cases differ."""
    differences = [
        f"{field.name.replace('_', ' ')} {_text(getattr(one, field.name))} against "
        f"{_text(getattr(two, field.name))}"
        for field in fields(one)
        if field.name not in _UNSEEN and getattr(one, field.name) != getattr(two, field.name)
    ]
    return "not like for like: " + ", ".join(differences)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{name}={one}" for name, one in value) or "no settings"
    return str(value) if value != "" else "the default"
