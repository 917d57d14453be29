# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How a dimension is cut into parts: from a distribution to what each part has, and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stripewise.errors import UsageError
from stripewise.model import BlockRule, Distribution
from stripewise.patterns._boxes import BLOCKS, LAST, STRIDE, plain_sets
from stripewise.patterns._columns import Ints

MOST_LENGTHS = 4096
"""Lengths of more blocks than these are not kept, only their range."""

_BEGINS: dict[str, Callable[[Ints, int, int], Ints]] = {
    BlockRule.CEIL: lambda i, n, parts: np.minimum(i * -(-n // parts), n),
    BlockRule.EVEN: lambda i, n, parts: i * (n // parts) + np.minimum(i, n % parts),
    BlockRule.EVEN_LAST: lambda i, n, parts: (
        i * (n // parts) + np.maximum(i - (parts - n % parts), 0)
    ),
    # i n / parts rounded down, without overflow
    BlockRule.SPREAD: lambda i, n, parts: i * (n // parts) + i * (n % parts) // parts,
    BlockRule.REST_LAST: lambda i, n, parts: np.where(i < parts, i * (n // parts), n),
}
"""Where block i of n elements begins, by rules that need no length; the plainer ones first."""


def cut(rule: str, n_elements: int, n_parts: int, lengths: tuple[int, ...] = ()) -> Ints:
    """Return the first element of every part and, last, the end: (n_parts + 1,) int64."""
    index = np.arange(n_parts + 1, dtype=np.int64)
    if rule == BlockRule.GENERAL:
        return np.concatenate(([0], np.cumsum(np.asarray(lengths, np.int64))))
    if rule == BlockRule.FIXED:
        return np.minimum(index * lengths[0], n_elements)
    return _BEGINS[rule or BlockRule.CEIL](index, n_elements, n_parts)


def rule_of(lengths: Ints) -> tuple[str, tuple[int, ...]]:
    """Return the rule that makes blocks of these lengths, and its numbers."""
    if (lengths == lengths[0]).all():
        return "", ()
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    for rule in _BEGINS:
        if (cut(rule, total, lengths.size)[1:] == ends).all():
            return rule, ()
    if (lengths[:-1] == lengths[0]).all() and lengths[-1] < lengths[0]:
        return BlockRule.FIXED, (int(lengths[0]),)
    return BlockRule.GENERAL, tuple(lengths.tolist()) if lengths.size <= MOST_LENGTHS else ()


def sets_of(distribution: Distribution, span: tuple[int, int], n_parts: int) -> Ints:
    """Return the sets (5, n_parts) of a dimension; a part may have none (`BLOCKS` 0).

    Args:
        distribution: Of the dimension.
        span: First element and end of what is moved.
        n_parts: How many there are.

    Raises:
        UsageError: There are too many blocks of any lengths.
    """
    first, end = span
    if distribution.kind == "CYCLIC":
        return _turns(first, end, n_parts, distribution.width)
    stride, _ = distribution.lattice or (1, 1)
    if distribution.rule == BlockRule.GENERAL and len(distribution.lengths) != n_parts:
        raise UsageError("there are too many blocks of any lengths: they were not kept")
    cuts = cut(distribution.rule, -(-(end - first) // stride), n_parts, distribution.lengths)
    if distribution.lattice:
        return lattice_sets(first, cuts, distribution.lattice)
    below, above = distribution.ghost
    low = np.maximum(first + cuts[:-1] - below, first)
    return plain_sets(low, np.minimum(first + cuts[1:] + above, end) - low)


def lattice_sets(first: int, cuts: Ints, lattice: tuple[int, ...]) -> Ints:
    """Return the sets of blocks of which `lattice[1]` of every `lattice[0]` elements are moved.

    Args:
        first: First element of all.
        cuts: (n_parts + 1,) int64, where parts begin and end, counted in strides.
        lattice: As in `Distribution`.
    """
    stride, length = lattice
    blocks = np.diff(cuts)
    table = plain_sets(first + cuts[:-1] * stride, np.full(blocks.size, length, np.int64))
    table[BLOCKS] = blocks
    table[STRIDE] = np.where(blocks > 1, stride, 0)
    return table


def _turns(first: int, end: int, n_parts: int, width: int) -> Ints:
    """Return the sets of blocks of `width` elements that parts have in turn."""
    starts = first + np.arange(n_parts, dtype=np.int64) * width
    round_ = width * n_parts
    rest = end - starts
    blocks = np.where(rest > 0, -(-rest // round_), 0)
    last = np.minimum(width, rest - (blocks - 1) * round_)
    several = blocks > 1
    table = plain_sets(starts, np.where(several, width, last))
    table[STRIDE] = np.where(several, round_, 0)
    table[BLOCKS], table[LAST] = blocks, last
    table[:, blocks == 0] = 0
    return table
