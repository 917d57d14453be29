# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a genetic algorithm: scaling of fitness, selection, crossover.

Pure functions; a genome is a tuple of places on the tunables' ladders, 0 for the default.

Source: Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning, chapters 3
and 4 (linear scaling with multiple 1.2 to 2, sigma truncation); the choice of operators is that
of Pyevolve 0.6, on which H5Evolve stood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from random import Random
from statistics import mean, pstdev

Genome = tuple[int, ...]
Scale = Callable[[Sequence[float]], list[float]]
Select = Callable[[Sequence[float], Random], int]
Cross = Callable[[Genome, Genome, Random], tuple[Genome, Genome]]

LINEAR_MULTIPLE = 1.2
"""Expected copies of the best in linear scaling; Pyevolve's default."""
SIGMA_MULTIPLE = 2.0
POWER = 2.0
TOURNAMENT_SIZE = 2
"""Pyevolve's default."""


def unscaled(fitness: Sequence[float]) -> list[float]:
    """Leave the fitness as it is."""
    return list(fitness)


def linear(fitness: Sequence[float]) -> list[float]:
    """Stretch so that the mean stays and the best is `LINEAR_MULTIPLE` times the mean."""
    average, top = mean(fitness), max(fitness)
    if top <= average:
        return [1.0] * len(fitness)
    slope = (LINEAR_MULTIPLE - 1) * average / (top - average)
    lowest = min(fitness)
    if average - slope * (average - lowest) < 0:  # the worst would become negative
        slope = average / (average - lowest)
    return [max(0.0, average + slope * (value - average)) for value in fitness]


def sigma(fitness: Sequence[float]) -> list[float]:
    """Subtract what lies `SIGMA_MULTIPLE` deviations below the mean."""
    floor = mean(fitness) - SIGMA_MULTIPLE * pstdev(fitness)
    return [max(0.0, value - floor) for value in fitness]


def power(fitness: Sequence[float]) -> list[float]:
    """Square."""
    return [value**POWER for value in fitness]


def exponential(fitness: Sequence[float]) -> list[float]:
    """Weigh by exp((f - mean) / deviation)."""
    deviation = pstdev(fitness)
    if not deviation:
        return [1.0] * len(fitness)
    return [exp((value - mean(fitness)) / deviation) for value in fitness]


def roulette(weights: Sequence[float], random: Random) -> int:
    """Draw in proportion to the weights."""
    if sum(weights) <= 0:
        return random.randrange(len(weights))
    return random.choices(range(len(weights)), weights)[0]


def tournament(weights: Sequence[float], random: Random) -> int:
    """Draw a few, take the best of them."""
    drawn = [random.randrange(len(weights)) for _ in range(TOURNAMENT_SIZE)]
    return max(drawn, key=lambda index: weights[index])


def rank(weights: Sequence[float], random: Random) -> int:
    """Draw in proportion to the place in the order, the worst having 1."""
    order = sorted(range(len(weights)), key=lambda index: weights[index])
    return random.choices(order, range(1, len(order) + 1))[0]


def uniform(weights: Sequence[float], random: Random) -> int:
    """Draw any; elites alone press on."""
    return random.randrange(len(weights))


def single_point(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Swap all that follows one place."""
    if len(first) < 2:
        return first, second
    cut = random.randrange(1, len(first))
    return first[:cut] + second[cut:], second[:cut] + first[cut:]


def two_point(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Swap what lies between two places."""
    if len(first) < 3:
        return single_point(first, second, random)
    low, high = sorted(random.sample(range(1, len(first) + 1), 2))
    return (
        first[:low] + second[low:high] + first[high:],
        second[:low] + first[low:high] + second[high:],
    )


def uniform_cross(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Swap each gene by the toss of a coin."""
    swaps = [random.random() < 0.5 for _ in first]
    pairs = [(b, a) if swap else (a, b) for a, b, swap in zip(first, second, swaps, strict=True)]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


SCALINGS: dict[str, Scale] = {
    "linear": linear,
    "sigma": sigma,
    "power": power,
    "exponential": exponential,
    "none": unscaled,
}
SELECTORS: dict[str, Select] = {
    "roulette": roulette,
    "tournament": tournament,
    "rank": rank,
    "uniform": uniform,
}
CROSSOVERS: dict[str, Cross] = {
    "single-point": single_point,
    "two-point": two_point,
    "uniform": uniform_cross,
}
