# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Name the pattern of boxes, if each rank has one and they fill a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stripewise.model import Pattern, PatternKind
from stripewise.patterns._boxes import START, Boxes, Ints, classes, set_ends
from stripewise.patterns._dimension import Named, name_dimension
from stripewise.patterns._grid import Grid, find_grid
from stripewise.patterns._merge import one_each

Finding = Pattern
"""A pattern of which file, dataset and what is counted are not yet said."""


def unnamed(kind: PatternKind, **known: Any) -> Finding:
    """Return a finding, with what is known of it."""
    return Pattern("", "", False, kind, **known)


def placed(lie: Grid) -> dict[str, Any]:
    """Return what a pattern says of how ranks lie in its grid."""
    return {"rank_order": lie.order, "first_rank": lie.first_rank, "rank_strides": lie.strides}


def name_boxes(boxes: Boxes) -> Finding | None:
    """Name the pattern of boxes, at most one a rank; None if it has no name."""
    if not one_each(boxes):
        return None
    found, coordinates = [], []
    for sets in boxes.sets:
        table, part = classes(sets)
        named = name_dimension(table)
        if named is None:
            return None
        found.append(named)
        coordinates.append(part)
    return finding_of(boxes.rank, found, coordinates)


def finding_of(rank: Ints, found: Sequence[Named], coordinates: Sequence[Ints]) -> Finding | None:
    """Put the dimensions together; None if the ranks do not fill the grid."""
    parts = tuple(named.parts for named in found)
    lie = find_grid(rank, coordinates, parts)
    return None if lie is None else put_together(found, lie, rank.size)


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
        **placed(lie),
        halo=halos if any(halos) else (),
        uneven=any(named.uneven for named in found),
        notes=(*_shared(parts, lie), *_details(found)),
    )


def _kind(parts: Sequence[int], n_active: int) -> PatternKind:
    if any(n > 1 for n in parts):
        return PatternKind.DISTRIBUTED
    return PatternKind.SINGLE if n_active == 1 else PatternKind.REPLICATED


def _shared(parts: Sequence[int], lie: Grid) -> list[str]:
    if lie.copies == 1 or all(n == 1 for n in parts):
        return []
    return [f"each block is moved by {lie.copies} ranks"]


def _details(found: Sequence[Named]) -> list[str]:
    """Say what the notation does not."""
    notes = []
    for d, named in enumerate(found):
        below, above = named.distribution.ghost
        if below or above:
            notes.append(f"dimension {d}: blocks reach {below} below and {above} above their own")
        if named.distribution.lattice:
            stride, length = named.distribution.lattice
            notes.append(f"dimension {d}: {length} of every {stride} elements are moved")
        if named.distribution.rule == "general":
            notes.append(f"dimension {d}: blocks of any lengths")
    return notes


def widest(boxes: Boxes) -> tuple[tuple[int, int], ...]:
    """Return the bounding box of all boxes: first element and end per dimension."""
    if not boxes.rank.size:
        return ()
    lows = boxes.sets[:, START].min(axis=1)
    ends = [int(np.max(set_ends(sets))) for sets in boxes.sets]
    return tuple(zip(lows.tolist(), ends, strict=True))
