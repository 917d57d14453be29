# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Name the distribution of one dimension from the different sets that ranks have in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.model import BlockRule, Distribution
from stripewise.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    set_elements,
    set_ends,
    span_of,
)
from stripewise.patterns._columns import Ints, most_common
from stripewise.patterns._parts import lattice_sets, rule_of, sets_of


@dataclass(frozen=True)
class Named:
    """One dimension, named.

    Attributes:
        distribution: Its distribution.
        span: First element and end of what is moved.
        parts: Different sets, in the order of their starts.
        block: Elements that most parts have.
    """

    distribution: Distribution
    span: tuple[int, int]
    parts: int
    block: int

    @classmethod
    def of(cls, distribution: Distribution, table: Ints) -> Named:
        """Name the sets (5, n_parts) of a distribution."""
        block = most_common(set_elements(table))
        return cls(distribution, span_of(table), table.shape[1], block)

    @property
    def halo(self) -> int:
        """Elements by which neighbours overlap."""
        return sum(self.distribution.ghost)

    @property
    def uneven(self) -> bool:
        """Whether parts differ in length."""
        if self.distribution.kind == "CYCLIC":
            return (self.span[1] - self.span[0]) % (self.distribution.width * self.parts) > 0
        return bool(self.distribution.rule)


def name_dimension(table: Ints) -> Named | None:
    """Name the distribution whose parts are `table` (5, n_parts), by start; None: irregular."""
    if table.shape[1] == 1:
        return _whole(table)
    if (table[BLOCKS] == 1).all():
        return _block(table) or _with_gaps(table)
    return _cyclic(table) or _in_lattice(table)


def _whole(table: Ints) -> Named | None:
    if table[LAST, 0] != table[LENGTH, 0]:
        return None
    lattice = () if table[BLOCKS, 0] == 1 else (int(table[STRIDE, 0]), int(table[LENGTH, 0]))
    return Named.of(Distribution("*", lattice=lattice), table)


def _block(table: Ints) -> Named | None:
    starts, ends = table[START], set_ends(table)
    overlap = int(ends[0] - starts[1])
    if overlap < 0 or (ends[:-1] - starts[1:] != overlap).any() or (np.diff(starts) <= 0).any():
        return None
    # How the overlap may come about, the likelier first.
    halves = [(overlap // 2, overlap // 2)] if overlap % 2 == 0 else []
    found = []
    for ghost in dict.fromkeys([*halves, (0, overlap), (overlap, 0)]):
        # Each block moves `ghost` elements more than it was cut, but at the outer ends.
        lengths = np.diff(np.concatenate((starts[:1], starts[1:] + ghost[0], ends[-1:])))
        if (lengths > 0).all():
            rule, numbers = rule_of(lengths)
            found.append(Distribution("BLOCK", rule=rule, lengths=numbers, ghost=ghost))
    # Equal blocks before those that a rule makes, and these before blocks of any lengths.
    plainest = min(found, key=lambda d: (d.rule != "", d.rule == BlockRule.GENERAL), default=None)
    return None if plainest is None else Named.of(plainest, table)


def _with_gaps(table: Ints) -> Named | None:
    """Equal blocks at equal distances, and nothing between them."""
    length, steps = int(table[LENGTH, 0]), np.diff(table[START])
    step = int(steps[0])
    if step <= length or (steps != step).any() or (table[LENGTH] != length).any():
        return None
    return Named.of(Distribution("BLOCK", lattice=(step, length)), table)


def _cyclic(table: Ints) -> Named | None:
    distribution = Distribution("CYCLIC", int(table[LENGTH, 0]))
    expected = sets_of(distribution, span_of(table), table.shape[1])
    return Named.of(distribution, table) if (expected == table).all() else None


def _in_lattice(table: Ints) -> Named | None:
    """Blocks of which only every so-manieth element is moved."""
    many = int(np.argmax(table[BLOCKS]))
    lattice = int(table[STRIDE, many]), int(table[LENGTH, many])
    cuts = np.concatenate(([0], np.cumsum(table[BLOCKS])))
    if (lattice_sets(int(table[START, 0]), cuts, lattice) != table).any():
        return None
    rule, numbers = rule_of(table[BLOCKS])
    return Named.of(Distribution("BLOCK", rule=rule, lengths=numbers, lattice=lattice), table)
