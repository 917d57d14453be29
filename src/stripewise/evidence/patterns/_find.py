# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the pattern of each dataset, and of each file of which only byte ranges are known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from stripewise.evidence.patterns._boxes import (
    Boxes,
    Ints,
    alike,
    boxes_of,
    by_rank,
    distinct,
    joined,
    merge,
    mixed,
    most_common,
    plain_sets,
)
from stripewise.evidence.patterns._grid import Finding, unnamed
from stripewise.evidence.patterns._interleaved import with_interleaving
from stripewise.evidence.patterns._naming import (
    describe_boxes,
    distinct_and_merged,
    find_finding,
    in_steps,
    name_most,
    name_strictly,
    number_of_calls,
    pattern_of,
    ranks_of_run,
    with_unlisted,
)
from stripewise.evidence.patterns._pattern import Pattern, PatternKind
from stripewise.evidence.patterns._shape import (
    RangeRows,
    boxes_in,
    fold,
    more_shapes_of,
    rows_of,
    shapes_of,
    without_repeats,
)
from stripewise.evidence.trace import Pieces, Selections


def find_patterns(accesses: Iterable[Selections | Pieces]) -> tuple[Pattern, ...]:
    """Find the pattern of every dataset (or file), with separate reads and writes.

    Accesses of one dataset in one direction are combined. A file of which only byte ranges are
    known has one pattern for each array that is found in it.

    Args:
        accesses: Accesses of all ranks.
    """
    groups: dict[object, list[Any]] = {}
    for access in accesses:
        key: object = id(access)
        if isinstance(access, Selections):  # parts of a dataset that grows may be separate
            key = (access.file, access.dataset, access.writing, access.start.shape[1])
        groups.setdefault(key, []).append(access)
    found: list[Pattern] = []
    for parts in groups.values():
        if isinstance(parts[0], Pieces):
            found += patterns_of_pieces(parts[0])
        else:
            found.append(_of_selections(_joined(parts)))
    return tuple(found)


def _joined(parts: Sequence[Selections]) -> Selections:
    if len(parts) == 1:
        return parts[0]
    columns = ("rank", "start", "stride", "count", "block", "order", "collective")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in columns
    }
    earlier = np.cumsum([0, *(int(part.order.max(initial=-1)) + 1 for part in parts[:-1])])
    arrays["order"] += np.repeat(earlier, [part.order.size for part in parts])
    extents = tuple(max(sizes) for sizes in zip(*(p.extents for p in parts), strict=True))
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(
        parts[0], **arrays, extents=extents, notes=tuple(notes),
        n_ranks=max(part.n_ranks for part in parts),
        unlisted=np.concatenate([part.unlisted for part in parts]),
        left_out=sum(part.left_out for part in parts),
    )  # fmt: skip


MOST_UNLISTED = 0.01
"""Maximum share of calls whose selections are unknown in a pattern that has a name."""


def _of_selections(access: Selections) -> Pattern:
    boxes = boxes_of(access)
    n_ranks = ranks_of_run(access.n_ranks, boxes.rank)
    finding = find_finding(boxes, n_ranks, access.extents or (0,) * boxes.n_dims)
    if access.irregular and not access.notes:
        note = f"{access.irregular} irregular selections are not part of it"
        finding = replace(finding, notes=(*finding.notes, note))
    unlisted = int(access.unlisted["calls"].sum())
    if unlisted > MOST_UNLISTED * (unlisted + number_of_calls(boxes)) and finding.distributions:
        finding = describe_boxes(merge(distinct(boxes)))
    if access.irregular and finding.kind != PatternKind.DISTRIBUTED:
        finding = replace(finding, kind=PatternKind.IRREGULAR)
    pattern = replace(
        pattern_of(access, finding, boxes, n_ranks), dataset=access.dataset,
        extents=_extents(access.extents, finding), element_bytes=access.element_bytes,
    )  # fmt: skip
    return with_interleaving(with_unlisted(pattern, access), partial(_of_rank, boxes))


def _of_rank(boxes: Boxes, rank: int) -> Boxes:
    return boxes.take(boxes.rank == rank)


def _extents(known: tuple[int, ...], finding: Finding) -> tuple[int, ...]:
    """Return the extents of the dataset; unknown ones are those of the moved region."""
    ends = [end for _, end in finding.span]
    if not known:
        return tuple(ends)
    return tuple(n or end for n, end in zip(known, ends or known, strict=True))


# Patterns of files of which only byte ranges are known: MPI-IO views, offset lists.

MOST_ARRAYS = 64
"""Maximum number of arrays in one file for which each is analysed by itself."""

MOST_TOLERANT = 4
"""Maximum number of shapes that are tried for a pattern that not all ranks have."""

