# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that programs move in several calls, each rank's part from its begin to its end."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from stripewise.model import Distribution, Pattern


def cut(pattern: Pattern, calls: int) -> Pattern:
    """Return what one call moves, as many times as a step; the pattern if it cannot be told.

    The outermost dimension is cut first, as by a program that goes through its part in the order
    of the file.  Steps follow each other in the file, so that places are not those of the
    program; how far ranks are apart is.
    """
    found, left = pattern, calls
    dimension = 0
    while left > 1 and dimension < len(found.extents):
        length = found.block[dimension]
        pieces = length if left % length == 0 else gcd(left, length)
        if pieces > 1:
            cut_one = _cut_one(found, dimension, pieces)
            if cut_one is None:
                return pattern
            dimension += len(cut_one.extents) - len(found.extents)
            found, left = cut_one, left // pieces
        if pieces < length:
            break
        dimension += 1
    return replace(found, steps=calls) if left == 1 and calls > 1 else pattern


def _cut_one(pattern: Pattern, dimension: int, pieces: int) -> Pattern | None:
    """Return the first of so many equal pieces of each rank's part of a dimension."""
    how, extent = pattern.distributions[dimension], pattern.extents[dimension]
    block, grid = pattern.block[dimension], pattern.grid[dimension]
    spans = pattern.span or tuple((0, one) for one in pattern.extents)
    if how.lattice or how.ghost != (0, 0) or spans[dimension] != (0, extent):
        return None
    inside = _Dimension(Distribution("*"), 1, block, block // pieces, 0)
    if how.kind == "*" and block == extent:
        return _put(pattern, dimension, (inside,))
    if how.kind != "BLOCK" or block * grid != extent:
        return None
    stride = pattern.rank_strides[dimension] if pattern.rank_strides else 0
    return _put(pattern, dimension, (_Dimension(how, grid, grid, 1, stride), inside))


class _Dimension:
    """Of a pattern: who has what, places, extent, block of a rank, and distance of ranks."""

    def __init__(self, how: Distribution, grid: int, extent: int, block: int, stride: int) -> None:
        self.how, self.grid, self.extent, self.block = how, grid, extent, block
        self.stride = stride
        self.span = (0, block if how.kind == "*" else extent)


def _put(pattern: Pattern, at: int, dimensions: tuple[_Dimension, ...]) -> Pattern:
    """Return the pattern with others in place of one dimension."""

    def joined(values: tuple, new: tuple) -> tuple:  # type: ignore[type-arg]
        return (*values[:at], *new, *values[at + 1 :])

    spans = pattern.span or tuple((0, one) for one in pattern.extents)
    return replace(
        pattern,
        distributions=joined(pattern.distributions, tuple(one.how for one in dimensions)),
        grid=joined(pattern.grid, tuple(one.grid for one in dimensions)),
        extents=joined(pattern.extents, tuple(one.extent for one in dimensions)),
        block=joined(pattern.block, tuple(one.block for one in dimensions)),
        span=joined(spans, tuple(one.span for one in dimensions)),
        rank_strides=joined(pattern.rank_strides, tuple(one.stride for one in dimensions))
        if pattern.rank_strides
        else (),
        halo=(),
    )
