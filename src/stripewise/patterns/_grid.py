# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the ranks lie in the grid of processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from stripewise.patterns._columns import Ints


@dataclass(frozen=True)
class Grid:
    """A grid of processes.

    Attributes:
        copies: Ranks that share each place.
        order: "C", "F" or "other".
        first_rank / strides: As in `Pattern`; empty where the rank is not linear.
    """

    copies: int = 1
    order: str = "C"
    first_rank: int = 0
    strides: tuple[int, ...] = ()


def find_grid(rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int]) -> Grid | None:
    """Return the grid that ranks with these coordinates fill; None if they do not.

    Args:
        rank: (n,) int64, ascending.
        coordinates: Per dimension (n,) int64, which part each rank has.
        parts: Per dimension.
    """
    n_places = math.prod(parts)
    if n_places > rank.size or rank.size % n_places:
        return None
    copies = rank.size // n_places
    place = linear(coordinates, c_strides(parts))
    if (np.bincount(place, minlength=n_places) != copies).any():
        return None
    if n_places == 1:
        return Grid(copies, "C", int(rank[0]), (0,) * len(parts))
    if copies == 1:
        strides = _linear(rank, coordinates, parts, place)
    else:
        strides = _round(rank, coordinates, parts)
    if strides is None:
        return Grid(copies, "other", int(rank[0]))
    first = int(rank[np.argmin(place)])
    return Grid(copies, order_of(strides, parts), first, strides)


def _linear(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int], place: Ints
) -> tuple[int, ...] | None:
    """Return by how much the rank grows per dimension, if it does so everywhere."""
    by_place = np.empty(rank.size, np.int64)
    by_place[place] = rank
    strides = tuple(int(by_place[next_] - by_place[0]) for next_ in c_strides(parts))
    return strides if (by_place[0] + linear(coordinates, strides) == rank).all() else None


def _round(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int]
) -> tuple[int, ...] | None:
    """The same where several ranks share a place: coordinate = rank / stride mod parts."""
    strides = []
    for coordinate, n_parts in zip(coordinates, parts, strict=True):
        stride = int(rank[np.argmax(coordinate != coordinate[0])] - rank[0])
        if stride and ((rank - rank[0]) // stride % n_parts != coordinate).any():
            return None
        strides.append(stride)
    return tuple(strides)


def linear(coordinates: Sequence[Ints], strides: Sequence[int]) -> Ints:
    """Return the sum of coordinate x stride: (n,) int64."""
    steps = [c * stride for c, stride in zip(coordinates, strides, strict=True)]
    return reduce(np.add, steps)


def c_strides(parts: Sequence[int]) -> tuple[int, ...]:
    """Return how far the next place is per dimension, the last one fastest; 0: there is none."""
    return tuple(math.prod(parts[d + 1 :]) if n > 1 else 0 for d, n in enumerate(parts))


def order_of(strides: Sequence[int], parts: Sequence[int]) -> str:
    """Return "C" if the last dimension's neighbours are next in rank, "F" if the first's are."""
    used = [stride for stride, n_parts in zip(strides, parts, strict=True) if n_parts > 1]
    if any(stride <= 0 for stride in used):
        return "other"
    if used == sorted(used, reverse=True):
        return "C"
    return "F" if used == sorted(used) else "other"
