# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of files of which only byte ranges are known: MPI-IO views, offset lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stripewise.model import Pattern, PatternKind, Pieces
from stripewise.patterns._boxes import Boxes, Ints, by_rank, most_common
from stripewise.patterns._cells import in_steps
from stripewise.patterns._deviants import name_most
from stripewise.patterns._fold import fold, without_repeats
from stripewise.patterns._irregular import describe_boxes
from stripewise.patterns._merge import distinct, merge
from stripewise.patterns._name import Finding, unnamed
from stripewise.patterns._naming import name_strictly, pattern_of, ranks_of_run
from stripewise.patterns._product import as_product
from stripewise.patterns._rows import Rows, rows_of
from stripewise.patterns._shape import boxes_in, more_shapes_of, shapes_of

MOST_ARRAYS = 64
"""Arrays in one file up to which each is looked for by itself."""

MOST_TOLERANT = 4
"""Shapes that are tried for a pattern that not all ranks have."""

_Found = tuple[Finding, Boxes, tuple[int, ...], int]
"""Finding, boxes, extents in elements, first byte."""
_Shapes = Callable[[Rows, int], list[tuple[int, ...]]]


def patterns_of_pieces(pieces: Pieces) -> list[Pattern]:
    """Find the pattern of each array that can be made out in the byte ranges."""
    whole = rows_of(pieces)
    apart = without_repeats(whole)
    rows = fold(apart)
    n_ranks = ranks_of_run(pieces.n_ranks, rows.rank)
    if not rows.rank.size:
        empty = Boxes(rows.rank, rows.call, np.zeros((1, 5, 0), np.int64))
        # What the notes tell of (a shared file pointer, say) was moved, only where is not known.
        kind = PatternKind.IRREGULAR if pieces.notes else PatternKind.EMPTY
        return [_pattern((unnamed(kind), empty, (), 0), pieces, n_ranks, 0, 1)]
    element_bytes = _element(rows, pieces.element_bytes)
    found = _all_arrays(rows, apart, n_ranks, element_bytes)
    steps = _steps(pieces, whole, apart)
    patterns = [_pattern(one, pieces, n_ranks, steps, element_bytes) for one in found]
    if element_bytes > 1:
        return patterns
    return [replace(one, notes=(*one.notes, _unit_note(rows))) for one in patterns]


def _all_arrays(rows: Rows, apart: Rows, n_ranks: int, element_bytes: int) -> list[_Found]:
    one = _strict(rows, element_bytes)
    if one is not None:
        other = None if _is_plain(one) else _strict(rows, element_bytes, more_shapes_of)
        return [other if other is not None and _is_plain(other) else one]
    for groups in (_by_position(rows), _by_call(apart)):
        several = [_strict(fold(group), element_bytes) for group in groups]
        found = [one for one in several if one is not None]
        if found and len(found) == len(several) and any(map(_is_distributed, found)):
            return found
    return [
        _strict(rows, element_bytes, more_shapes_of)
        or _tolerant(rows, n_ranks, element_bytes)
        or _strict(rows, element_bytes, steps=True)
        or _described(rows, element_bytes)
    ]


def _is_distributed(found: _Found) -> bool:
    return found[0].kind in (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)


def _strict(
    rows: Rows, element_bytes: int, shapes: _Shapes = shapes_of, *, steps: bool = False
) -> _Found | None:
    """Name the pattern, or that of one step, in the likeliest shape in which it has a name."""
    rows, first = _from_first(rows)
    spare: _Found | None = None
    for shape in shapes(rows, element_bytes):
        boxes = boxes_in(rows, shape, element_bytes)
        if boxes is None:
            continue
        apart = distinct(boxes)
        finding = in_steps(apart) if steps else name_strictly(apart, as_product(merge(apart)))
        if finding is None:
            continue
        found = finding, boxes, _extents(finding, shape, element_bytes), first
        if _is_plain(found):
            return found
        spare = spare or found
    return spare


def _is_plain(found: _Found) -> bool:
    """Whether the ranks lie in the grid in an order; in the true shape they mostly do."""
    return found[0].kind != PatternKind.DISTRIBUTED or bool(found[0].rank_strides)


def _tolerant(rows: Rows, n_ranks: int, element_bytes: int) -> _Found | None:
    shifted, first = _from_first(rows)
    shapes = shapes_of(shifted, element_bytes)
    for shape in dict.fromkeys((*shapes[:MOST_TOLERANT], ())):
        boxes = boxes_in(shifted, shape, element_bytes)
        if boxes is None:
            continue
        inner = _inner_extents(shape, element_bytes)
        finding = name_most(as_product(merge(distinct(boxes))), n_ranks, (0, *inner))
        if finding is not None:
            return finding, boxes, _extents(finding, shape, element_bytes), first
    return None


