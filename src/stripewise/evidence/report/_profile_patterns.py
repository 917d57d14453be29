# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes how arrays are divided between ranks, and draws which rank owns which block.

At most eight cells per dimension are drawn (the first six, an ellipsis, the last) and at most
three dimensions, distributed ones first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from stripewise.core import from_json
from stripewise.evidence.patterns import (
    Pattern,
    PatternGroup,
    PatternKind,
    describe,
    group_patterns,
)
from stripewise.evidence.report._profile_blocks import NO_PATTERNS
from stripewise.present import INK, Chart, Spec, count_text, plural
from stripewise.present.blocks import Block, Drawings, Notice, Point, Points

MOST_CELLS = 8
MOST_DIMENSIONS = 3
GAP = -1
"""Placeholder for cells that are left out."""
NOBODY = -1
"""Placeholder for a rank: the cell is not assigned, or the rank is unknown."""

_WHOLE_ARRAY = {PatternKind.SINGLE: "one rank", PatternKind.REPLICATED: "every rank"}
_COLOURS = (
    *("#8fc3e3", "#f3cd80", "#80ceb6", "#e3b9d1", "#a9d8f2", "#e9ae80", "#dad37f", "#bdbdbd"),
)
_WIDE, _HIGH, _WHOLE = 38, 24, 4
_SMALL: Spec = {"fontSize": 11, "fontWeight": "normal", "anchor": "start"}
_PLACE: Spec = {"type": "ordinal", "scale": {"padding": 0}, "axis": None}


def pattern_chart(pattern: Pattern) -> Chart | None:
    """Draw the owners of the blocks of an array; None if it has no regular cells."""
    counts = cell_counts(pattern)
    if not counts:
        return None
    drawn = drawn_dimensions(counts)
    absent = MOST_DIMENSIONS - len(drawn)
    axes = [(0,)] * absent + [shown_cells(counts[d]) for d in drawn]
    rows = []
    for spot in itertools.product(*(range(len(cells)) for cells in axes)):
        at = [cells[place] for cells, place in zip(axes, spot, strict=True)]
        cell = _cell(pattern, counts, dict(zip(drawn, at[absent:], strict=True)))
        rows.append(dict(zip("zyx", spot, strict=True)) | cell)
    labels = [""] * absent + [_label(pattern, d) for d in drawn]
    sheet = _sheet(wide=len(axes[2]) > 1, high=len(axes[1]) > 1 or len(drawn) < 2)
    if labels[0]:
        header = {"title": None, "labelExpr": f"'dimension {drawn[0]}, block ' + datum.value"}
        facet: Spec = {"field": "z", "type": "ordinal", "header": header}
        sheet = {"facet": facet, "columns": 2, "spec": sheet, "spacing": 8}
    ways = zip(("sheet by sheet", "down", "across"), labels, strict=True)
    axes_words = [f"{way}: {label}" for way, label in ways if label][::-1]
    title = {"text": [pattern.notation, *axes_words]}
    data = {"data": {"values": rows}, "config": {"view": {"stroke": None}, "title": _SMALL}}
    return Chart({**sheet, **data, "title": title}, _described(pattern, len(counts), drawn))


def _sheet(*, wide: bool, high: bool) -> Spec:
    """Draw two dimensions: a rectangle for each cell, and its text."""
    return {
        "width": {"step": _WIDE if wide else _WIDE * _WHOLE},
        "height": {"step": _HIGH if high else 3 * _HIGH},
        "encoding": {name: _PLACE | {"field": name} for name in ("x", "y")},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": INK, "strokeWidth": 0.6},
                "encoding": {
                    "color": {"field": "colour", "type": "nominal", "scale": None},
                    "tooltip": {"field": "text", "title": "rank"},
                },
            },
            {"mark": {"type": "text", "fontSize": 11}, "encoding": {"text": {"field": "text"}}},
        ],
    }


def _cell(pattern: Pattern, counts: Sequence[int], places: Mapping[int, int]) -> dict[str, object]:
    """Return text and colour of a cell; `places` are those in the drawn dimensions."""
    if pattern.kind in _WHOLE_ARRAY:
        return {"text": _WHOLE_ARRAY[pattern.kind], "colour": _COLOURS[0]}
    if GAP in places.values():
        return {"text": "…", "colour": "#ffffff"}
    rank = owner(pattern, counts, [places.get(d, 0) for d in range(len(counts))])
    if rank == NOBODY:
        return {"text": "", "colour": "#eceff4"}
    return {"text": str(rank), "colour": _COLOURS[rank % len(_COLOURS)]}


