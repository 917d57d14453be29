# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How n elements are cut into blocks: from the lengths to a rule, and back."""

from __future__ import annotations

import numpy as np

from stripewise.model import BlockRule
from stripewise.patterns._boxes import Ints

MOST_LENGTHS = 4096
"""Lengths of more blocks than these are not kept, only their range."""

_BY_NUMBER = (
    BlockRule.CEIL,
    BlockRule.EVEN,
    BlockRule.EVEN_LAST,
    BlockRule.SPREAD,
    BlockRule.REST_LAST,
)


def cut(rule: str, n_elements: int, n_parts: int, lengths: tuple[int, ...] = ()) -> Ints:
    """Return the first element of every part and, last, the end: (n_parts + 1,) int64."""
    index = np.arange(n_parts + 1, dtype=np.int64)
    low, rest = divmod(n_elements, n_parts)
    if rule == BlockRule.GENERAL:
        return np.concatenate(([0], np.cumsum(np.asarray(lengths, np.int64))))
    if rule == BlockRule.FIXED:
        return np.minimum(index * lengths[0], n_elements)
    if rule == BlockRule.EVEN:
        return index * low + np.minimum(index, rest)
    if rule == BlockRule.EVEN_LAST:
        return index * low + np.maximum(index - (n_parts - rest), 0)
    if rule == BlockRule.SPREAD:
        return _spread(index, n_elements, n_parts)
    if rule == BlockRule.REST_LAST:
        index *= low
        index[-1] = n_elements
        return index
    return np.minimum(index * -(-n_elements // n_parts), n_elements)


def _spread(index: Ints, n_elements: int, n_parts: int) -> Ints:
    """Return index x n_elements / n_parts rounded down, without overflow."""
    low, rest = divmod(n_elements, n_parts)
    return index * low + index * rest // n_parts


def rule_of(lengths: Ints) -> tuple[str, tuple[int, ...]]:
    """Return the rule that makes blocks of these lengths, and its numbers."""
    if (lengths == lengths[0]).all():
        return "", ()
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    for rule in _BY_NUMBER:
        if (cut(rule, total, lengths.size)[1:] == ends).all():
            return rule, ()
    if (lengths[:-1] == lengths[0]).all() and lengths[-1] < lengths[0]:
        return BlockRule.FIXED, (int(lengths[0]),)
    return BlockRule.GENERAL, tuple(lengths.tolist()) if lengths.size <= MOST_LENGTHS else ()


def quality(rule: str) -> int:
    """How plain a rule is: 0 equal blocks, 1 by a rule, 2 any lengths."""
    return 0 if not rule else 2 if rule == BlockRule.GENERAL else 1
