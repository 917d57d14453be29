# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Searches with a genetic algorithm that has the options and defaults of H5Evolve."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import exp, isfinite
from random import Random
from statistics import mean, pstdev

from stripewise.core import Proposal, Trial
from stripewise.settings.tunables import is_valid, settings_text
from stripewise.study.strategies._base import Batch, Steps, StepwiseStrategy, StrategyOption

# The parts of a genetic algorithm: scaling of fitness, selection, crossover.
#
# Pure functions; a genome is a tuple of indices on the tunables' ladders, 0 for the default.
#
# Source: Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning, chapters 3
# and 4 (linear scaling with multiple 1.2 to 2, sigma truncation); the choice of operators is that
# of Pyevolve 0.6, on which H5Evolve is based.

Genome = tuple[int, ...]
Scale = Callable[[Sequence[float]], list[float]]
Select = Callable[[Sequence[float], Random], int]
Cross = Callable[[Genome, Genome, Random], tuple[Genome, Genome]]

LINEAR_MULTIPLE = 1.2
"""Expected copies of the best genome in linear scaling; Pyevolve's default."""
SIGMA_MULTIPLE = 2.0
POWER = 2.0
TOURNAMENT_SIZE = 2
"""Number of genomes in a tournament; Pyevolve's default."""


def unscaled(fitness: Sequence[float]) -> list[float]:
    """Return the fitness unchanged."""
    return list(fitness)


def linear(fitness: Sequence[float]) -> list[float]:
    """Scale linearly so that the mean stays and the best is `LINEAR_MULTIPLE` times the mean."""
    average, top = mean(fitness), max(fitness)
    if top <= average:
        return [1.0] * len(fitness)
    slope = (LINEAR_MULTIPLE - 1) * average / (top - average)
    lowest = min(fitness)
    if average - slope * (average - lowest) < 0:  # the worst would become negative
        slope = average / (average - lowest)
    return [max(0.0, average + slope * (value - average)) for value in fitness]


def sigma(fitness: Sequence[float]) -> list[float]:
    """Subtract the value that is `SIGMA_MULTIPLE` deviations below the mean."""
    floor = mean(fitness) - SIGMA_MULTIPLE * pstdev(fitness)
    return [max(0.0, value - floor) for value in fitness]


def power(fitness: Sequence[float]) -> list[float]:
    """Return the squared fitness."""
    return [value**POWER for value in fitness]


def exponential(fitness: Sequence[float]) -> list[float]:
    """Return the weights exp((f - mean) / deviation)."""
    deviation = pstdev(fitness)
    if not deviation:
        return [1.0] * len(fitness)
    return [exp((value - mean(fitness)) / deviation) for value in fitness]


def roulette(weights: Sequence[float], random: Random) -> int:
    """Draw an index with probability proportional to its weight."""
    if sum(weights) <= 0:
        return random.randrange(len(weights))
    return random.choices(range(len(weights)), weights)[0]


def tournament(weights: Sequence[float], random: Random) -> int:
    """Draw a few indices and return the best of them."""
    drawn = [random.randrange(len(weights)) for _ in range(TOURNAMENT_SIZE)]
    return max(drawn, key=lambda index: weights[index])


def rank(weights: Sequence[float], random: Random) -> int:
    """Draw an index with probability proportional to its rank, the worst having rank 1."""
    order = sorted(range(len(weights)), key=lambda index: weights[index])
    return random.choices(order, range(1, len(order) + 1))[0]


def uniform(weights: Sequence[float], random: Random) -> int:
    """Draw any index with equal probability; only elites are favoured."""
    return random.randrange(len(weights))