def owner(pattern: Pattern, counts: Sequence[int], places: Sequence[int]) -> int:
    """Return the rank in the grid's order that owns a block.

    Args:
        pattern: Pattern of the array.
        counts: Number of cells in each dimension.
        places: Place of the block in each dimension.
    """
    if pattern.kind is PatternKind.MULTIPARTITION:
        cut = [place for place, count in zip(places, counts, strict=True) if count > 1]
        return _diagonal_owner(cut, math.isqrt(max(pattern.active_ranks, 1)))
    if pattern.rank_order == "other":
        return NOBODY
    grid = [max(n, 1) for n in pattern.grid]
    order: Literal["C", "F"] = "F" if pattern.rank_order == "F" else "C"
    return int(np.ravel_multi_index(places, grid, mode="wrap", order=order))


def _diagonal_owner(cell: Sequence[int], side: int) -> int:
    """Return the owner of a cell as assigned by the NAS BT benchmark (C order, slowest first).

    Source: NAS Parallel Benchmarks 3.4, BT/make_set.f90: cell c of process (row, column) is at
        (column + c, row - c, c), modulo the side, in Fortran order.
    """
    if len(cell) < 3:
        return NOBODY
    z, y, x = cell[:3]
    return (y + z) % side * side + (x - z) % side


def cell_counts(pattern: Pattern) -> tuple[int, ...]:
    """Count the cells of each dimension; () if there is nothing regular to draw."""
    if pattern.kind in _WHOLE_ARRAY:
        return (1,)
    if pattern.kind is PatternKind.MULTIPARTITION:
        return _diagonal_counts(pattern)
    n_dims = len(pattern.grid)
    if pattern.kind is not PatternKind.DISTRIBUTED or n_dims != len(pattern.distributions):
        return ()
    return tuple(_cells_along(pattern, d) for d in range(n_dims))


def _diagonal_counts(pattern: Pattern) -> tuple[int, ...]:
    side = math.isqrt(max(pattern.active_ranks, 1))
    n_dims = len(pattern.block) or len(pattern.extents)
    if n_dims < 2 or side * side != pattern.active_ranks:
        return pattern.grid if len(pattern.grid) >= 2 else ()
    cut = [d for d in range(n_dims) if _is_cut(pattern, d)]
    chosen = (cut if len(cut) > 1 else range(n_dims))[:MOST_DIMENSIONS]
    return tuple(side if d in chosen else 1 for d in range(n_dims))


def _is_cut(pattern: Pattern, dimension: int) -> bool:
    """Return whether the blocks are smaller than the array in a dimension (or it is unknown)."""
    extent = _extent(pattern, dimension)
    unknown = not extent or dimension >= len(pattern.block)
    return unknown or pattern.block[dimension] < extent


