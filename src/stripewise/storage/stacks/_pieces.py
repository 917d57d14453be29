# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists which bytes of a file each rank moves, and where datasets are in files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import Pattern, PatternKind, generate
from stripewise.evidence.trace import Selections
from stripewise.storage.stacks._base import Ints
from stripewise.storage.stacks._workload import REQUEST_DTYPE, Phase, Requests, Workload


class Columns:
    """A table whose fields are columns of the same length, (n,) each."""

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of several tables, one after another."""
        names = cls.__annotations__
        return cls(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))

    def take(self, chosen: Ints | NDArray[np.bool_]) -> Self:
        """Return some of the rows, in that order."""
        names = self.__annotations__
        return type(self)(*(getattr(self, name)[chosen] for name in names))


@dataclass(frozen=True, eq=False)
class Ranges(Columns):
    """Contiguous byte ranges, ordered by rank, and within one rank by offset.

    Attributes:
        rank / offset / size: (n,) int64; offset and size in bytes.
    """

    rank: Ints
    offset: Ints
    size: Ints


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
    """Return ranges in order, joined if they touch or overlap within a rank; no empty ones."""
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
    """Return, for `counts[i]` items of each i: i, and the number of the item within it."""
    row = np.repeat(np.arange(counts.size), counts)
    return row, np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)


def split(ranges: Ranges, most: int) -> Ranges:
    """Return ranges cut into pieces of at most `most` bytes, counted from each range's start."""
    row, index = several(-(-ranges.size // most))
    size = np.minimum(ranges.size[row] - index * most, most)
    return Ranges(ranges.rank[row], ranges.offset[row] + index * most, size)


def cut_at(ranges: Ranges, unit: int) -> Ranges:
    """Return the ranges cut at multiples of `unit` bytes in the file."""
    low, end = ranges.offset // unit, ranges.offset + ranges.size
    row, index = several(-(-end // unit) - low)
    below = (low[row] + index) * unit
    begin = np.maximum(ranges.offset[row], below)
    return Ranges(ranges.rank[row], begin, np.minimum(end[row], below + unit) - begin)


def array_bytes(pattern: Pattern) -> int:
    """Return the bytes of the whole dataset, the distance between steps of a pattern."""
    return math.prod(pattern.sizes) * pattern.element_bytes


def file_numbers(work: Workload) -> dict[str, int]:
    """Return the number of each file's name, in the order of first occurrence."""
    return {name: i for i, name in enumerate(dict.fromkeys(one.file for one in work.patterns))}


def as_requests(
    ranges: Ranges, *, phase: int | Ints, file: int | Ints, writing: bool | NDArray[np.bool_]
) -> Requests:
    """Return requests of these ranges; `order` remains 0 for `in_order`."""
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


# Places of a workload's datasets in their files.

MOST_STEPS = 16
"""Maximum number of steps of one pattern examined by phases; of more, evenly spaced ones."""


_ALONE = ("independent", "write of own", "read of own")
"""Beginnings of the names of phases in which no rank waits for another."""


@dataclass(frozen=True)
class Placed:
    """One dataset at its place.

    Attributes:
        pattern: The pattern.
        base: Offset of the dataset in the file.
        times: Number of steps that are like this one.
    """

    pattern: Pattern
    base: int
    times: float = 1.0


def datasets(work: Workload, begin: int = 0, align: int = 1) -> Iterator[Placed]:
    """Yield the datasets in order, each with the place of its first step.

    A pattern without `file_offset` is behind the previous one in the same file and direction,
    after its last step. A named dataset that occurs again is at its earlier place.

    Args:
        work: The workload.
        begin: Minimum offset of the first dataset of a file, in bytes.
        align: Alignment of datasets in bytes.
    """
    ends: dict[tuple[str, bool], int] = {}
    known: dict[tuple[str, str, bool], int] = {}
    for pattern in work.patterns:
        key, name = (pattern.file, pattern.writing), (pattern.file, pattern.dataset)
        free = -(-ends.get(key, begin) // align) * align
        base = pattern.file_offset or known.get((*name, pattern.writing), free)
        if pattern.dataset:
            known[*name, pattern.writing] = base
        yield Placed(pattern, base)
        end = base + array_bytes(pattern) * _different_steps(pattern)
        ends[key] = max(end, ends.get(key, 0))


def placed(one: Placed) -> Iterator[Placed]:
    """Yield every step of a dataset; data that all ranks move alike is moved again."""
    size = array_bytes(one.pattern) if _different_steps(one.pattern) > 1 else 0
    for step in range(max(one.pattern.steps, 1)):
        yield Placed(one.pattern, one.base + step * size)


def sampled(one: Placed) -> Iterator[Placed]:
    """Yield steps of a dataset for phases: of many steps, some that represent all."""
    steps, different = max(one.pattern.steps, 1), _different_steps(one.pattern)
    looked_at, size = min(different, MOST_STEPS), array_bytes(one.pattern)
    for i in range(looked_at):
        yield Placed(one.pattern, one.base + i * steps // looked_at * size, steps / looked_at)


def together(patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, ...]]:
    """Yield the patterns of each step: until a variable repeats, or file or direction change."""
    step: list[Pattern] = []
    for pattern in patterns:
        same = step and all(
            getattr(step[0], name) == getattr(pattern, name)
            for name in ("file", "writing", "steps")
        )
        if step and not (same and pattern.dataset not in {one.dataset for one in step}):
            yield tuple(step)
            step = []
        step.append(pattern)
    if step:
        yield tuple(step)


def steps(work: Workload) -> Iterator[Placed]:
    """Yield every step of every dataset, in order."""
    return (step for dataset in datasets(work) for step in placed(dataset))


def steps_looked_at(work: Workload) -> Iterator[Placed]:
    """Yield steps of all datasets for phases: of many steps, some that represent all."""
    return (step for dataset in datasets(work) for step in sampled(dataset))


def _different_steps(pattern: Pattern) -> int:
    return 1 if pattern.kind == PatternKind.REPLICATED else max(pattern.steps, 1)


def merged(phases: list[Phase], *, flowing: bool = False) -> tuple[Phase, ...]:
    """Return the phases with equal ones merged, in the order of the first ones.

    Args:
        phases: Phases in order.
        flowing: Whether repeated independent phases do not wait in between.
    """
    repeats: dict[tuple[object, ...], float] = {}
    kept: dict[tuple[object, ...], Phase] = {}
    for phase in phases:
        if not phase.repeats:
            continue
        key = (
            phase.name, phase.flows, phase.exchange_bytes, phase.ranks, phase.copied_bytes,
            phase.nodes, *phase.metadata.items(), repr(phase.turns),
        )  # fmt: skip
        kept.setdefault(key, phase)
        repeats[key] = repeats.get(key, 0.0) + phase.repeats
    found = (
        phase if phase.repeats == repeats[key] else replace(phase, repeats=repeats[key])
        for key, phase in kept.items()
    )
    return tuple(_in_one(phase) if flowing else phase for phase in found)


def _in_one(phase: Phase) -> Phase:
    """Return an independent phase with all its repetitions in one."""
    if not phase.name.startswith(_ALONE):
        return phase
    flows = (replace(one, count=one.count * phase.repeats) for one in phase.flows)
    return replace(phase, repeats=1.0, flows=tuple(flows))


def times(phase: Phase, number: float) -> Phase:
    """Return a phase with its repetitions multiplied by a number."""
    return phase if number == 1 else replace(phase, repeats=phase.repeats * number)


# Unions of the byte ranges of several ranks, range by range.


@dataclass(frozen=True, eq=False)
class Union:
    """Byte ranges that do not touch, by offset.

    Attributes:
        start / end: (n,) int64, bytes.
    """

    start: Ints
    end: Ints

    @classmethod
    def of(cls, ranges: Ranges) -> Union:
        """Return the union of the ranges of all ranks."""
        one = joined(Ranges(np.zeros_like(ranges.rank), ranges.offset, ranges.size))
        return cls(one.offset, one.offset + one.size)

    @cached_property
    def _before(self) -> Ints:
        return np.concatenate(([0], np.cumsum(self.end - self.start)))

    def below(self, offset: Ints) -> Ints:
        """Return how many bytes of the ranges are before each offset."""
        place = np.searchsorted(self.start, offset, side="right") - 1
        inside = np.maximum(place, 0)
        within = np.clip(offset - self.start[inside], 0, (self.end - self.start)[inside])
        return np.where(place >= 0, self._before[inside] + within, 0)

    def from_(self, offset: Ints) -> Ints:
        """Return the first byte of the ranges at or after each offset; there must be one."""
        place = np.searchsorted(self.end, offset, side="right")
        return np.maximum(self.start[np.minimum(place, self.start.size - 1)], offset)

    def up_to(self, offset: Ints) -> Ints:
        """Return the end of the last byte of the ranges before each offset; there must be one."""
        place = np.searchsorted(self.start, offset, side="left") - 1
        return np.minimum(self.end[np.maximum(place, 0)], offset)
