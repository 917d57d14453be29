# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The calls of programs that write by themselves: what of a dataset goes into one of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stripewise.model import Pattern
from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._pieces import Ranges, array_bytes
from stripewise.simulation.stacks._shape import Shape

STAGE_BYTES = 4 << 20
"""Buffer in which ranges that follow each other in the file become one call."""


def windows_of(pattern: Pattern) -> tuple[int, int]:
    """Bytes of the windows in which the array passes through rank 0, and how many there are."""
    length = max(STAGE_BYTES // pattern.element_bytes, 1) * pattern.element_bytes
    return length, -(-array_bytes(pattern) // length)


def calls_of(shape: Shape) -> float:
    """Return the calls of a rank for what is contiguous in its file but not in the dataset."""
    together = max(1, int(STAGE_BYTES // shape.piece_bytes))
    return max(1.0, -(-shape.rank_pieces // together))


def staged(ranges: Ranges) -> Ranges:
    """Return calls: ranges one after another until the next does not fit in the stage."""
    first = np.searchsorted(ranges.rank, ranges.rank)
    ends = np.cumsum(ranges.size)
    begins = np.append(0, ends)[:-1]
    begin = begins - begins[first]
    starts: list[int] = []
    for low, high in _spans(ranges.rank):
        at = low
        while at < high:
            starts.append(at)
            reach = np.searchsorted(ends[low:high], begins[at] + STAGE_BYTES, "right") + low
            at = max(at + 1, int(reach))
    index = np.asarray(starts, np.int64)
    size = np.add.reduceat(ranges.size, index) if index.size else ranges.size[:0]
    return Ranges(ranges.rank[index], begin[index], size)


def _spans(rank: Ints) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(rank, prepend=-1, append=-1))
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def within(calls: Ranges) -> Ints:
    """Bytes of the same rank before each call."""
    before = np.cumsum(calls.size) - calls.size
    inside: Ints = before - before[np.searchsorted(calls.rank, calls.rank)]
    return inside