_Found = tuple[Finding, Boxes, tuple[int, ...], int]
"""Finding, boxes, extents in elements, first byte."""
_Shapes = Callable[[RangeRows, int], list[tuple[int, ...]]]
_Name = Callable[[Boxes, tuple[int, ...]], Finding | None]
"""Function that names boxes in an array with these extents except the first."""


def patterns_of_pieces(pieces: Pieces) -> list[Pattern]:
    """Find the pattern of each array that can be identified in the byte ranges."""
    whole = rows_of(pieces)
    apart = without_repeats(whole)
    rows = fold(apart)
    n_ranks = ranks_of_run(pieces.n_ranks, rows.rank)
    if not rows.rank.size:
        empty = Boxes(rows.rank, rows.call, np.zeros((1, 5, 0), np.int64))
        # Data that the notes mention (a shared file pointer, say) was moved at unknown offsets.
        kind = PatternKind.IRREGULAR if pieces.notes else PatternKind.EMPTY
        return [pattern_of(pieces, unnamed(kind), empty, n_ranks)]
    element_bytes = _element(rows, pieces.element_bytes)
    steps = _steps(pieces, whole, apart)
    patterns = [
        with_interleaving(
            replace(
                pattern_of(pieces, finding, boxes, n_ranks),
                extents=extents,
                element_bytes=element_bytes,
                steps=steps,
                file_offset=first,
            ),
            partial(_of_calls, apart, first, extents, element_bytes),
        )
        for finding, boxes, extents, first in _all_arrays(rows, apart, n_ranks, element_bytes)
    ]
    if element_bytes > 1:
        return patterns
    return [replace(one, notes=(*one.notes, _unit_note(rows))) for one in patterns]


def _of_calls(
    rows: RangeRows, first: int, extents: tuple[int, ...], element_bytes: int, rank: int
) -> Boxes | None:
    """Return what each call of a rank moved of an array that begins at byte `first`."""
    units = [math.prod(extents[d + 1 :]) * element_bytes for d in range(len(extents))]
    end = first + math.prod(extents) * element_bytes
    chosen = (rows.rank == rank) & (rows.offset >= first) & (rows.offset < end)
    if not extents or not chosen.any():
        return None
    mine = rows.take(chosen)
    return boxes_in(replace(mine, offset=mine.offset - first), units[:-1], element_bytes)


def _all_arrays(
    rows: RangeRows, apart: RangeRows, n_ranks: int, element_bytes: int
) -> list[_Found]:
    if one := _strict(rows, element_bytes):
        other = None if _is_plain(one) else _strict(rows, element_bytes, more_shapes_of)
        return [other if other is not None and _is_plain(other) else one]
    for groups in (_by_position(rows), _by_call(apart)):
        several = [_strict(fold(group), element_bytes) for group in groups]
        found = [one for one in several if one is not None]
        whole = found and len(found) == len(several) and _are_apart(groups)
        if whole and any(map(_is_distributed, found)):
            return found
    shapes = shapes_of(rows, element_bytes)
    few = dict.fromkeys((*shapes[:MOST_TOLERANT], ()))
    return [
        _strict(rows, element_bytes, more_shapes_of)
        or next(_named(rows, few, element_bytes, partial(_mostly, n_ranks)), None)
        or _plainest(_named(rows, shapes, element_bytes, _in_steps))
        or next(_named(rows, [()], element_bytes, _described), None)
        or _hulls(rows, element_bytes)
    ]


def _strict(rows: RangeRows, element_bytes: int, shapes: _Shapes = shapes_of) -> _Found | None:
    """Name the pattern that all ranks have, in the likeliest shape in which it has a name."""
    return _plainest(_named(rows, shapes(rows, element_bytes), element_bytes, _strictly))


