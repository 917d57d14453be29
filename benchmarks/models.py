# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how well trained models predict programs that they were not trained with.

python benchmarks/models.py      # several minutes

Trainings are simulated: kernels at random points of the published ladders, three repeats each,
with the storage's noise.  The storage is as described, or different: each of its bandwidths and
times has a random factor, whose logarithm has a deviation of 0.5.  Each pattern is then left out
as a whole, all configurations of the ladders are predicted for it, and compared with their times
without noise.  Recorded surfaces of emulated storage are predicted in the same way.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from multiprocessing import Pool
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
from models_output import Row, Terms, tables

from stripewise.core import ProgramFacts, Value
from stripewise.learning.performance import (
    REGRESSION,
    Ground,
    Term,
    Training,
    TrainingSample,
    Way,
    class_of_program,
    fit,
    fit_coefficients,
    fit_terms,
    fitted_prediction,
    ground_of,
    samples_in_numbers,
    score_of,
)
from stripewise.storage.machines import FIGURES, Dimension, Storage, find_storage
from stripewise.storage.simulation import (
    SimulatedProgram,
    noise_factor,
    simulated_program,
    workload_from_kernel,
)
from stripewise.study.procedure import simulated_workload
from stripewise.study.training import find_evidence

STORAGES = ("edison", "hopper", "stampede", "archer2-hdd")
KERNELS = {
    "vpic": "vpic",
    "flash": "flash --local 2560,8,8,8",
    "slabs": "vorpal --distribution BLOCK,*,* --steps 20",
    "vorpal": "vorpal --steps 20",
    "gcrm": "gcrm",
    "array3d": "array3d --local 256,256,256",
    "btio": "btio --size 2048,2048,2048",
    "wrf": "wrf --local 50,256,256 --namelist 0",
}
PLAN = {512: 90, 2048: 30}
PUBLISHED_PLAN = {512: 336, 1024: 180, 2048: 96}
COUNTS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 156)
SIZES = (1, 8, 64)
AGGREGATORS = (1, 8, 32, 128)
PUBLISHED_LADDERS = (tuple(1 << n for n in range(8)), (1, 2, 4, 8, 16, 24, 32, 64, 128, 256))
WRONG = 0.5
PUBLISHED = {
    "1": 10.59, "1/s": 68.99, "1/a": 59.83, "c/s": -1.23, "f/c": 2.26, "f/s": 0.18, "c f/a": 0.01,
}  # fmt: skip
"""Coefficients of VPIC on Edison.  Source: Behzad et al., ACM TOPC 5(4):15, 2019, doi
10.1145/3309205.
"""
POWERS: tuple[Mapping[str, int], ...] = (
    {}, {"s": -1}, {"a": -1}, {"c": 1, "s": -1}, {"f": 1, "c": -1}, {"f": 1, "s": -1},
    {"c": 1, "f": 1, "a": -1},
)  # fmt: skip
CORRECTED, ANSWERED = "the corrected simulation", "or else the simulation"
"""Names of predictions; the second answers if no model does, like `tune` and `run --auto`."""
Settings = Mapping[str, Value]
Asked = Callable[[Settings], float | None]


@dataclass(frozen=True, eq=False)
class Case:
    """Kernel at a scale on a storage, as described and as it really is."""

    name: str
    wanted: int
    described: SimulatedProgram
    real: SimulatedProgram
    points: tuple[Settings, ...]

    @property
    def facts(self) -> ProgramFacts:
        """Facts of its first run."""
        return self.described.facts

    def samples(self, number: int, random: Random) -> Iterator[TrainingSample]:
        """Yield samples at random points, with noise."""
        for settings in random.sample(self.points, min(number, len(self.points))):
            seconds, cv = self.real.seconds(settings) or 0.0, self.real.storage.value("noise.cv")
            times = tuple(seconds / noise_factor(random, cv) for _ in range(3))
            yield TrainingSample(self.facts, settings, times, self.name)


