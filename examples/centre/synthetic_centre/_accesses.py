# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which block of a dataset each rank moves: what patterns are found in."""

from __future__ import annotations

import math

import numpy as np

from stripewise.evidence.trace import Selections
from synthetic_centre._behaviour import Part

_ELEMENT_BYTES = 8


def accesses_of(part: Part, path: str, n_ranks: int) -> Selections | None:
    """Return the accesses to the first file of a part; None: they are not told."""
    if not part.grid:
        return None
    grid = _grid(part.grid, n_ranks)
    side = max(round((part.moved_bytes / part.files / _ELEMENT_BYTES) ** (1 / len(grid))), 1)
    place = np.stack(np.unravel_index(np.arange(n_ranks), grid), axis=1).astype(np.int64)
    block = np.full((n_ranks, len(grid)), side, np.int64)
    whole = np.ones_like(block)
    return Selections(
        file=path,
        writing=part.writes,
        rank=np.arange(n_ranks, dtype=np.int64),
        order=np.zeros(n_ranks, np.int64),
        collective=np.full(n_ranks, part.collective),
        n_ranks=n_ranks,
        element_bytes=_ELEMENT_BYTES,
        dataset="/fields/state",
        extents=tuple(side * many for many in grid),
        start=place * side,
        stride=block,
        count=whole,
        block=block,
    )


def _grid(kinds: tuple[str, ...], n_ranks: int) -> tuple[int, ...]:
    """Return how many processes there are along each dimension; ranks are a power of two."""
    spread = [number for number, kind in enumerate(kinds) if kind == "BLOCK"]
    found = [1] * len(kinds)
    left = int(math.log2(n_ranks))
    for number, dimension in enumerate(spread):
        mine = -(-left // (len(spread) - number))
        found[dimension], left = 1 << mine, left - mine
    return tuple(found)
