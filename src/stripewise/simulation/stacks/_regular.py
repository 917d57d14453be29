# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that lie regularly in a file: the product of one set of indices per dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stripewise.simulation.stacks._base import Ints


class Level(NamedTuple):
    """Indices of one dimension: blocks of `length`, `stride` apart, of which the last is `last`.

    `pitch` is how many bytes further the next index lies.
    """

    start: int
    stride: int
    blocks: int
    length: int
    last: int
    pitch: int

    @property
    def elements(self) -> int:
        """Indices in the set."""
        return (self.blocks - 1) * self.length + self.last

    @property
    def top(self) -> int:
        """The last index."""
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
    """A regular set of bytes, relative to where its dataset begins.

    Attributes:
        levels: Outermost dimension first; the last one counts bytes.
    """

    levels: tuple[Level, ...]

    @classmethod
    def of(
        cls, sets: Sequence[tuple[int, ...]], extents: Sequence[int], element_bytes: int
    ) -> Regular:
        """Make it of a set (start, stride, blocks, length, last) per dimension, C order.

        Dimensions that are there in full are merged into the next outer one.
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
        """Bytes in the set."""
        return math.prod(level.elements for level in self.levels)

    @cached_property
    def first(self) -> int:
        """The first byte."""
        return sum(level.start * level.pitch for level in self.levels)

    @cached_property
    def end(self) -> int:
        """One past the last byte."""
        return sum(level.top * level.pitch for level in self.levels) + 1

    @cached_property
    def pieces(self) -> int:
        """Contiguous pieces; the last of a row and the first of the next one may touch."""
        rows = runs = 1
        for place, level in enumerate(self.levels):
            touching = rows - runs if place and self._wraps(place) else 0
            rows, runs = rows * level.elements, rows * level.blocks - touching
        return runs

    def _wraps(self, place: int) -> bool:
        """Tell whether a dimension has its first and its last index."""
        level, outer = self.levels[place], self.levels[place - 1]
        return level.start == 0 and (level.top + 1) * level.pitch == outer.pitch

    @property
    def is_contiguous(self) -> bool:
        """Whether nothing is missing between its first and its last byte."""
        return self.size == self.end - self.first

    def below(self, offset: Ints, *, pieces: bool = False) -> Ints:
        """Return how many bytes of the set lie before each offset; same shape.

        Args:
            offset: (n,) int64, relative as the set is.
            pieces: Count the pieces that begin before it instead, each row's by themselves.
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
        """Return the first byte of the set at or after an offset; None: there is none."""
        indices: list[int] = []
        rest = offset
        for place, level in enumerate(self.levels):
            index, rest = divmod(rest, level.pitch)
            following = _at_or_after(level, index)
            if following != index:
                return self._up(indices, following, place)
            indices.append(index)
        return offset

    def _up(self, indices: list[int], following: int | None, place: int) -> int | None:
        """Return the least byte with some indices given and a larger one at `place`."""
        while following is None:
            if place == 0:
                return None
            place -= 1
            following = _at_or_after(self.levels[place], indices.pop() + 1)
        chosen = [*indices, following, *(level.start for level in self.levels[place + 1 :])]
        return sum(i * level.pitch for i, level in zip(chosen, self.levels, strict=True))

    def run_begin(self, offset: int) -> int:
        """Return where the contiguous piece begins that has the byte at an offset."""
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