def single_point(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Exchange all genes after a random position."""
    if len(first) < 2:
        return first, second
    cut = random.randrange(1, len(first))
    return first[:cut] + second[cut:], second[:cut] + first[cut:]


def two_point(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Exchange the genes between two random positions."""
    if len(first) < 3:
        return single_point(first, second, random)
    low, high = sorted(random.sample(range(1, len(first) + 1), 2))
    return (
        first[:low] + second[low:high] + first[high:],
        second[:low] + first[low:high] + second[high:],
    )


def uniform_cross(first: Genome, second: Genome, random: Random) -> tuple[Genome, Genome]:
    """Exchange each gene with probability one half."""
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


# A genetic algorithm with the options and defaults of H5Evolve.

_FRUITLESS_DRAWS = 400
"""Number of invalid random genomes after which one is repaired instead."""

Evaluate = Generator[Batch, list[Trial], None]


class GeneticStrategy(StepwiseStrategy):
    """Breeds generations; a configuration is run only once, however often it is bred.

    The defaults are those of H5Evolve: population 15, up to 40 generations, mutation 0.15, 3
    elites, roulette wheel; where H5Evolve relies on Pyevolve, they are Pyevolve's (crossover at
    one point at a rate of 0.9, linear scaling).  Fitness is the speed-up.  Offspring whose
    settings are invalid together lose settings at random until they are valid.

    Source: H5Tuner, evo/h5evolve (options and defaults, read); Behzad et al., ACM TOPC 5(4):15.
    """

    name = "genetic"
    summary = "a genetic algorithm like that of H5Evolve"
    declared = (
        StrategyOption("population", 15, "genomes per generation", minimum=2, maximum=10_000),
        StrategyOption(
            "generations", 40, "maximum number of generations", minimum=1, maximum=100_000
        ),
        StrategyOption("mutation_rate", 0.15, "probability that a gene changes", maximum=1),
        StrategyOption("crossover", "single-point", "how parents are combined", tuple(CROSSOVERS)),
        StrategyOption("crossover_rate", 0.9, "probability that parents are combined", maximum=1),
        StrategyOption("selector", "roulette", "how parents are chosen", tuple(SELECTORS)),
        StrategyOption("scaling", "linear", "how fitness is scaled", tuple(SCALINGS)),
        StrategyOption("elites", 3, "number of best genomes that survive", maximum=10_000),
    )

    @property
    def least_patience(self) -> float:
        """Size of two generations: the first is random, and breeding begins with the second."""
        return 2 * self.number("population")

    def steps(self) -> Steps:
        """Breed one generation after another."""
        self._random = Random(f"genetic:{self.seed}")
        self._fitness: dict[Genome, float] = {self._default: 1.0}
        population = self._first_population()
        if not population:
            return "there is no tunable to try"
        generations = int(self.number("generations"))
        for generation in range(1, generations + 1):
            yield from self._evaluate(population, generation)
            if generation < generations:
                population = self._breed(population)
            if len(self._fitness) >= self.space.size:
                return "every configuration has been tried"
        return f"{generations} generations are done; best: {self._best() or 'the default'}"

    @property
    def _default(self) -> Genome:
        return (0,) * len(self.space.dimensions)

    def _best(self) -> str:
        best = max(self._fitness, key=self._fitness.__getitem__)
        return settings_text(self.space.at(best))

    def _evaluate(self, population: Sequence[Genome], generation: int) -> Evaluate:
        reason = f"generation {generation}" + (": drawn at random" * (generation == 1))
        new = [genome for genome in dict.fromkeys(population) if genome not in self._fitness]
        if new:
            trials = yield [Proposal(self.space.at(genome), reason) for genome in new]
            self._fitness |= {g: _fitness(trial) for g, trial in zip(new, trials, strict=True)}

    def _first_population(self) -> list[Genome]:
        """Draw genomes that differ as far as possible; known good ones come first."""
        size = int(self.number("population"))
        good = sorted(self.primed, key=lambda trial: trial.io_ratio)[:size]
        found = [genome for trial in good if (genome := self._genome(trial)) is not None]
        for _ in range(_FRUITLESS_DRAWS * size):
            if len(found) >= size:
                break
            genome = self._draw()
            if genome not in found and genome != self._default:
                found.append(genome)
        return found

    def _breed(self, population: Sequence[Genome]) -> list[Genome]:
        random = self._random
        scaled = SCALINGS[str(self.options["scaling"])]([self._fitness[g] for g in population])
        select = SELECTORS[str(self.options["selector"])]
        cross = CROSSOVERS[str(self.options["crossover"])]
        ranked = sorted(population, key=lambda genome: -self._fitness[genome])
        n_elites = min(int(self.number("elites")), len(population) - 1)
        children: list[Genome] = list(dict.fromkeys(ranked))[: max(n_elites, 0)]
        while len(children) < len(population):
            pair = population[select(scaled, random)], population[select(scaled, random)]
            if random.random() < self.number("crossover_rate"):
                pair = cross(*pair, random)
            children += [self._repaired(self._mutated(genome)) for genome in pair]
        return children[: len(population)]

    def _mutated(self, genome: Genome) -> Genome:
        rate, random = self.number("mutation_rate"), self._random
        return tuple(
            random.randrange(len(dimension.values) + 1) if random.random() < rate else gene
            for gene, dimension in zip(genome, self.space.dimensions, strict=True)
        )

    def _draw(self) -> Genome:
        """Draw a valid genome uniformly; repair one if valid ones are too rare."""
        genome = self._default
        for _ in range(_FRUITLESS_DRAWS):
            genome = tuple(
                self._random.randrange(len(dimension.values) + 1)
                for dimension in self.space.dimensions
            )
            if is_valid(self.space.at(genome), self.facts):
                return genome
        return self._repaired(genome)

    def _repaired(self, genome: Genome) -> Genome:
        """Reset random genes to their default until the settings are valid together."""
        genes = list(genome)
        while not is_valid(self.space.at(tuple(genes)), self.facts):
            genes[self._random.choice([i for i, gene in enumerate(genes) if gene])] = 0
        return tuple(genes)

    def _genome(self, trial: Trial) -> Genome | None:
        """Return the genome of a known trial; None if it is outside of the space."""
        genome = self.space.positions(trial.settings)
        if genome is not None:
            self._fitness[genome] = _fitness(trial)
        return genome


def _fitness(trial: Trial) -> float:
    """Return the speed-up of a trial; 0 if its ratio is not valid."""
    ratio = trial.io_ratio
    return 1 / ratio if isfinite(ratio) and ratio > 0 else 0.0
