# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which bytes of a file each rank moves, and requests made of byte ranges; every one by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Pattern, Selections
from stripewise.patterns import generate
from stripewise.simulation._requests import REQUEST_DTYPE, Requests
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Ints


@dataclass(frozen=True, eq=False)
class Ranges:
    """Contiguous byte ranges, ordered by rank, and within one rank by offset.

    Attributes:
        rank / offset / size: (n,) int64; offset and size in bytes.
    """

    rank: Ints
    offset: Ints
    size: Ints

    @classmethod
    def together(cls, parts: Sequence[Ranges]) -> Ranges:
        """Return those of several tables, one after another."""
        columns = ([getattr(one, name) for one in parts] for name in cls.__dataclass_fields__)
        return cls(*map(np.concatenate, columns))

    def take(self, chosen: Ints | NDArray[np.bool_]) -> Ranges:
        """Return some of them."""
        return Ranges(self.rank[chosen], self.offset[chosen], self.size[chosen])


def ranges_of(pattern: Pattern) -> Ranges:
    """Return the maximal contiguous ranges of each rank in one step, from byte 0 of the dataset.

    Raises:
        UsageError: The pattern is irregular.
    """
    selections = generate(pattern)
    dims, unit = _folded(selections)
    counts = [count * (block if d < len(dims) - 1 else 1) for d, (_, _, count, block, _)
              in enumerate(dims)]  # fmt: skip
    per_row = np.prod(counts, axis=0) if dims else np.ones(selections.rank.size, np.int64)
    row, left = several(per_row)
    offset, scale = np.zeros(row.size, np.int64), unit
    size = np.full(row.size, unit, np.int64)
    for d in reversed(range(len(dims))):
        start, stride, _, block, extent = dims[d]
        left, index = np.divmod(left, counts[d][row])
        if d == len(dims) - 1:
            place, size = start[row] + stride[row] * index, block[row] * unit
        else:
            turn, within = np.divmod(index, block[row])
            place = start[row] + stride[row] * turn + within
        offset += place * scale
        scale *= extent
    return joined(Ranges(selections.rank[row], offset, size))


_Dim = tuple[Ints, Ints, Ints, Ints, int]


def _folded(selections: Selections) -> tuple[list[_Dim], int]:
    """Return the dimensions, without trailing ones that all ranks move whole, and their bytes."""
    spans: list[_Dim] = [
        (selections.start[:, d], selections.stride[:, d], selections.count[:, d],
         selections.block[:, d], extent)
        for d, extent in enumerate(selections.extents)
    ]  # fmt: skip
    unit = selections.element_bytes
    while len(spans) > 1:
        start, stride, count, block, extent = spans[-1]
        one = (count == 1) | (stride == block)
        if not ((start == 0) & one & (count * block == extent)).all():
            break
        unit *= extent
        spans.pop()
    return spans, unit


def joined(ranges: Ranges) -> Ranges:
    """Return them in order, those that touch or overlap within a rank made one; no empty ones."""
    ranges = ranges.take(ranges.size > 0)
    if not ranges.rank.size:
        return ranges
    order = np.lexsort((ranges.offset, ranges.rank))
    rank, offset, size = ranges.rank[order], ranges.offset[order], ranges.size[order]
    end = offset + size
    base = rank * (int(end.max()) + 1)  # so that a running maximum does not cross ranks
    reach = np.maximum.accumulate(base + end)
    first = np.ones(rank.size, np.bool_)
    first[1:] = (rank[1:] != rank[:-1]) | (base[1:] + offset[1:] > reach[:-1])
    begins = np.flatnonzero(first)
    last = np.append(begins[1:], rank.size) - 1
    return Ranges(rank[begins], offset[begins], reach[last] - base[last] - offset[begins])


def several(counts: Ints) -> tuple[Ints, Ints]:
    """Return for `counts[i]` things of each i: which i, and the number within it."""
    row = np.repeat(np.arange(counts.size), counts)
    return row, np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)


def split(ranges: Ranges, most: int) -> Ranges:
    """Return them cut into pieces of at most `most` bytes, counted from each one's begin."""
    row, index = several(-(-ranges.size // most))
    size = np.minimum(ranges.size[row] - index * most, most)
    return Ranges(ranges.rank[row], ranges.offset[row] + index * most, size)


def cut_at(ranges: Ranges, unit: int) -> Ranges:
    """Return the ranges cut where the file has a multiple of `unit` bytes."""
    low, end = ranges.offset // unit, ranges.offset + ranges.size
    row, index = several(-(-end // unit) - low)
    below = (low[row] + index) * unit
    begin = np.maximum(ranges.offset[row], below)
    return Ranges(ranges.rank[row], begin, np.minimum(end[row], below + unit) - begin)


def array_bytes(pattern: Pattern) -> int:
    """Bytes of the whole dataset: step k of a pattern begins so many bytes after step k - 1."""
    return math.prod(pattern.sizes) * pattern.element_bytes


def file_numbers(work: Workload) -> dict[str, int]:
    """Return the number of each file's name, in the order in which they are met."""
    return {name: i for i, name in enumerate(dict.fromkeys(one.file for one in work.patterns))}


def as_requests(
    ranges: Ranges, *, phase: int | Ints, file: int | Ints, writing: bool | NDArray[np.bool_]
) -> Requests:
    """Return requests of these ranges; `order` is left 0 for `in_order`."""
    table = np.zeros(ranges.rank.size, REQUEST_DTYPE)
    table["rank"], table["offset"], table["size"] = ranges.rank, ranges.offset, ranges.size
    table["phase"], table["file"], table["writing"] = phase, file, writing
    return table


def in_order(tables: Sequence[Requests]) -> Requests:
    """Return all requests ordered by rank; a rank's own keep their order and get their numbers."""
    table = np.concatenate(tables) if tables else np.zeros(0, REQUEST_DTYPE)
    table = table[np.argsort(table["rank"], kind="stable")]
    first = np.searchsorted(table["rank"], table["rank"])
    table["order"] = np.arange(table.size) - first
    return table
