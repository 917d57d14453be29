# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that follow from a pattern: of a process's block, of its contiguous runs, of all."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stripewise.model import Pattern, PatternKind


def block_bytes(pattern: Pattern) -> int:
    """Bytes that one process (most of them) moves."""
    return math.prod(pattern.block) * pattern.element_bytes if pattern.block else 0


def run_bytes(pattern: Pattern) -> int:
    """Bytes of one contiguous piece in the array, in C order.

    In storage by chunks the pieces are others.
    """
    if not pattern.distributions:
        return block_bytes(pattern)
    run = pattern.element_bytes
    for d in reversed(range(len(pattern.block))):
        distribution, size = pattern.distributions[d], pattern.block[d]
        if distribution.lattice:
            return run * distribution.lattice[1]
        if distribution.kind == "CYCLIC":
            return run * min(distribution.width, size)
        run *= size
        if d < len(pattern.extents) and size != pattern.extents[d]:
            return run
    return run


def all_bytes(pattern: Pattern) -> int:
    """Bytes that all processes move together, about."""
    cells = math.prod(pattern.grid) if pattern.kind == PatternKind.MULTIPARTITION else 0
    return block_bytes(pattern) * max(cells, pattern.active_ranks)


def dominant(patterns: Iterable[Pattern]) -> Pattern | None:
    """Return the pattern that moves most bytes, of equal ones the first; None if nothing does."""
    return max(
        (one for one in patterns if one.kind != PatternKind.EMPTY), key=all_bytes, default=None
    )


def interleaved(pattern: Pattern) -> bool:
    """Whether, in the file, a rank's part lies in pieces between those of others.

    It is one piece if at most the first dimension of more than one element is cut (C order).
    """
    if pattern.active_ranks < 2:
        return False
    if pattern.kind == PatternKind.MULTIPARTITION:
        return True
    cut = [
        d
        for d, (size, extent) in enumerate(zip(pattern.block, pattern.extents, strict=False))
        if size < extent
    ]
    if not cut:
        return False
    if any(pattern.distributions[d].kind == "CYCLIC" for d in cut):
        return True
    return any(size > 1 for size in pattern.block[: cut[-1]])
