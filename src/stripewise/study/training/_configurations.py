# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Selects the configurations that a surface measures, and the order of its runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from random import Random
from typing import TYPE_CHECKING

from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import get, is_valid
from stripewise.study.training._surface import Surface, SurfaceRole, SurfaceRun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CONFIGURATIONS = 100_000

Settings = Mapping[str, Value]


def recorded_tunables(vary: Mapping[str, Sequence[Value]]) -> dict[str, tuple[Value, ...]]:
    """Check tunables and values, and return them; not setting a tunable is its default.

    Raises:
        UsageError: A tunable does not exist, or a value is invalid.
    """
    return {
        tunable.name: tuple(dict.fromkeys(tunable.check(value) for value in values))
        for tunable, values in ((get(name), values) for name, values in vary.items())
    }


def possible_points(
    tunables: Mapping[str, tuple[Value, ...]], facts: ProgramFacts
) -> tuple[list[Settings], int]:
    """Return every valid configuration, the default first, and the number of invalid ones.

    Raises:
        UsageError: There are far too many configurations.
    """
    total = prod(len(values) + 1 for values in tunables.values())
    if total > MOST_CONFIGURATIONS:
        raise UsageError(f"{total} configurations are too many to measure; vary fewer tunables")
    ladders = [((name, None), *((name, v) for v in values)) for name, values in tunables.items()]
    points = [
        {name: value for name, value in point if value is not None} for point in product(*ladders)
    ]
    possible: list[Settings] = [point for point in points if is_valid(point, facts)]
    return possible, total - len(possible)


def planned_points(surface: Surface) -> list[Settings]:
    """Return the configurations of a recording: all valid ones, or the requested number."""
    points, _ = possible_points(surface.tunables, surface.facts)
    number = surface.plan.get("spread", 0) or len(points)
    return spread_points(points, surface.tunables, number, surface.plan["seed"])


def plan_runs(
    points: Sequence[Settings], repeats: int, seed: int, control_every: int
) -> list[SurfaceRun]:
    """Return the runs in order: rounds, each a new permutation, with defaults in between.

    Changes of the machine over the hours affect all configurations equally.
    """
    runs: list[SurfaceRun] = []

    def plan(settings: Settings, role: SurfaceRole) -> None:
        sequence = len(runs) + 1
        runs.append(SurfaceRun(settings, 0.0, 0.0, role=role, round=number, sequence=sequence))

    for number in range(1, repeats + 1):
        order = list(points)
        Random(f"{seed}:round:{number}").shuffle(order)
        for settings in order:
            if control_every and len(runs) % (control_every + 1) == control_every:
                plan({}, SurfaceRole.CONTROL)
            plan(settings, SurfaceRole.POINT)
    return runs


# A subset that represents a whole space: points that are far from each other.

FIRST = 3
"""Number of main tunables: published designs vary stripe count, aggregators, stripe size."""
_TEXT_WEIGHT = 0.5


def spread_points(
    points: Sequence[Mapping[str, Value]],
    ladders: Mapping[str, Sequence[Value]],
    number: int,
    seed: int = 0,
) -> list[Mapping[str, Value]]:
    """Return a number of points of a space, each as far as possible from those before it.

    The first is the default.  The first half varies only the first tunables, which matter most, so
    that their effect is isolated: with few points of a space of many dimensions nearly every point
    would vary everything.  Numbers differ by their distance on the ladder; texts are equal or
    different and count half, because choices of an algorithm should leave more variation to the
    numbers.

    Args:
        points: Candidate points; the first one is always taken.
        ladders: Tunable name to its values in order, the most important tunable first; the default
            is before the first value.
        number: Number of points to return; all if there are no more.
        seed: Seed of the choice between points that are equally far.

    Source: greedy maximin design; Johnson, Moore, Ylvisaker, doi 10.1016/0378-3758(90)90122-B.
    """
    if number >= len(points):
        return list(points)
    import numpy as np

    places = _coordinates(points, ladders)
    order = np.array(Random(f"{seed}:spread").sample(range(1, len(points)), len(points) - 1))
    nearest = np.full(len(points), np.inf)
    nearest[0] = -1.0
    chosen = [0]
    first = set(itertools.islice(ladders, FIRST))
    simple = order[[points[place].keys() <= first for place in order]]
    while len(chosen) < number:
        apart = np.square(places - places[chosen[-1]]).sum(axis=1)
        nearest = np.minimum(nearest, apart)
        few = len(chosen) < min(number // 2, 1 + len(simple))
        among = simple if few else order
        chosen.append(int(among[np.argmax(nearest[among])]))
        nearest[chosen[-1]] = -1.0
    return [points[place] for place in chosen]


def _coordinates(
    points: Sequence[Mapping[str, Value]], ladders: Mapping[str, Sequence[Value]]
) -> NDArray[np.float64]:
    """Return `(n_points, n_coordinates)`: one of 0 to 1 per ladder, one of 0 or 1 per text."""
    import numpy as np

    columns = []
    for name, values in ladders.items():
        rungs: tuple[Value | None, ...] = (None, *values)
        place = {rung: number for number, rung in enumerate(rungs)}
        at = np.array([place[point.get(name)] for point in points])
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            columns.append(at / max(len(values), 1))
        else:
            scale = (_TEXT_WEIGHT / 2) ** 0.5
            columns += [scale * (at == rung) for rung in range(len(rungs))]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((len(points), 1))
