# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Name the pattern of boxes, if each rank has one and they fill a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.model import BlockRule, Pattern, PatternKind
from stripewise.patterns._boxes import Boxes, classes
from stripewise.patterns._columns import Ints
from stripewise.patterns._dimension import Named, name_dimension
from stripewise.patterns._grid import Grid, find_grid
from stripewise.patterns._merge import one_each

Finding = Pattern
"""A pattern of which file, dataset and what is counted are not yet said."""


def unnamed(kind: PatternKind, **known: Any) -> Finding:
    """Return a finding, with what is known of it."""
    return Pattern("", "", False, kind, **known)


def name_boxes(boxes: Boxes) -> Finding | None:
    """Name the pattern of boxes, at most one a rank; None if it has no name."""
    dimensions = name_dimensions(boxes) if one_each(boxes) else None
    if dimensions is None:
        return None
    found, coordinates = dimensions
    lie = find_grid(boxes.rank, coordinates, [named.parts for named in found])
    return None if lie is None else put_together(found, lie, boxes.rank.size)


def name_dimensions(boxes: Boxes) -> tuple[list[Named], list[Ints]] | None:
    """Name all dimensions; per dimension (n,) int64, which part each box has.  None: irregular."""
    found, coordinates = [], []
    for sets in boxes.sets:
        table, part = classes(sets)
        named = name_dimension(table)
        if named is None:
            return None
        found.append(named)
        coordinates.append(part)
    return found, coordinates


def put_together(found: Sequence[Named], lie: Grid, n_active: int) -> Finding:
    """Return the finding for dimensions that are named and a grid."""
    parts = tuple(named.parts for named in found)
    halos = tuple(named.halo for named in found)
    return unnamed(
        _kind(parts, n_active),
        distributions=tuple(named.distribution for named in found),
        block=tuple(named.block for named in found),
        grid=parts,
        span=tuple(named.span for named in found),
        rank_order=lie.order,
        first_rank=lie.first_rank,
        rank_strides=lie.strides,
        halo=halos if any(halos) else (),
        uneven=any(named.uneven for named in found),
        notes=_notes(found, lie),
    )


def _kind(parts: Sequence[int], n_active: int) -> PatternKind:
    if any(n > 1 for n in parts):
        return PatternKind.DISTRIBUTED
    return PatternKind.SINGLE if n_active == 1 else PatternKind.REPLICATED


def _notes(found: Sequence[Named], lie: Grid) -> tuple[str, ...]:
    """Say what the notation does not."""
    notes = []
    if lie.copies > 1 and any(named.parts > 1 for named in found):
        notes.append(f"each block is moved by {lie.copies} ranks")
    for d, named in enumerate(found):
        below, above = named.distribution.ghost
        if below or above:
            notes.append(f"dimension {d}: blocks reach {below} below and {above} above their own")
        if named.distribution.lattice:
            stride, length = named.distribution.lattice
            notes.append(f"dimension {d}: {length} of every {stride} elements are moved")
        if named.distribution.rule == BlockRule.GENERAL:
            notes.append(f"dimension {d}: blocks of any lengths")
    return tuple(notes)
