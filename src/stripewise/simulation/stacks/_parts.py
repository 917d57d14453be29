# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The parts of one dimension in classes: how many have which set, and how neighbours lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.model import BlockRule, Distribution
from stripewise.patterns import sets_of

Set = tuple[int, int, int, int, int]
"""First index, stride, blocks, length, length of the last block."""

MOST_PARTS = 2048
"""Dimensions with more parts are put into classes by formula, where there is one."""


@dataclass(frozen=True)
class Parts:
    """The parts of one dimension.

    Attributes:
        union: What all parts have together.
        classes: How many parts have a set of this form, and one of these sets.
        own: Least of (first index - last index) of a part.
        apart: Least of (first index of a part - last index of the one before it).
        wrap: First index of the first part - last index of the last one.
        full: Whether every part has something.
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
        distribution: Of the dimension.
        span: First index and end of what all move together.
        n_parts: How many parts there are.

    Raises:
        UsageError: There are too many blocks of any lengths.
    """
    if n_parts > MOST_PARTS and not any(distribution.ghost) and not distribution.lattice:
        if distribution.kind == "CYCLIC":
            return _turns(distribution.width, span, n_parts)
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
    """List all parts; the cost grows with them."""
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


def _turns(width: int, span: tuple[int, int], n_parts: int) -> Parts:
    """Return the parts of blocks that are dealt out in turn."""
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
