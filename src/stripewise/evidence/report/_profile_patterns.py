# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws which rank owns which block of an array, once for all datasets of the same pattern.

At most eight cells a dimension are drawn (the first six, an ellipsis, the last) and at most three
dimensions, distributed ones first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from stripewise.evidence.patterns import Pattern, PatternKind
from stripewise.present import INK, Chart, Spec, count_text, percent_text, plural

MOST_CELLS = 8
MOST_DIMENSIONS = 3
GAP = -1
"""In place of a cell: some are left out."""
NOBODY = -1
"""In place of a rank: the cell is not assigned, or the rank is not known."""

_WHOLE_ARRAY = {PatternKind.SINGLE: "one rank", PatternKind.REPLICATED: "every rank"}
_COLOURS = (
    *("#8fc3e3", "#f3cd80", "#80ceb6", "#e3b9d1", "#a9d8f2", "#e9ae80", "#dad37f", "#bdbdbd"),
)
_WIDE, _HIGH, _WHOLE = 38, 24, 4
_SMALL: Spec = {"fontSize": 11, "fontWeight": "normal", "anchor": "start"}
_PLACE: Spec = {"type": "ordinal", "scale": {"padding": 0}, "axis": None}


def pattern_chart(pattern: Pattern) -> Chart | None:
    """Draw the owners of the blocks of an array; None for one that has no regular cells."""
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
    title = {"text": [f"{way}: {label}" for way, label in ways if label][::-1]}
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
    """Return what a cell shows and in which colour; `places`: of the drawn dimensions."""
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
        pattern: Of the array.
        counts: Cells of each dimension.
        places: Of the block in each dimension.
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
    """Owner of a cell as the NAS BT benchmark deals them out (C order, slowest first).

    Source: NAS Parallel Benchmarks 3.4, BT/make_set.f90: cell c of process (row, column) lies
    at (column + c, row - c, c), modulo the side, in Fortran order.
    """
    if len(cell) < 3:
        return NOBODY
    z, y, x = cell[:3]
    return (y + z) % side * side + (x - z) % side


def cell_counts(pattern: Pattern) -> tuple[int, ...]:
    """Count the cells of each dimension; () where there is nothing regular to draw."""
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
    """Whether the blocks are smaller than the array in a dimension (or it is not known)."""
    extent = _extent(pattern, dimension)
    unknown = not extent or dimension >= len(pattern.block)
    return unknown or pattern.block[dimension] < extent


def _cells_along(pattern: Pattern, dimension: int) -> int:
    """BLOCK has a cell per process; CYCLIC shows as many rounds as fit."""
    processes, part = max(pattern.grid[dimension], 1), pattern.distributions[dimension]
    if part.kind != "CYCLIC":
        return processes
    extent = _extent(pattern, dimension)
    return -(-extent // max(part.width, 1)) if extent else 2 * processes


def _extent(pattern: Pattern, dimension: int) -> int:
    """Length of the array in a dimension; 0: not known."""
    return pattern.extents[dimension] if dimension < len(pattern.extents) else 0


def drawn_dimensions(counts: Sequence[int]) -> list[int]:
    """Choose the dimensions to draw: those that are cut, then the slowest ones, in order."""
    cut_first = sorted(range(len(counts)), key=lambda d: counts[d] <= 1)
    return sorted(cut_first[:MOST_DIMENSIONS])


def shown_cells(n_cells: int) -> tuple[int, ...]:
    """Choose the cells of a dimension to draw; `GAP` stands for those that are left out."""
    if n_cells <= MOST_CELLS:
        return tuple(range(n_cells))
    return (*range(MOST_CELLS - 2), GAP, n_cells - 1)


def _label(pattern: Pattern, dimension: int) -> str:
    """Say what a drawn dimension is: "dimension 0: BLOCK, 240 elements"."""
    if pattern.kind in _WHOLE_ARRAY:
        return ""
    kind = "diagonal blocks"
    if dimension < len(pattern.distributions):
        kind = str(pattern.distributions[dimension])
    extent = _extent(pattern, dimension)
    size = f", {times([extent])} elements" if extent else ""
    return f"dimension {dimension}: {'whole' if kind == '*' else kind}{size}"


def times(numbers: Sequence[int]) -> str:
    """Sizes of an array: 4 x 16 777 216."""
    return " x ".join(map(count_text, numbers)) or "?"


def _described(pattern: Pattern, n_dims: int, drawn: Sequence[int]) -> str:
    words = [describe(pattern)]
    if hidden := [str(d) for d in range(n_dims) if d not in drawn]:
        words.append(f"Not drawn: dimension{'s' if len(hidden) > 1 else ''} {', '.join(hidden)}.")
    if pattern.kind is PatternKind.MULTIPARTITION and len(drawn) == MOST_DIMENSIONS:
        words.append("Cells are numbered as the NAS BT benchmark deals them out.")
    return " ".join(words)


def describe(pattern: Pattern) -> str:
    """Say in a sentence how the array is split."""
    if pattern.kind is PatternKind.SINGLE:
        return "One rank moves the whole array."
    if pattern.kind is PatternKind.REPLICATED:
        return "Every rank moves the same elements."
    if pattern.kind is PatternKind.MULTIPARTITION:
        return (
            f"Each of {pattern.active_ranks} processes owns several blocks of "
            f"{times(pattern.block)} elements, one in each diagonal of the array."
        )
    return (
        f"A grid of {times(pattern.grid)} processes; each moves "
        f"{times(pattern.block)} elements of the array"
        f"{f' of {times(pattern.extents)}' if pattern.extents and all(pattern.extents) else ''}."
    )


# Patterns for the page: datasets of the same pattern together, each drawn once.

MOST_PATTERNS = 24


@dataclass(frozen=True)
class PatternGroup:
    """Datasets with the same pattern; `members`: "written" or "read" to their names."""

    pattern: Pattern
    picture: Chart | None
    words: str
    facts: tuple[str, ...]
    members: dict[str, list[str]]


def pattern_groups(patterns: Sequence[Pattern]) -> list[PatternGroup]:
    """Put datasets of the same pattern together and draw each once.

    Distributed ones come first, and among equals those with most elements.  What one rank moves
    alone, or moves irregularly, is one group each way, whatever its size.
    """
    groups: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in patterns:
        key: tuple[object, ...] = (pattern.kind,)
        if pattern.kind in _DRAWN_BY_SHAPE:
            key += (pattern.notation, pattern.grid, pattern.extents, pattern.rank_order)
            key += (pattern.halo, pattern.active_ranks, pattern.uneven, pattern.deviating_ranks)
        groups.setdefault(key, []).append(pattern)
    order = sorted(groups.values(), key=_importance)
    return [_group(members, place) for place, members in enumerate(order)]


_DRAWN_BY_SHAPE = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)
_ORDER = (*_DRAWN_BY_SHAPE, PatternKind.IRREGULAR, PatternKind.REPLICATED, PatternKind.SINGLE)


