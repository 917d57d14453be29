# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The subfiles of BP5: at which place and in which calls the data of a step goes there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from stripewise.model import Pattern
from stripewise.patterns import generate
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._adios2_groups import MOST_BYTES, Adios2, Groups
from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._pieces import Ranges, split


def blocks_of(pattern: Pattern) -> Ranges:
    """Return the blocks that each rank puts, in its order; offsets are 0."""
    found = generate(pattern)
    solid = found.stride == found.block
    size = np.prod(np.where(solid, found.block * found.count, found.block), axis=1)
    size *= found.element_bytes
    many = np.prod(np.where(solid, 1, found.count), axis=1)
    rank, size = np.repeat(found.rank, many), np.repeat(size, many)
    keep = size > 0
    return Ranges(rank[keep], np.zeros(np.count_nonzero(keep), np.int64), size[keep])


@dataclass(eq=False)
class SubFiles:
    """The subfiles as they grow; `ends` has the end of each, of a name and a direction."""

    work: Workload
    adios2: Adios2
    groups: Groups
    ends: dict[tuple[str, bool], Ints] = field(default_factory=dict)

    def place(self, pattern: Pattern, blocks: list[Ranges]) -> Ranges:
        """Return the requests of a step at their places in the subfiles."""
        ranks = self.work.ranks
        sums = [np.bincount(one.rank, one.size, ranks).astype(np.int64) for one in blocks]
        total: Ints = np.stack(sums).sum(axis=0)
        begin = self._begins((pattern.file, pattern.writing), total)
        if not pattern.writing:
            return self._read(begin, blocks, sums)
        return self._written(begin, total)

    def _begins(self, key: tuple[str, bool], total: Ints) -> Ints:
        """Return where each rank's data of the step begins in its subfile, and move the ends."""
        writer, subfile = self.groups.writer, self.groups.subfile
        ends = self.ends.setdefault(key, np.zeros(int(subfile.max()) + 1, np.int64))
        heads, unit = np.unique(writer, return_inverse=True)
        inside = np.cumsum(total) - total
        inside -= inside[heads[unit]]
        units = np.bincount(unit, total, heads.size).astype(np.int64)
        room = _aligned(units, self.adios2.align)
        file = subfile[heads]
        before = np.cumsum(room) - room
        start = _aligned(ends, self.adios2.align)[file]
        place = start + before - before[np.searchsorted(file, file)]
        np.maximum.at(ends, file, place + units)
        begin: Ints = place[unit] + inside
        return begin

    def _written(self, begin: Ints, total: Ints) -> Ranges:
        """Own data goes in one call, that of others in pieces of the shared memory."""
        rank = np.flatnonzero(total)
        own = self.groups.writer[rank] == rank
        data = Ranges(rank, begin[rank], total[rank])
        parts = [split(data.take(own), MOST_BYTES), split(data.take(~own), self.adios2.segment)]
        both = Ranges.together(parts)
        order = np.lexsort((both.offset, both.rank))
        sorted_ = both.take(order)
        return replace(sorted_, rank=self.groups.writer[sorted_.rank])

    def _read(self, begin: Ints, blocks: list[Ranges], sums: list[Ints]) -> Ranges:
        """Each rank reads the blocks that it put."""
        tables, before = [], np.zeros_like(begin)
        for one, moved in zip(blocks, sums, strict=True):
            inside = np.cumsum(one.size) - one.size
            inside -= inside[np.searchsorted(one.rank, one.rank)]
            tables.append(replace(one, offset=(begin + before)[one.rank] + inside))
            before = before + moved
        return Ranges.together(tables)


def _aligned(place: Ints, unit: int) -> Ints:
    return -(-place // unit) * unit
