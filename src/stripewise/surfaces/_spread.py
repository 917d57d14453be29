# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A part of a space that stands for all of it: points that lie far from each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from stripewise.model import Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRST = 3
"""Tunables that matter most: the published designs vary stripe count, aggregators, stripe size."""
_TEXT_WEIGHT = 0.5


def spread_points(
    points: Sequence[Mapping[str, Value]],
    ladders: Mapping[str, Sequence[Value]],
    number: int,
    seed: int = 0,
) -> list[Mapping[str, Value]]:
    """Return so many points of a space, each as far as possible from those before it.

    The first is the default.  The first half varies only the first tunables, those that matter
    most, so that what they do is seen by itself: with few points of a space of many dimensions
    nearly every point would vary everything.  Places on a ladder of numbers are a distance
    apart, texts differ or are equal and count half: what chooses an algorithm leaves the numbers
    more to say.

    Args:
        points: All that come into question; the first one is always taken.
        ladders: Tunable name to its values, in order, what matters most first; the default lies
            before the first value.
        number: Of points to return; all where there are no more.
        seed: Decides between points that are equally far.

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
    """Return `(n_points, n_coordinates)`: a number of 0 to 1 a ladder, one of 0 or 1 a text."""
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