def _importance(members: Sequence[Pattern]) -> tuple[int, int]:
    kind = members[0].kind
    volume = sum(math.prod(one.extents) * one.element_bytes * one.steps for one in members)
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), -volume


def _group(members: Sequence[Pattern], place: int) -> PatternGroup:
    first = members[0]
    others = [set(pattern_facts(one)) for one in members[1:]]
    facts = [fact for fact in pattern_facts(first) if all(fact in one for one in others)]
    return PatternGroup(
        pattern=first,
        picture=pattern_chart(first) if place < MOST_PATTERNS else None,
        words="" if first.kind in (PatternKind.IRREGULAR, PatternKind.EMPTY) else describe(first),
        facts=tuple(facts),
        members=_members(members),
    )


def _members(patterns: Sequence[Pattern]) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {"written": {}, "read": {}}
    for pattern in patterns:
        where = f"{pattern.file}:{pattern.dataset}" if pattern.dataset else pattern.file
        names["written" if pattern.writing else "read"][where] = None
    return {direction: list(found) for direction, found in names.items() if found}


def pattern_facts(pattern: Pattern) -> list[str]:
    """What else is known of a pattern, each in a few words."""
    facts = []
    drawn = pattern.kind in _DRAWN_BY_SHAPE
    if pattern.extents and all(pattern.extents) and not drawn:
        facts.append(f"array of {times(pattern.extents)} elements")
    facts.append(f"an element is {plural(pattern.element_bytes, 'byte')} long")
    if 0 < pattern.active_ranks < pattern.n_ranks:
        facts.append(
            f"{pattern.active_ranks} of {pattern.n_ranks} ranks take part"
            + ("; cells are numbered in their order" if drawn else "")
        )
    in_grid = pattern.kind is PatternKind.DISTRIBUTED
    if in_grid and pattern.rank_order == "F":
        facts.append("ranks are dealt out with the first dimension fastest")
    elif in_grid and pattern.rank_order == "other":
        facts.append("ranks lie in the grid in an order of their own")
    if pattern.steps > 1:
        facts.append(f"in {pattern.steps} steps")
    if any(pattern.halo):
        facts.append("neighbours overlap by " + times(pattern.halo) + " elements")
    if pattern.uneven:
        facts.append("the last blocks are smaller")
    facts.append(f"{percent_text(pattern.collective)} of the calls are collective")
    if pattern.n_deviating:
        named = ", ".join(map(str, pattern.deviating_ranks))
        more = pattern.n_deviating - len(pattern.deviating_ranks)
        others = f" and {more} more" if more > 0 else ""
        facts.append(f"different from all others: rank {named}{others}")
    origin = {"view": "from file views", "offsets": "from offsets and lengths"}
    facts.append(origin.get(pattern.source, f"from {pattern.source.upper()} selections"))
    return [*facts, *pattern.notes]
