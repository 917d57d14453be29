# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Charts of how an array is split over the ranks: sheets of cells that carry their rank."""

from __future__ import annotations

import itertools

from stripewise.model import Pattern, PatternKind
from stripewise.report._chart import INK, Chart, Spec
from stripewise.report._profile_pattern import (
    GAP,
    MOST_DIMENSIONS,
    NOBODY,
    Axis,
    CellMap,
    cell_map,
    times,
)

_COLOURS = (
    *("#8fc3e3", "#f3cd80", "#80ceb6", "#e3b9d1", "#a9d8f2", "#e9ae80", "#dad37f", "#bdbdbd"),
)
_NO_AXIS = Axis(-1, (0,), "")
_WIDE, _HIGH, _WHOLE = 38, 24, 4
_SMALL: Spec = {"fontSize": 11, "fontWeight": "normal", "anchor": "start"}
_PLACE: Spec = {"type": "ordinal", "scale": {"padding": 0}, "axis": None}


def pattern_chart(pattern: Pattern) -> Chart | None:
    """Draw the owners of the blocks of an array; None for one that has no regular cells."""
    cells = cell_map(pattern)
    if cells is None:
        return None
    single = {PatternKind.SINGLE: "one rank", PatternKind.REPLICATED: "every rank"}
    deep, down, across = [_NO_AXIS] * (MOST_DIMENSIONS - len(cells.axes)) + list(cells.axes)
    if pattern.kind in single:
        rows = [{"z": 0, "y": 0, "x": 0, "text": single[pattern.kind], "colour": _COLOURS[0]}]
    else:
        places = itertools.product(*(enumerate(a.cells) for a in (deep, down, across)))
        rows = [
            {"z": z[0], "y": y[0], "x": x[0], **_owned(cells, (z[1], y[1], x[1]))}
            for z, y, x in places
        ]
    sheet: Spec = {
        "width": {"step": _WIDE if len(across.cells) > 1 else _WIDE * _WHOLE},
        "height": {"step": _HIGH if len(down.cells) > 1 or len(cells.axes) < 2 else 3 * _HIGH},
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
    if deep.label:
        header = {
            "title": None,
            "labelExpr": f"'dimension {deep.dimension}, block ' + datum.value",
        }
        facet: Spec = {"field": "z", "type": "ordinal", "header": header}
        sheet = {"facet": facet, "columns": 2, "spec": sheet, "spacing": 8}
    ways = {"across": across.label, "down": down.label, "sheet by sheet": deep.label}
    title = {"text": [f"{way}: {label}" for way, label in ways.items() if label]}
    data = {"data": {"values": rows}, "config": {"view": {"stroke": None}, "title": _SMALL}}
    return Chart({**sheet, **data, "title": title}, _described(cells))


def _owned(cells: CellMap, places: tuple[int, ...]) -> dict[str, str]:
    """Return what a cell shows and in which colour."""
    own = places[MOST_DIMENSIONS - len(cells.axes) :]
    if GAP in own:
        return {"text": "…", "colour": "#ffffff"}
    rank = cells.owner(own)
    if rank == NOBODY:
        return {"text": "", "colour": "#eceff4"}
    return {"text": str(rank), "colour": _COLOURS[rank % len(_COLOURS)]}


def _described(cells: CellMap) -> str:
    words = [describe(cells.pattern)]
    if cells.hidden:
        hidden = ", ".join(map(str, cells.hidden))
        words.append(f"Not drawn: dimension{'s' if len(cells.hidden) > 1 else ''} {hidden}.")
    if cells.pattern.kind is PatternKind.MULTIPARTITION and len(cells.axes) == MOST_DIMENSIONS:
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
