# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of how an array is split over the ranks: a bar, a sheet or a box of numbered cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from markupsafe import Markup

from stripewise.model import Pattern, PatternKind
from stripewise.report._profile_pattern import (
    GAP,
    MOST_DIMENSIONS,
    NOBODY,
    Axis,
    CellMap,
    cell_map,
    times,
)

_N_COLOURS = 8
_WIDE, _HIGH, _DEEP = 40, 28, 22
_WHOLE = 4.0
"""Cells that one undivided dimension is as long as."""
_MARGIN = 4
_LINE = 17
Point = tuple[float, float]


def pattern_picture(pattern: Pattern, name: str) -> Markup | None:
    """Draw the owners of the blocks of an array.

    Args:
        pattern: What is drawn.
        name: Unique on the page; prefix of all ids.

    Returns:
        Inline SVG, None for a pattern that has no regular cells.
    """
    cells = cell_map(pattern)
    if cells is None:
        return None
    shapes, width, height = _draw(cells)
    captions = _captions(cells)
    lines = "".join(
        f'<text x="{_MARGIN}" y="{height + _LINE * (number + 1):g}" class="axis">'
        f"{escape(text)}</text>"
        for number, text in enumerate(captions)
    )
    longest = max((len(text) for text in captions), default=0)
    width = max(width, 6.7 * longest) + 2 * _MARGIN
    height += _LINE * len(captions) + 8
    title = f'<title id="{name}-title">{escape(describe(pattern))}</title>'
    return Markup(
        f'<svg class="cells" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-labelledby="{name}-title">{title}'
        f"{''.join(shapes)}{lines}</svg>"
    )


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


def _captions(cells: CellMap) -> list[str]:
    names = {1: ("across",), 2: ("down", "across"), 3: ("into the page", "down", "across")}
    ways = names[len(cells.axes)]
    lines = [
        f"{way}: {axis.label}" for way, axis in zip(ways, cells.axes, strict=True) if axis.label
    ]
    if cells.hidden:
        hidden = ", ".join(map(str, cells.hidden))
        lines.append(f"not drawn: dimension{'s' if len(cells.hidden) > 1 else ''} {hidden}")
    if cells.pattern.kind is PatternKind.MULTIPARTITION and len(cells.axes) == MOST_DIMENSIONS:
        lines.append("numbered as the NAS BT benchmark deals them out")
    return lines


def _draw(cells: CellMap) -> tuple[list[str], float, float]:
    """Return shapes, width and height."""
    pattern = cells.pattern
    if pattern.kind is PatternKind.SINGLE:
        return _one("one rank", 0)
    if pattern.kind is PatternKind.REPLICATED:
        return _one("every rank", NOBODY)
    if len(cells.axes) < 3:
        return _sheet(cells)
    return _box(cells)


def _one(text: str, rank: int) -> tuple[list[str], float, float]:
    corners = [(4.0, 4.0), (164.0, 4.0), (164.0, 68.0), (4.0, 68.0)]
    return [_cell(corners, rank, text)], 170, 74


def _sheet(cells: CellMap) -> tuple[list[str], float, float]:
    """One or two dimensions."""
    across = cells.axes[-1]
    down = cells.axes[0] if len(cells.axes) == 2 else Axis(-1, (0,), 1, "")
    wide = _cell_length(across, _WIDE)
    high = _cell_length(down, _HIGH) if len(cells.axes) == 2 else _HIGH
    shapes = []
    for row, i in enumerate(down.cells):
        for column, j in enumerate(across.cells):
            places = (i, j) if len(cells.axes) == 2 else (j,)
            x, y = _MARGIN + column * wide, _MARGIN + row * high
            corners = [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]
            shapes.append(_owned(cells, places, corners))
    width, height = len(across.cells) * wide, len(down.cells) * high
    return shapes, width + 2 * _MARGIN, height + 2 * _MARGIN


def _box(cells: CellMap) -> tuple[list[str], float, float]:
    """Three dimensions: front, top and right side of a box."""
    deep, down, across = cells.axes
    wide, high = _cell_length(across, _WIDE), _cell_length(down, _HIGH)
    thick = _cell_length(deep, _DEEP)
    x0, y0 = float(_MARGIN), _MARGIN + len(deep.cells) * thick

    def point(z: float, y: float, x: float) -> Point:
        return x0 + x * wide + z * thick, y0 + y * high - z * thick

    shapes = [
        _owned(cells, places, [point(*corner) for corner in corners])
        for places, corners in _faces(deep, down, across)
    ]
    width = len(across.cells) * wide + len(deep.cells) * thick
    height = len(down.cells) * high + len(deep.cells) * thick
    return shapes, width + 2 * _MARGIN, height + 2 * _MARGIN


def _cell_length(axis: Axis, length: float) -> float:
    """Length of a cell; a dimension that is not split is drawn longer than one cell."""
    return length if axis.n_cells > 1 else _WHOLE * length


def _faces(
    deep: Axis, down: Axis, across: Axis
) -> Iterator[tuple[tuple[int, int, int], list[tuple[float, float, float]]]]:
    """Yield (cell, its four corners in cell units: into the page, down, across)."""
    right = len(across.cells)
    for y, j in enumerate(down.cells):
        for x, i in enumerate(across.cells):
            yield (0, j, i), [(0, y, x), (0, y, x + 1), (0, y + 1, x + 1), (0, y + 1, x)]
    for z, k in enumerate(deep.cells):
        for x, i in enumerate(across.cells):
            yield (k, 0, i), [(z, 0, x), (z, 0, x + 1), (z + 1, 0, x + 1), (z + 1, 0, x)]
        for y, j in enumerate(down.cells):
            corners = [(z, y, right), (z + 1, y, right), (z + 1, y + 1, right), (z, y + 1, right)]
            yield (k, j, across.cells[-1]), [(float(a), float(b), float(c)) for a, b, c in corners]


def _owned(cells: CellMap, places: Sequence[int], corners: Sequence[Point]) -> str:
    if GAP in places:
        return _cell(corners, NOBODY, "…")
    rank = cells.owner(places)
    return _cell(corners, rank, "" if rank == NOBODY else str(rank))


def _cell(corners: Sequence[Point], rank: int, text: str) -> str:
    colour = "p" if rank == NOBODY else f"p p{rank % _N_COLOURS}"
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    x = sum(corner[0] for corner in corners) / len(corners)
    y = sum(corner[1] for corner in corners) / len(corners)
    small = ' class="tiny"' if len(text) > 4 and text.isdigit() else ""
    label = f'<text x="{x:g}" y="{y + 4:g}"{small}>{escape(text)}</text>' if text else ""
    return f'<polygon class="{colour}" points="{points}"/>{label}'