def _named(
    rows: RangeRows, shapes: Iterable[tuple[int, ...]], element_bytes: int, name: _Name
) -> Iterator[_Found]:
    """Yield the pattern in each of the shapes in which it has a name."""
    first = int(rows.offset.min())
    rows = replace(rows, offset=rows.offset - first)
    for shape in shapes:
        boxes = boxes_in(rows, shape, element_bytes)
        if boxes is None:
            continue
        inner = tuple(a // b for a, b in itertools.pairwise((*shape, element_bytes)))
        finding = name(boxes, inner)
        if finding is not None:
            yield finding, boxes, (finding.span[0][1], *inner), first


def _strictly(boxes: Boxes, inner: tuple[int, ...]) -> Finding | None:
    return name_strictly(*distinct_and_merged(boxes))


def _mostly(n_ranks: int, boxes: Boxes, inner: tuple[int, ...]) -> Finding | None:
    return name_most(distinct_and_merged(boxes)[1], n_ranks, (0, *inner))


def _in_steps(boxes: Boxes, inner: tuple[int, ...]) -> Finding | None:
    return in_steps(distinct(boxes))


def _described(boxes: Boxes, inner: tuple[int, ...]) -> Finding:
    return describe_boxes(merge(boxes))


def _hulls(rows: RangeRows, element_bytes: int) -> _Found:
    """Describe ranges that are too many to be expanded, without their levels."""
    sets = plain_sets(rows.offset // element_bytes, -(-rows.size // element_bytes))
    boxes = by_rank(Boxes(rows.rank, rows.call, sets[None]))
    return describe_boxes(boxes), boxes, (), 0


def _plainest(found: Iterable[_Found]) -> _Found | None:
    """Return the first plain one, or else the first."""
    spare: _Found | None = None
    for one in found:
        if _is_plain(one):
            return one
        spare = spare or one
    return spare


def _is_plain(found: _Found) -> bool:
    """Return whether the ranks are ordered in the grid, as they mostly are in the true shape."""
    return found[0].kind != PatternKind.DISTRIBUTED or bool(found[0].rank_strides)


def _is_distributed(found: _Found) -> bool:
    return found[0].kind in (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)


def _are_apart(groups: Sequence[RangeRows]) -> bool:
    """Return whether arrays follow each other, once or in each record of a common distance."""
    rows = joined(*groups)
    number = np.repeat(np.arange(len(groups)), [group.rank.size for group in groups])
    used = (rows.times > 1).sum(axis=0)
    outer = np.maximum(used - 1, 0), np.arange(rows.rank.size)
    ends = rows.offset + rows.size + ((rows.times - 1) * rows.step).sum(axis=0)
    if _follow(number, rows.offset, ends):
        return True
    times, step = rows.times[outer], rows.step[outer]
    if (used == 0).any() or (times != times[0]).any() or (step != step[0]).any():
        return False
    ends = ends - (times - 1) * step
    one_record = int(ends.max() - rows.offset.min()) <= int(step[0])
    return one_record and _follow(number, rows.offset, ends)


def _follow(number: Ints, begins: Ints, ends: Ints) -> bool:
    """Return whether the regions of numbered groups do not overlap."""
    n_groups = int(number.max()) + 1
    first, last = np.full(n_groups, np.iinfo(np.int64).max), np.zeros(n_groups, np.int64)
    np.minimum.at(first, number, begins)
    np.maximum.at(last, number, ends)
    order = np.argsort(first, kind="stable")
    return bool((first[order][1:] >= last[order][:-1]).all())


def _by_position(rows: RangeRows) -> list[RangeRows]:
    """Group the first rows of all ranks, the second ones, and so on."""
    return _groups(rows, np.arange(rows.rank.size) - np.searchsorted(rows.rank, rows.rank))


def _by_call(rows: RangeRows) -> list[RangeRows]:
    """Group what every rank moves in its first call, in its second one, and so on."""
    rows = rows.take(np.lexsort((rows.call, rows.rank)))
    number = np.append(0, np.cumsum(~(alike(rows.rank) & alike(rows.call))))
    return _groups(rows, number - number[np.searchsorted(rows.rank, rows.rank)])


def _groups(rows: RangeRows, number: Ints) -> list[RangeRows]:
    """Return a group for each number, if every rank has something in each."""
    n_groups = int(number.max()) + 1
    n_ranks = np.unique(rows.rank).size
    if not 2 <= n_groups <= MOST_ARRAYS or n_ranks < 2:
        return []
    if np.unique(rows.rank * n_groups + number).size != n_ranks * n_groups:
        return []
    return [rows.take(number == group) for group in range(n_groups)]


def _element(rows: RangeRows, element_bytes: int) -> int:
    """Return the size of an element if everything is a multiple of it, otherwise 1."""
    if element_bytes <= 1:
        return 1
    offset = rows.offset - rows.offset.min()
    parts = (offset, rows.size, *rows.step)
    return element_bytes if all((part % element_bytes == 0).all() for part in parts) else 1


def _steps(pieces: Pieces, whole: RangeRows, apart: RangeRows) -> int:
    """Return the calls of most ranks through a view, or how often offset lists repeat."""
    if pieces.source != "view":
        return max(1, round(whole.total_bytes() / max(apart.total_bytes(), 1)))
    if (np.diff(whole.rank) > 0).all():
        return 1
    _, first = np.unique(mixed(whole.rank, whole.call), return_index=True)
    _, counts = np.unique(whole.rank[first], return_counts=True)
    return most_common(counts)


def _unit_note(rows: RangeRows) -> str:
    """Return a note that sizes are bytes, and of what they are multiples."""
    bits = int(np.bitwise_or.reduce(rows.offset - rows.offset.min()))
    bits |= int(np.bitwise_or.reduce(rows.size)) | int(np.bitwise_or.reduce(rows.step, axis=None))
    power = min(bits & -bits, 16)
    if power < 2:
        return "sizes are in bytes"
    return f"sizes are in bytes, all of them multiples of {power}"