def main() -> None:
    """Train, leave out, predict, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--surfaces",
        type=Path,
        nargs="*",
        default=[Path(__file__).parent / "surfaces" / "emulated"],
        help="directories of recorded surfaces",
    )
    given = parser.parse_args()
    with Pool() as pool:
        parts = pool.starmap(simulated_rows, itertools.product(STORAGES, (False, True)), 1)
    rows = [row for part in parts for row in part]
    rows += [row for place in given.surfaces for row in recorded_rows(place)]
    print(tables(published_terms(), rows))


def cases_of(
    name: str,
    plan: Mapping[int, int],
    wrong: bool,
    kernels: Sequence[str],
    ladders: tuple[Sequence[int], Sequence[int]] = (SIZES, AGGREGATORS),
) -> list[Case]:
    """Return the kernels at their scales on a storage."""
    described = find_storage(name)
    real = other_than(described, Random(name)) if wrong else described
    per_node = min(int(described.value("machine.ranks_per_node")), 64)
    targets = int(described.value("servers.targets"))
    counts = [count for count in (*COUNTS, targets) if count <= targets]
    found = []
    for kernel, ranks in itertools.product(kernels, plan):
        work = workload_from_kernel(KERNELS[kernel], ranks // per_node, per_node)
        points = tuple(
            {"mpiio.striping_factor": c, "mpiio.striping_unit": s << 20, "mpiio.cb_nodes": a}
            for c, s, a in itertools.product(dict.fromkeys(counts), *ladders)
        )
        programs = [simulated_workload(one, work) for one in (described, real)]
        found.append(Case(kernel, ranks, *programs, points))
    return found


def other_than(described: Storage, random: Random) -> Storage:
    """Return a storage whose bandwidths and times differ from the described ones."""
    varied = {
        spec.name
        for spec in FIGURES
        if spec.dimension in (Dimension.BANDWIDTH, Dimension.TIME) or spec.name == "servers.jitter"
    }
    figures = {
        name: replace(one, value=one.value * exp(random.gauss(0.0, WRONG)))
        if name in varied
        else one
        for name, one in described.figures.items()
    }
    return replace(described, figures=figures)


def simulated_rows(name: str, wrong: bool) -> list[Row]:
    """Return a row for each kind of model, with all patterns left out in turn."""
    print(f"{name}, {'other than' if wrong else 'as'} described", file=sys.stderr)
    random, cases = Random(1), cases_of(name, PLAN, wrong, tuple(KERNELS))
    samples = [one for case in cases for one in case.samples(PLAN[case.wanted], random)]
    ground = ground_of(cases[0].facts, storage=cases[0].described.storage)
    training = Training(ground, tuple(samples), way=Way.SIMULATED)
    storage = f"{name}, other than described" if wrong else name
    truth = {case: {key(p): case.real.seconds(p) or 0.0 for p in case.points} for case in cases}
    cost = 3 * len(samples), sum(sum(one.seconds) for one in samples) / 3600
    rows = []
    for kind, known in kinds_of(ground):
        found, answered = Left(), Left()
        for pattern in KERNELS:
            rest = others(samples, pattern)
            models = fit(replace(training, ground=known, samples=rest))
            for case in (one for one in cases if one.name == pattern):
                prediction = fitted_prediction(case.facts, known, models).prediction
                asked = prediction.seconds if prediction else None
                truths = [(p, truth[case][key(p)]) for p in case.points]
                found.add(pattern, told(case, truths, asked))
                answered.add(pattern, told(case, truths, asked or case.described.seconds))
        rows.append(found.row(storage, kind, *cost))
    return [*rows, answered.row(storage, ANSWERED, *cost)]


def recorded_rows(place: Path) -> Iterator[Row]:
    """Yield rows for the surfaces in a directory, with each left out in turn."""
    grounds: dict[object, list[TrainingSample]] = {}
    cost: dict[object, tuple[int, float]] = {}
    for one in find_evidence(place)[0]:
        named = [replace(sample, name=one.path.stem) for sample in one.samples]
        grounds.setdefault(one.ground, []).extend(named)
        runs, seconds = cost.get(one.ground, (0, 0.0))
        cost[one.ground] = runs + one.runs, seconds + one.run_seconds
    for ground, samples in grounds.items():
        runs, spent = cost[ground]
        for kind, known in kinds_of(ground):
            found, answered = Left(), Left()
            for name in dict.fromkeys(one.name for one in samples):
                rest = others(samples, name)
                models = fit(Training(known, rest, way=Way.EMULATED))
                left = [one for one in samples if one.name == name]
                prediction = fitted_prediction(left[0].facts, known, models).prediction
                asked = prediction.seconds if prediction else None
                described = simulated_program(left[0].facts, find_storage(ground.storage), 1)
                truths = [(one.settings, median(one.seconds)) for one in left]
                found.add(name, told(name, truths, asked))
                instead = described.seconds if described else None
                answered.add(name, told(name, truths, asked or instead))
            yield found.row(f"{ground.storage}, recorded", kind, runs, spent / 3600)
        yield answered.row(f"{ground.storage}, recorded", ANSWERED, runs, spent / 3600)


def kinds_of(ground: Ground) -> tuple[tuple[str, Ground], ...]:
    """Return each kind of model, and the ground on which it is fitted: described or not."""
    return (REGRESSION, replace(ground, digest="")), (CORRECTED, ground)


def told(
    case: object, truths: Sequence[tuple[Settings, float]], asked: Asked | None
) -> list[tuple[object, float, float]]:
    """Return measured and predicted seconds of all points with a prediction."""
    return [
        (case, seconds, predicted)
        for settings, seconds in truths
        if asked and (predicted := asked(settings))
    ]


def others(samples: Sequence[TrainingSample], name: str) -> tuple[TrainingSample, ...]:
    """Return the samples of the same class of patterns, without those of one program."""
    of = next(class_of_program(one.facts) for one in samples if one.name == name)
    return tuple(one for one in samples if one.name != name and class_of_program(one.facts) == of)


class Left:
    """Scores of patterns that were left out."""

    def __init__(self) -> None:
        """Begin with no pattern left out."""
        self.scores: list[tuple[str, float, float, float]] = []
        self.refused = 0

    def add(self, pattern: str, told: Sequence[tuple[object, float, float]]) -> None:
        """Add the predictions for a program at a scale; empty if no model applied to it."""
        if not told:
            self.refused += 1
            return
        score = score_of("pattern", pattern, told)
        self.scores.append((pattern, score.error, score.rho, score.top5))

    def row(self, storage: str, kind: str, runs: int, hours: float) -> Row:
        """Return the scores as a row."""
        patterns = {
            name: [one for one in self.scores if one[0] == name] for name, *_ in self.scores
        }
        rhos = [median(one[2] for one in scores) for scores in patterns.values()]
        return Row(
            storage, kind, len(self.scores), self.refused,
            median([one[1] for one in self.scores] or [0.0]), median(rhos or [0.0]),
            min(rhos or [0.0]), int(sum(one[3] for one in self.scores)), runs, hours,
        )  # fmt: skip


def published_terms() -> Terms:
    """Return the terms of VPIC on a simulated Edison: selected, and as published."""
    random = Random(1)
    cases = cases_of("edison", PUBLISHED_PLAN, False, ("vpic",), PUBLISHED_LADDERS)
    samples = [
        one
        for case, number in zip(cases, PUBLISHED_PLAN.values(), strict=True)
        for one in case.samples(number, random)
    ]
    ground = ground_of(cases[0].facts, storage=cases[0].described.storage)
    rows = samples_in_numbers(samples, ground)
    features, seconds = [one.features for one in rows], [one.least for one in rows]
    selected = fit_terms(features, seconds)
    as_published = fit_coefficients(POWERS, features, seconds)
    return Terms(
        PUBLISHED,
        {str(one): one.coefficient for one in as_published},
        {str(one): one.coefficient for one in selected},
        quality(as_published, features, seconds),
        quality(selected, features, seconds),
        len(samples),
    )


def quality(
    terms: Sequence[Term], rows: Sequence[Mapping[str, float]], seconds: Sequence[float]
) -> tuple[float, float]:
    """Return the coefficient of determination and the median relative error."""
    predicted = np.array([sum(t.coefficient * t.of(row) for t in terms) for row in rows])
    measured = np.array(seconds)
    left = float(np.sum((predicted - measured) ** 2))
    whole = float(np.sum((measured - measured.mean()) ** 2))
    return 1 - left / whole, float(np.median(np.abs(predicted / measured - 1)))


def key(settings: Settings) -> tuple[Value, ...]:
    """Return settings as a hashable key."""
    return tuple(settings.values())


if __name__ == "__main__":
    main()