def _cells_along(pattern: Pattern, dimension: int) -> int:
    """Count cells: BLOCK has one per process; CYCLIC shows as many rounds as fit."""
    processes, part = max(pattern.grid[dimension], 1), pattern.distributions[dimension]
    if part.kind != "CYCLIC":
        return processes
    extent = _extent(pattern, dimension)
    return -(-extent // max(part.width, 1)) if extent else 2 * processes


def _extent(pattern: Pattern, dimension: int) -> int:
    """Return the length of the array in a dimension; 0 if unknown."""
    return pattern.extents[dimension] if dimension < len(pattern.extents) else 0


def drawn_dimensions(counts: Sequence[int]) -> list[int]:
    """Choose the dimensions to draw: those that are cut, then the slowest ones, in order."""
    cut_first = sorted(range(len(counts)), key=lambda d: counts[d] <= 1)
    return sorted(cut_first[:MOST_DIMENSIONS])


def shown_cells(n_cells: int) -> tuple[int, ...]:
    """Choose the cells of a dimension to draw; `GAP` replaces those that are left out."""
    if n_cells <= MOST_CELLS:
        return tuple(range(n_cells))
    return (*range(MOST_CELLS - 2), GAP, n_cells - 1)


def _label(pattern: Pattern, dimension: int) -> str:
    """Return the label of a drawn dimension: "dimension 0: BLOCK, 240 elements"."""
    if pattern.kind in _WHOLE_ARRAY:
        return ""
    kind = "diagonal blocks"
    if dimension < len(pattern.distributions):
        kind = str(pattern.distributions[dimension])
    extent = _extent(pattern, dimension)
    size = f", {count_text(extent)} elements" if extent else ""
    return f"dimension {dimension}: {'whole' if kind == '*' else kind}{size}"


def _described(pattern: Pattern, n_dims: int, drawn: Sequence[int]) -> str:
    words = [f"{describe(pattern)}."]
    if hidden := [str(d) for d in range(n_dims) if d not in drawn]:
        words.append(f"Not drawn: dimension{'s' if len(hidden) > 1 else ''} {', '.join(hidden)}.")
    if pattern.kind is PatternKind.MULTIPARTITION and len(drawn) == MOST_DIMENSIONS:
        words.append("Cells are numbered as in the NAS BT benchmark.")
    return " ".join(words)


# Patterns of a profile: datasets of the same pattern combined, each pattern drawn once.

MOST_PATTERNS = 24
_MOST_NAMES = 6
_DRAWN_BY_SHAPE = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)
_ORDER = (*_DRAWN_BY_SHAPE, PatternKind.IRREGULAR, PatternKind.REPLICATED, PatternKind.SINGLE)
_NOTATION = (
    "Each line shows how an array is split over the ranks, in the notation of High "
    "Performance Fortran: the number of dimensions, the distribution of each (BLOCK, "
    "CYCLIC, or * where it is not split), and the block of one process in C order."
)


def patterns(profile: Mapping[str, Any], most: int = MOST_PATTERNS) -> list[Block]:
    """Return the patterns of a profile in words, and a drawing of each."""
    groups = group_patterns(from_json(Pattern, one) for one in profile["patterns"])
    if not groups:
        return [Notice("pattern_words", "", [NO_PATTERNS], "plain")]
    groups.sort(key=_importance)
    points = [
        Point(pattern_heading(group), note=f"{_words(group.pattern)}{_members(group)}")
        for group in groups[:most]
    ]
    more = len(groups) - len(points)
    note = _NOTATION
    if more:
        note += (
            f" {plural(more, 'more pattern')} {'is' if more == 1 else 'are'} not shown; "
            "`stripewise profile --as pattern` lists all."
        )
    charts = (pattern_chart(group.pattern) for group in groups[:most])
    drawn = {chart.description: chart for chart in charts if chart is not None}
    cells = "Each cell shows the rank that owns it."
    return [
        Points("pattern_words", "", points, note),
        Drawings("pattern_cells", "", tuple(drawn.values()), cells, is_grid=True),
    ]


def pattern_heading(group: PatternGroup) -> str:
    """Return a line with the arrays that have a pattern, and its notation."""
    number = len(group.members)
    verb = "write" if group.pattern.writing else "read"
    kind = "datasets" if group.members[0][1] else "arrays"
    many = f"{number} {kind} " if number > 1 else ""
    return f"{verb:5} {many}{group.name}: {group.pattern.notation}"


def _importance(group: PatternGroup) -> tuple[int, int]:
    """Return the sort key: patterns with a shape first, then those with most bytes."""
    pattern = group.pattern
    volume = math.prod(pattern.extents) * pattern.element_bytes * pattern.steps
    place = _ORDER.index(pattern.kind) if pattern.kind in _ORDER else len(_ORDER)
    return place, -volume * len(group.members)


def _members(group: PatternGroup) -> str:
    """Return the names of the first datasets, or files, of several with the same pattern."""
    names = [dataset or file for file, dataset in group.members]
    more = len(names) - _MOST_NAMES
    named = f"; {', '.join(names[:_MOST_NAMES])}" if len(names) > 1 else ""
    return named + (f" and {more} more" if more > 0 else "")


def _words(pattern: Pattern) -> str:
    """Describe all that is known of a pattern."""
    words = [describe(pattern)]
    if pattern.element_bytes > 1 and not all(pattern.extents or (0,)):
        words.append(f"an element is {plural(pattern.element_bytes, 'byte')} long")
    if pattern.kind is PatternKind.DISTRIBUTED and pattern.rank_order == "other":
        words.append("ranks lie in the grid in an order of their own")
    origin = {"view": "from file views", "offsets": "from offsets and lengths"}
    words.append(origin.get(pattern.source, f"from {pattern.source.upper()} selections"))
    return "; ".join(words)