def _described(rows: Rows, element_bytes: int) -> _Found:
    """Say in words what the byte ranges are like."""
    boxes = boxes_in(_from_first(rows)[0], (), element_bytes)
    if boxes is None:
        hulls = np.zeros((1, 5, rows.rank.size), np.int64)
        hulls[0, 0] = rows.offset // element_bytes
        hulls[0, 2], hulls[0, 3] = 1, -(-rows.size // element_bytes)
        hulls[0, 4] = hulls[0, 3]
        boxes = by_rank(Boxes(rows.rank, rows.call, hulls))
        return describe_boxes(boxes), boxes, (), 0
    finding = describe_boxes(merge(boxes))
    return finding, boxes, tuple(end for _, end in finding.span), int(rows.offset.min())


def _from_first(rows: Rows) -> tuple[Rows, int]:
    """Return the rows relative to the first byte of all, and that byte."""
    first = int(rows.offset.min())
    moved = rows.offset - first
    return Rows(rows.rank, rows.call, moved, rows.size, rows.times, rows.step), first


def _inner_extents(shape: tuple[int, ...], element_bytes: int) -> tuple[int, ...]:
    units = (*shape, element_bytes)
    return tuple(units[d] // units[d + 1] for d in range(len(shape)))


def _extents(finding: Finding, shape: tuple[int, ...], element_bytes: int) -> tuple[int, ...]:
    first = finding.span[0][1] if finding.span else 0
    return (first, *_inner_extents(shape, element_bytes))


def _by_position(rows: Rows) -> list[Rows]:
    """Group the first row of every rank, the second one, and so on."""
    return _groups(rows, _number_in_rank(rows.rank))


def _by_call(rows: Rows) -> list[Rows]:
    """Group what every rank moves in its first call, in its second one, and so on."""
    order = np.lexsort((rows.call, rows.rank))
    rows = rows.take(order)
    new_rank = np.concatenate(([True], np.diff(rows.rank) != 0))
    new_call = new_rank | np.concatenate(([True], np.diff(rows.call) != 0))
    number = np.cumsum(new_call) - 1
    first = np.maximum.accumulate(np.where(new_rank, number, 0))
    return _groups(rows, number - first)


def _number_in_rank(rank: Ints) -> Ints:
    first = np.searchsorted(rank, rank)
    numbers: Ints = np.arange(rank.size) - first
    return numbers


def _groups(rows: Rows, number: Ints) -> list[Rows]:
    """Return a group for each number, if every rank has something in each."""
    n_groups = int(number.max()) + 1
    n_ranks = np.unique(rows.rank).size
    if not 2 <= n_groups <= MOST_ARRAYS or n_ranks < 2:
        return []
    if np.unique(rows.rank * n_groups + number).size != n_ranks * n_groups:
        return []
    return [rows.take(number == group) for group in range(n_groups)]


def _element(rows: Rows, element_bytes: int) -> int:
    """Return the size of an element if everything is a multiple of it, otherwise 1."""
    if element_bytes <= 1:
        return 1
    offset = rows.offset - rows.offset.min()
    parts = (offset, rows.size, *rows.step)
    return element_bytes if all((part % element_bytes == 0).all() for part in parts) else 1


def _steps(pieces: Pieces, whole: Rows, apart: Rows) -> int:
    """Calls of most ranks through a view; times that offset lists move the same bytes."""
    if pieces.source != "view":
        return max(1, round(whole.total_bytes() / max(apart.total_bytes(), 1)))
    if (np.diff(whole.rank) > 0).all():
        return 1
    order = np.lexsort((whole.call, whole.rank))
    rank, call = whole.rank[order], whole.call[order]
    new_rank = np.concatenate(([True], np.diff(rank) != 0))
    new_call = np.concatenate(([True], np.diff(call) != 0)) | new_rank
    return most_common(np.add.reduceat(new_call.astype(np.int64), np.flatnonzero(new_rank)))


def _pattern(one: _Found, pieces: Pieces, n_ranks: int, steps: int, unit: int) -> Pattern:
    finding, boxes, extents, first = one
    return replace(
        pattern_of(finding, boxes, n_ranks), file=pieces.file, writing=pieces.writing,
        extents=extents, element_bytes=unit, source=pieces.source, steps=steps,
        collective=float(pieces.collective.mean()) if pieces.collective.size else 0.0,
        notes=(*finding.notes, *pieces.notes), file_offset=first,
    )  # fmt: skip


def _unit_note(rows: Rows) -> str:
    """Say that sizes are bytes, and of what they are multiples."""
    bits = int(np.bitwise_or.reduce(rows.offset - rows.offset.min()))
    bits |= int(np.bitwise_or.reduce(rows.size)) | int(np.bitwise_or.reduce(rows.step, axis=None))
    power = min(bits & -bits, 16)
    if power < 2:
        return "sizes are in bytes"
    return f"sizes are in bytes, all of them multiples of {power}"
