# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Name the distribution of one dimension from the different sets that ranks have in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stripewise.model import Distribution
from stripewise.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Ints,
    most_common,
    set_elements,
    set_ends,
)
from stripewise.patterns._rules import quality, rule_of


@dataclass(frozen=True)
class Named:
    """One dimension, named.

    Attributes:
        distribution: Its distribution.
        span: First element and end of what is moved.
        parts: Different sets, in the order of their starts.
        block: Elements that most parts have.
        uneven: Parts differ in length.
    """

    distribution: Distribution
    span: tuple[int, int]
    parts: int
    block: int
    uneven: bool = False

    @property
    def halo(self) -> int:
        """Elements by which neighbours overlap."""
        return sum(self.distribution.ghost)


def name_dimension(table: Ints) -> Named | None:
    """Name the distribution whose parts are `table` (5, n_parts), by start; None: irregular."""
    if table.shape[1] == 1:
        return _whole(table)
    single = bool((table[BLOCKS] == 1).all())
    if single:
        return _block(table) or _with_gaps(table)
    return _cyclic(table) or _in_lattice(table)


def _span(table: Ints) -> tuple[int, int]:
    return int(table[START].min()), int(set_ends(table).max())


def _whole(table: Ints) -> Named | None:
    if table[LAST, 0] != table[LENGTH, 0]:
        return None
    lattice = () if table[BLOCKS, 0] == 1 else (int(table[STRIDE, 0]), int(table[LENGTH, 0]))
    size = int(set_elements(table)[0])
    return Named(Distribution("*", lattice=lattice), _span(table), 1, size)


def _block(table: Ints) -> Named | None:
    starts, ends = table[START], set_ends(table)
    overlaps = ends[:-1] - starts[1:]
    if (overlaps == 0).all():
        return _cut(table, np.append(starts, ends[-1]), (0, 0))
    overlap = int(overlaps[0])
    if overlap < 0 or (overlaps != overlap).any() or (np.diff(starts) <= 0).any():
        return None
    found = [
        named
        for ghost in _ghosts(overlap)
        if (named := _cut(table, _own(starts, ends, ghost), ghost)) is not None
    ]
    return min(found, key=lambda named: quality(named.distribution.rule), default=None)


def _ghosts(overlap: int) -> list[tuple[int, int]]:
    """How an overlap may come about, the likelier first."""
    both = [(overlap // 2, overlap // 2)] if overlap % 2 == 0 else []
    return [*both, (0, overlap), (overlap, 0)]


def _own(starts: Ints, ends: Ints, ghost: tuple[int, int]) -> Ints:
    """Where blocks are cut if each moves `ghost` elements more, but at the outer ends."""
    return np.concatenate((starts[:1], starts[1:] + ghost[0], ends[-1:]))


def _cut(table: Ints, cuts: Ints, ghost: tuple[int, int]) -> Named | None:
    lengths = np.diff(cuts)
    if (lengths <= 0).any():
        return None
    rule, numbers = rule_of(lengths)
    distribution = Distribution("BLOCK", rule=rule, lengths=numbers, ghost=ghost)
    block = most_common(set_elements(table))
    return Named(distribution, _span(table), lengths.size, block, bool(rule))


def _with_gaps(table: Ints) -> Named | None:
    """Equal blocks at equal distances, and nothing between them."""
    length, steps = int(table[LENGTH, 0]), np.diff(table[START])
    step = int(steps[0])
    if step <= length or (steps != step).any() or (table[LENGTH] != length).any():
        return None
    distribution = Distribution("BLOCK", lattice=(step, length))
    return Named(distribution, _span(table), table.shape[1], length)


def _in_lattice(table: Ints) -> Named | None:
    """Blocks of which only every so-manieth element is moved."""
    many = int(np.argmax(table[BLOCKS]))
    stride, length = int(table[STRIDE, many]), int(table[LENGTH, many])
    first = int(table[START, 0])
    single = table[BLOCKS] == 1
    if ((table[STRIDE] != stride) & ~single).any() or (table[LENGTH] != length).any():
        return None
    if (table[LAST] != length).any() or ((table[START] - first) % stride).any():
        return None
    cells = np.array(table)
    cells[START] = (table[START] - first) // stride
    cells[LENGTH] = cells[LAST] = table[BLOCKS]
    cells[BLOCKS], cells[STRIDE] = 1, 0
    named = _block(cells)
    if named is None or named.halo:
        return None
    distribution = replace(named.distribution, lattice=(stride, length))
    return replace(named, distribution=distribution, span=_span(table), block=named.block * length)


def cyclic_parts(n_elements: int, n_parts: int, width: int) -> Ints:
    """Return the sets (5, n_parts) of CYCLIC(width); a part may have none (`BLOCKS` 0)."""
    index = np.arange(n_parts, dtype=np.int64)
    table = np.zeros((5, n_parts), np.int64)
    round_ = width * n_parts
    table[START] = index * width
    rest = n_elements - table[START]
    table[BLOCKS] = np.where(rest > 0, -(-rest // round_), 0)
    table[LAST] = np.minimum(width, rest - (table[BLOCKS] - 1) * round_)
    several = table[BLOCKS] > 1
    table[STRIDE] = np.where(several, round_, 0)
    table[LENGTH] = np.where(several, width, table[LAST])
    table[:, table[BLOCKS] == 0] = 0
    return table


def _cyclic(table: Ints) -> Named | None:
    width, parts = int(table[LENGTH, 0]), table.shape[1]
    first, end = _span(table)
    expected = cyclic_parts(end - first, parts, width)
    expected[START] += first
    if (expected != table).any():
        return None
    uneven = bool((end - first) % (width * parts))
    distribution = Distribution("CYCLIC", width)
    return Named(distribution, (first, end), parts, most_common(set_elements(table)), uneven)
