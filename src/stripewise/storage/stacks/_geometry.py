# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes a pattern in closed form: regular sets of bytes and classes of equal ranks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import BlockRule, Distribution, Pattern, PatternKind, sets_of
from stripewise.storage.stacks._base import Ints

# Regular sets of bytes in a file: the product of one set of indices per dimension.


class Level(NamedTuple):
    """Indices of one dimension: blocks of `length`, `stride` apart, the last with `last`.

    `pitch` is the distance in bytes between consecutive indices.
    """

    start: int
    stride: int
    blocks: int
    length: int
    last: int
    pitch: int

    @property
    def elements(self) -> int:
        """Number of indices in the set."""
        return (self.blocks - 1) * self.length + self.last

    @property
    def top(self) -> int:
        """Last index."""
        return self.start + (self.blocks - 1) * self.stride + self.last - 1

    def scaled(self, factor: int, pitch: int) -> Level:
        """Return the same indices counted in a `factor` times finer unit."""
        return Level(
            self.start * factor, self.stride * factor, self.blocks, self.length * factor,
            self.last * factor, pitch,
        )  # fmt: skip

    def blocks_below(self, index: Ints) -> Ints:
        """Return how many blocks begin at a smaller index."""
        stride = max(self.stride, 1)
        begun: Ints = np.clip(-(-(index - self.start) // stride), 0, self.blocks)
        return begun

    def below(self, index: Ints) -> Ints:
        """Return how many indices of the set are smaller."""
        past = index - self.start
        if self.blocks == 1:
            one: Ints = np.clip(past, 0, self.last)
            return one
        block = np.clip(past // self.stride, 0, self.blocks - 1)
        size = np.where(block == self.blocks - 1, self.last, self.length)
        several: Ints = block * self.length + np.clip(past - block * self.stride, 0, size)
        return several


@dataclass(frozen=True)
class Regular:
    """A regular set of bytes, relative to the beginning of its dataset.

    Attributes:
        levels: Outermost dimension first; the last one counts bytes.
    """

    levels: tuple[Level, ...]

    @classmethod
    def of(
        cls, sets: Sequence[tuple[int, ...]], extents: Sequence[int], element_bytes: int
    ) -> Regular:
        """Make it from a set (start, stride, blocks, length, last) per dimension, C order.

        Dimensions that are complete are merged into the next outer one.
        """
        levels: list[Level] = []
        unit = element_bytes
        for place in range(len(sets) - 1, -1, -1):
            start, stride, blocks, length, last = sets[place]
            whole = blocks == 1 and start == 0 and last == extents[place]
            if place and whole and not levels:
                unit *= extents[place]
                continue
            level = Level(start, stride, blocks, length, last, unit)
            levels.append(level.scaled(unit, 1) if not levels else level)
            unit *= max(extents[place], 1)
        return cls(tuple(reversed(levels)))

    @cached_property
    def size(self) -> int:
        """Number of bytes in the set."""
        return math.prod(level.elements for level in self.levels)

    @cached_property
    def first(self) -> int:
        """First byte."""
        return sum(level.start * level.pitch for level in self.levels)

    @cached_property
    def end(self) -> int:
        """End (exclusive) of the last byte."""
        return sum(level.top * level.pitch for level in self.levels) + 1

    @cached_property
    def pieces(self) -> int:
        """Number of contiguous pieces; those at the end of a row and its next may touch."""
        rows = runs = 1
        for place, level in enumerate(self.levels):
            touching = rows - runs if place and self._wraps(place) else 0
            rows, runs = rows * level.elements, rows * level.blocks - touching
        return runs

    def _wraps(self, place: int) -> bool:
        """Return whether a dimension contains its first and its last index."""
        level, outer = self.levels[place], self.levels[place - 1]
        return level.start == 0 and (level.top + 1) * level.pitch == outer.pitch

    @property
    def is_contiguous(self) -> bool:
        """Whether nothing is missing between its first and its last byte."""
        return self.size == self.end - self.first

    def below(self, offset: Ints, *, pieces: bool = False) -> Ints:
        """Return how many bytes of the set are before each offset; same shape.

        Args:
            offset: (n,) int64, relative like the set.
            pieces: Count the pieces that begin before it instead, separately for each row.
        """
        rest = np.asarray(offset, np.int64)
        found = np.zeros(rest.shape, np.int64)
        inside = np.ones(rest.shape, bool)
        weight = self.size
        if pieces:
            weight = self.size // self.levels[-1].elements * self.levels[-1].blocks
        for level in self.levels:
            counted = pieces and level is self.levels[-1]
            weight //= level.blocks if counted else level.elements
            index = rest // level.pitch
            rest = rest - index * level.pitch
            smaller = level.blocks_below(index) if counted else level.below(index)
            found += np.where(inside, smaller * weight, 0)
            inside &= level.below(index + 1) > smaller
        return found

    def from_(self, offset: int) -> int | None:
        """Return the first byte of the set at or after an offset; None if there is none."""
        indices: list[int] = []
        rest = offset
        for place, level in enumerate(self.levels):
            index, rest = divmod(rest, level.pitch)
            following = _at_or_after(level, index)
            if following != index:
                return self._next_byte(indices, following, place)
            indices.append(index)
        return offset

    def _next_byte(self, indices: list[int], following: int | None, place: int) -> int | None:
        """Return the least byte with some indices given and a larger one at `place`."""
        while following is None:
            if place == 0:
                return None
            place -= 1
            following = _at_or_after(self.levels[place], indices.pop() + 1)
        chosen = [*indices, following, *(level.start for level in self.levels[place + 1 :])]
        return sum(i * level.pitch for i, level in zip(chosen, self.levels, strict=True))

    def run_begin(self, offset: int) -> int:
        """Return the beginning of the contiguous piece that contains the byte at an offset."""
        level = self.levels[-1]
        rest = offset
        for outer in self.levels[:-1]:
            rest %= outer.pitch
        block = (rest - level.start) // level.stride if level.blocks > 1 else 0
        begin = offset - rest + level.start + block * level.stride
        touching = begin > self.first and self.from_(begin - 1) == begin - 1
        return self.run_begin(begin - 1) if touching else begin


def _at_or_after(level: Level, index: int) -> int | None:
    """Return the least index of the set that is not smaller."""
    if index <= level.start:
        return level.start
    if index > level.top:
        return None
    if level.blocks == 1:
        return index
    block, within = divmod(index - level.start, level.stride)
    size = level.last if block == level.blocks - 1 else level.length
    return index if within < size else level.start + (block + 1) * level.stride


# A pattern in closed form: the union of all ranks, and classes of equal ranks.


@dataclass(frozen=True)
class RankClass:
    """Ranks whose sets of bytes have the same form.

    Attributes:
        ranks: Number of ranks.
        shape: Set of one of them (others have the same elsewhere).
        sets: Number of such sets of each rank, more than 1 in multipartitions.
    """

    ranks: int
    shape: Regular
    sets: float = 1.0


@dataclass(frozen=True)
class Geometry:
    """A pattern, relative to the beginning of its dataset.

    Attributes:
        pattern: The pattern.
        ranks: Number of ranks that move something.
        union: Union of all their sets.
        classes: Classes of equal ranks.
        bytes: Sum of bytes of all ranks; more than those of the union if they overlap.
        extent: Size of the dataset in bytes.
        interleaved: Whether the ranges of neighbouring ranks overlap, as ROMIO tests.
        neighbour: Distance of the ranks that share a border between pieces.
    """

    pattern: Pattern
    ranks: int
    union: Regular
    classes: tuple[RankClass, ...]
    bytes: int
    extent: int
    interleaved: bool
    neighbour: int


@lru_cache(maxsize=4096)
def geometry_of(pattern: Pattern) -> Geometry | None:
    """Return a pattern in closed form; None if nothing is moved.

    Raises:
        UsageError: The pattern is irregular.
    """
    if pattern.kind == PatternKind.EMPTY:
        return None
    if not pattern.distributions:
        raise UsageError(
            f"a pattern that is {pattern.kind} cannot be simulated; replay its trace instead"
        )
    parts = tuple(map(parts_of, pattern.distributions, pattern.spans, pattern.grid))
    if not all(part.classes for part in parts):
        return None
    extents = pattern.sizes
    places = math.prod(pattern.grid)
    split = pattern.kind == PatternKind.MULTIPARTITION
    copies = 1 if split else max(pattern.active_ranks // places, 1)
    classes = tuple(_classes(pattern, parts, extents, copies, places if split else 0))
    union = Regular.of([part.union for part in parts], extents, pattern.element_bytes)
    return Geometry(
        pattern=pattern,
        ranks=pattern.active_ranks if split else sum(one.ranks for one in classes),
        union=union,
        classes=classes,
        bytes=round(sum(one.ranks * one.sets * one.shape.size for one in classes)),
        extent=math.prod(extents) * pattern.element_bytes,
        interleaved=_interleaved(pattern, parts, union, extents, copies, split),
        neighbour=_neighbour(pattern),
    )


def _classes(
    pattern: Pattern, parts: tuple[Parts, ...], extents: tuple[int, ...], copies: int, cells: int
) -> list[RankClass]:
    found = []
    for chosen in itertools.product(*(part.classes for part in parts)):
        ranks = math.prod(count for count, _ in chosen) * copies
        shape = Regular.of([one for _, one in chosen], extents, pattern.element_bytes)
        if cells:
            found.append(RankClass(pattern.active_ranks, shape, ranks / pattern.active_ranks))
        else:
            found.append(RankClass(ranks, shape))
    return found


def strides_of(pattern: Pattern) -> tuple[int, ...]:
    """Return by how much the rank grows per dimension; C order if it is not linear."""
    if pattern.rank_strides:
        return pattern.rank_strides
    grid = pattern.grid
    return tuple(math.prod(grid[d + 1 :]) if n > 1 else 0 for d, n in enumerate(grid))


def _interleaved(
    pattern: Pattern,
    parts: tuple[Parts, ...],
    union: Regular,
    extents: tuple[int, ...],
    copies: int,
    split: bool,
) -> bool:
    """Return whether a rank begins before the last byte of the previous rank.

    Source: ROMIO, adio/common/ad_write_coll.c: st_offsets[i] < end_offsets[i - 1]. Ranks in the
        order of the grid step in one dimension, and back to 0 in those that count faster.
    """
    if split:
        return pattern.active_ranks > 1
    if copies > 1:
        return union.size > 1
    strides = strides_of(pattern)
    pitches = [math.prod(extents[d + 1 :]) * pattern.element_bytes for d in range(len(extents))]
    cut = sorted((d for d, n in enumerate(pattern.grid) if n > 1), key=lambda d: -abs(strides[d]))
    whole = [d for d in range(len(parts)) if d not in cut]
    fixed = sum(parts[d].own * pitches[d] for d in whole) - (pattern.element_bytes - 1)
    for place, d in enumerate(cut):
        if not all(parts[faster].full for faster in cut[place + 1 :]):
            continue
        between = fixed + parts[d].apart * pitches[d]
        between += sum(parts[slower].own * pitches[slower] for slower in cut[:place])
        between += sum(parts[faster].wrap * pitches[faster] for faster in cut[place + 1 :])
        if between < 0:
            return True
    return False


def _neighbour(pattern: Pattern) -> int:
    """Return the distance of ranks with touching pieces: those of the innermost cut dimension."""
    strides = strides_of(pattern)
    cut = [abs(strides[d]) for d, n in enumerate(pattern.grid) if n > 1]
    return max(cut[-1], 1) if cut else 1


# Parts of one dimension in classes: number of parts per set, and distances of neighbours.

Set = tuple[int, int, int, int, int]
"""First index, stride, blocks, length, length of the last block."""

MOST_PARTS = 2048
"""Number of parts above which a dimension is classified by a formula, if there is one."""


@dataclass(frozen=True)
class Parts:
    """Parts of one dimension.

    Attributes:
        union: Union of all parts.
        classes: Number of parts with a set of this form, and one of these sets.
        own: Minimum of (first index - last index) of a part.
        apart: Minimum of (first index of a part - last index of the previous one).
        wrap: First index of the first part - last index of the last one.
        full: Whether no part is empty.
    """

    union: Set
    classes: tuple[tuple[int, Set], ...]
    own: int
    apart: int
    wrap: int
    full: bool


def parts_of(distribution: Distribution, span: tuple[int, int], n_parts: int) -> Parts:
    """Return the parts of a dimension.

    Args:
        distribution: Distribution of the dimension.
        span: First index and end of what all ranks move together.
        n_parts: Number of parts.

    Raises:
        UsageError: There are too many blocks of any lengths.
    """
    if n_parts > MOST_PARTS and not any(distribution.ghost) and not distribution.lattice:
        if distribution.kind == "CYCLIC":
            return _cyclic_parts(distribution.width, span, n_parts)
        if distribution.rule != BlockRule.GENERAL:
            return _blocks(distribution, span, n_parts)
    return _listed(distribution, span, n_parts)


def _union(distribution: Distribution, span: tuple[int, int]) -> Set:
    first, end = span
    if distribution.lattice:
        whole = Distribution("BLOCK", lattice=distribution.lattice)
        return _set(sets_of(whole, span, 1)[:, 0])
    return (first, 0, 1, end - first, end - first)


def _set(column: np.ndarray) -> Set:
    start, stride, blocks, length, last = (int(number) for number in column)
    return (start, stride, blocks, length, last)


def _listed(distribution: Distribution, span: tuple[int, int], n_parts: int) -> Parts:
    """List all parts; the cost grows with their number."""
    table = sets_of(distribution, span, n_parts)
    used = table[:, (table[2] > 0) & (table[4] > 0)]
    _, first, counts = np.unique(used[1:], axis=1, return_index=True, return_counts=True)
    tops = used[0] + (used[2] - 1) * used[1] + used[4] - 1
    gaps = used[0, 1:] - tops[:-1]
    return Parts(
        union=_union(distribution, span),
        classes=tuple(
            (int(n), _set(used[:, place])) for n, place in zip(counts, first, strict=True)
        ),
        own=int((used[0] - tops).min(initial=0)),
        apart=int(gaps.min(initial=np.iinfo(np.int64).max >> 8)),
        wrap=int(used[0, 0] - tops[-1]) if tops.size else 0,
        full=tops.size == n_parts,
    )


def _cyclic_parts(width: int, span: tuple[int, int], n_parts: int) -> Parts:
    """Return the parts of blocks that are assigned cyclically."""
    first, end = span
    rounds, rest = divmod(end - first, width * n_parts)
    more, tail = divmod(rest, width)
    step = width * n_parts

    def of(index: int, blocks: int, last: int) -> Set:
        return (first + index * width, step if blocks > 1 else 0, blocks, width, last)

    listed = [(more, of(0, rounds + 1, width))] if more else []
    if tail:
        last_length = tail if rounds else 0
        start, stride, blocks, _, last = of(more, rounds + 1, tail)
        listed.append((1, (start, stride, blocks, width if last_length else tail, last)))
    others = n_parts - more - (1 if tail else 0)
    if others and rounds:
        listed.append((others, of(more + (1 if tail else 0), rounds, width)))
    tops = [(s[0], s[0] + (s[2] - 1) * s[1] + s[4] - 1) for _, s in listed]
    lone = len(tops) == 1 and listed[0][0] == 1
    return Parts(
        union=(first, 0, 1, end - first, end - first),
        classes=tuple(listed),
        own=min(start - top for start, top in tops),
        apart=1 << 54 if lone else min(start + width - top for start, top in tops),
        wrap=first - tops[-1][1] - (listed[-1][0] - 1) * width,
        full=bool(rounds) or more + (1 if tail else 0) == n_parts,
    )


def _blocks(distribution: Distribution, span: tuple[int, int], n_parts: int) -> Parts:
    """Return the parts of blocks whose lengths follow a rule."""
    first, end = span
    n = end - first
    small, rest = divmod(n, n_parts)
    rule = distribution.rule or BlockRule.CEIL
    if rule in (BlockRule.CEIL, BlockRule.FIXED):
        length = distribution.lengths[0] if rule == BlockRule.FIXED else -(-n // n_parts)
        whole, tail = divmod(n, length)
        sizes = [(whole, length), (1, tail)]
    elif rule == BlockRule.REST_LAST:
        sizes = [(n_parts - 1, small), (1, small + rest)]
    else:
        sizes = [(rest, small + 1), (n_parts - rest, small)]
    sizes = [(count, size) for count, size in sizes if count and size]
    used = sum(count for count, _ in sizes)
    longest = max(size for _, size in sizes)
    return Parts(
        union=(first, 0, 1, n, n),
        classes=tuple((count, (first, 0, 1, size, size)) for count, size in sizes),
        own=1 - longest,
        apart=1 if used > 1 else 1 << 54,
        wrap=1 - n,
        full=used == n_parts,
    )
