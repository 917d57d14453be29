# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which rank owns which block of an array, as cells that can be drawn.

At most eight cells a dimension are kept (the first six, an ellipsis, the last) and at most three
dimensions, distributed ones first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stripewise.model import Distribution, Pattern, PatternKind
from stripewise.report._text import format_count

MOST_CELLS = 8
MOST_DIMENSIONS = 3
GAP = -1
"""In `Axis.cells`: cells that are left out."""
NOBODY = -1
"""In place of a rank: the cell is not assigned, or the rank is not known."""


@dataclass(frozen=True)
class Axis:
    """One drawn dimension.

    Attributes:
        dimension: Of the array, 0 is the slowest.
        cells: Place of each cell along the dimension, or `GAP`.
        label: What it is: "dimension 0: BLOCK, 4 x 60".
    """

    dimension: int
    cells: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class CellMap:
    """Blocks of an array and their owners.

    Attributes:
        axes: Drawn dimensions, at least one, in C order.
        pattern: Whose.
        sizes: Cells in each dimension, drawn or not.
    """

    axes: tuple[Axis, ...]
    pattern: Pattern
    sizes: tuple[int, ...] = (1,)

    @property
    def hidden(self) -> tuple[int, ...]:
        """Dimensions that are not drawn."""
        drawn = {axis.dimension for axis in self.axes}
        return tuple(d for d in range(len(self.sizes)) if d not in drawn)

    def owner(self, places: Sequence[int]) -> int:
        """Rank in the grid's order that owns the block at `places` (one per axis)."""
        full = [0] * len(self.sizes)
        for axis, place in zip(self.axes, places, strict=True):
            full[axis.dimension] = place
        if self.pattern.kind is PatternKind.MULTIPARTITION:
            cut = [place for place, size in zip(full, self.sizes, strict=True) if size > 1]
            return _diagonal_owner(cut, math.isqrt(max(self.pattern.active_ranks, 1)))
        if self.pattern.rank_order == "other":
            return NOBODY
        grid, order = [max(n, 1) for n in self.pattern.grid], self.pattern.rank_order
        return int(
            np.ravel_multi_index(full, grid, mode="wrap", order="F" if order == "F" else "C")
        )


def cell_map(pattern: Pattern) -> CellMap | None:
    """Find the cells of a pattern; None if there is nothing regular to draw."""
    if pattern.kind in (PatternKind.SINGLE, PatternKind.REPLICATED):
        return CellMap((Axis(0, (0,), ""),), pattern)
    if pattern.kind not in (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION):
        return None
    sizes = _cells_per_dimension(pattern)
    axes = tuple(Axis(d, _elide(sizes[d]), _label(pattern, d)) for d in _drawn(sizes))
    return CellMap(axes, pattern, sizes) if sizes else None


def _cells_per_dimension(pattern: Pattern) -> tuple[int, ...]:
    """Count the cells of each dimension; () where the pattern does not tell."""
    grid = pattern.grid
    if pattern.kind is PatternKind.MULTIPARTITION:
        side = math.isqrt(max(pattern.active_ranks, 1))
        n_dims = len(pattern.block) or len(pattern.extents)
        if n_dims < 2 or side * side != pattern.active_ranks:
            return grid if len(grid) >= 2 else ()
        spread = [d for d in range(n_dims) if _is_cut(pattern, d)] or list(range(n_dims))
        chosen = spread[:MOST_DIMENSIONS] if len(spread) > 1 else list(range(min(n_dims, 3)))
        return tuple(side if d in chosen else 1 for d in range(n_dims))
    if len(grid) != len(pattern.distributions):
        return ()
    parts = zip(pattern.distributions, range(len(grid)), strict=True)
    return tuple(_cells_along(pattern, part, d) for part, d in parts)


def _is_cut(pattern: Pattern, dimension: int) -> bool:
    """Whether the blocks are smaller than the array in a dimension (or it is not known)."""
    if dimension >= len(pattern.extents) or dimension >= len(pattern.block):
        return True
    extent = pattern.extents[dimension]
    return extent == 0 or pattern.block[dimension] < extent


def _cells_along(pattern: Pattern, part: Distribution, dimension: int) -> int:
    """BLOCK has a cell per process; CYCLIC shows as many rounds as fit."""
    processes = max(pattern.grid[dimension], 1)
    if part.kind != "CYCLIC":
        return processes
    width = max(part.width, 1)
    extent = pattern.extents[dimension] if dimension < len(pattern.extents) else 0
    return -(-extent // width) if extent else 2 * processes


def _drawn(sizes: tuple[int, ...]) -> list[int]:
    """Choose the dimensions to draw: those that are cut, then the slowest ones, in order."""
    cut = [d for d, size in enumerate(sizes) if size > 1]
    whole = [d for d, size in enumerate(sizes) if size <= 1]
    wanted = cut[:MOST_DIMENSIONS]
    room = min(MOST_DIMENSIONS, len(sizes)) - len(wanted)
    return sorted(wanted + whole[: max(room, 0)])


def _elide(n_cells: int) -> tuple[int, ...]:
    if n_cells <= MOST_CELLS:
        return tuple(range(n_cells))
    return (*range(MOST_CELLS - 2), GAP, n_cells - 1)


def _label(pattern: Pattern, dimension: int) -> str:
    if dimension < len(pattern.distributions):
        kind = str(pattern.distributions[dimension])
    else:
        kind = "diagonal blocks"
    extent = pattern.extents[dimension] if dimension < len(pattern.extents) else 0
    size = f", {times([extent])} elements" if extent else ""
    return f"dimension {dimension}: {'whole' if kind == '*' else kind}{size}"


def times(numbers: Sequence[int]) -> str:
    """Sizes of an array: 4 x 16 777 216."""
    return " x ".join(map(format_count, numbers)) or "?"


def _diagonal_owner(cell: Sequence[int], side: int) -> int:
    """Owner of a cell as the NAS BT benchmark deals them out (C order, slowest first).

    Source: NAS Parallel Benchmarks 3.4, BT/make_set.f90: cell c of process (row, column) lies
    at (column + c, row - c, c), modulo the side, in Fortran order.
    """
    if len(cell) < 3:
        return NOBODY
    z, y, x = cell[:3]
    return (y + z) % side * side + (x - z) % side
