# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds and separates calls that each move a part of every run of a block: variables, tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import TypeVar

from stripewise.evidence.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    Ints,
    as_product,
    classes,
    distinct,
    merge,
    one_each,
    set_elements,
)
from stripewise.evidence.patterns._pattern import Pattern

_Cut = tuple[int, ...]


def with_interleaving(pattern: Pattern, boxes_of: Callable[[int], Boxes | None]) -> Pattern:
    """Return the pattern with `interleave` of dimensions that calls of one rank share.

    Args:
        pattern: Pattern of the blocks that all calls move together.
        boxes_of: Function that returns what each call of a rank moved, with equal `order` for
            boxes of one call.
    """
    if not pattern.distributions or pattern.steps < 2:
        return pattern
    cuts = _cuts(boxes_of(pattern.first_rank))
    last = pattern.first_rank + sum(
        stride * (n - 1) for stride, n in zip(pattern.rank_strides, pattern.grid, strict=False)
    )
    if not any(cuts) or (last != pattern.first_rank and _cuts(boxes_of(last)) != cuts):
        return pattern
    parts = zip(pattern.distributions, cuts, strict=True)
    return replace(
        pattern,
        distributions=tuple(replace(how, interleave=cut) for how, cut in parts),
        notes=(*pattern.notes, *_notes(pattern, cuts)),
    )


MOST_MEMBERS = 256
"""Maximum number of interleaved calls that become patterns of their own."""


def members_of(pattern: Pattern) -> list[Pattern]:
    """Return one pattern for each of the calls that interleave, or the pattern itself.

    Only every n-th element of its block belongs to each (`Distribution.lattice`).
    """
    found = [pattern]
    for d, how in enumerate(pattern.distributions):
        if not how.interleave:
            continue
        stride, length = how.interleave
        plain = how.kind != "CYCLIC" and not how.lattice and how.ghost == (0, 0)
        n_members = stride // length
        if not plain or pattern.block[d] % stride or len(found) * n_members > MOST_MEMBERS:
            return [pattern]
        found = [_member(one, d, number) for one in found for number in range(n_members)]
    return found


def _member(pattern: Pattern, d: int, number: int) -> Pattern:
    """Return what the calls with this number of an interleaved dimension move."""
    how = pattern.distributions[d]
    stride, length = how.interleave
    lengths = tuple(one // stride for one in how.lengths)
    own = replace(how, interleave=(), lattice=(stride, length), lengths=lengths)
    first, end = pattern.spans[d]
    begin = first + number * length
    span = begin, begin + ((end - first) // stride - 1) * stride + length
    n_members = stride // length
    return replace(
        pattern,
        distributions=_with(pattern.distributions, d, own),
        block=_with(pattern.block, d, pattern.block[d] // n_members),
        span=_with(pattern.spans, d, span),
        steps=max(pattern.steps // n_members, 1),
    )


T = TypeVar("T")


def _with(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _notes(pattern: Pattern, cuts: tuple[_Cut, ...]) -> list[str]:
    found = []
    for d, cut in enumerate(cuts):
        if cut:
            unit = prod(pattern.extents[d + 1 :]) * pattern.element_bytes
            found.append(
                f"dimension {d}: {cut[0] // cut[1]} calls interleave, each moves {cut[1]} of "
                f"every {cut[0]} elements ({cut[1] * unit} of {cut[0] * unit} bytes)"
            )
    return found


def _cuts(boxes: Boxes | None) -> tuple[_Cut, ...]:
    """Return (stride, length) of each dimension in which calls interleave; () if none do."""
    if boxes is None or not boxes.rank.size:
        return ()
    calls = as_product(merge(_by_call(distinct(boxes))))
    if not one_each(calls) or calls.rank.size < 2:
        return ()
    found: list[_Cut] = []
    pieces, members = 1, 1
    for sets in calls.sets:
        table, _ = classes(sets)
        cut = _cut(table)
        if cut is None:
            return ()
        members *= table.shape[1]
        apart = pieces > 1 or bool((sets[BLOCKS] > 1).any())
        found.append(cut if apart else ())
        pieces *= int(set_elements(sets)[0])
    return tuple(found) if members == calls.rank.size else ()


def _by_call(boxes: Boxes) -> Boxes:
    """Return the boxes with the number of their call as rank."""
    found = Boxes(boxes.order, boxes.order, boxes.sets)
    return found.take(found.rank.argsort(kind="stable"))


def _cut(table: Ints) -> _Cut | None:
    """Return (stride, length) of parts that fill a region in turn, () for one part, else None."""
    members, length, stride = table.shape[1], int(table[LENGTH, 0]), int(table[STRIDE, 0])
    if members == 1:
        return ()
    equal = (table[1:] == table[1:, :1]).all() and int(table[LAST, 0]) == length
    in_turn = (table[START, 1:] - table[START, :-1] == length).all()
    if not equal or not in_turn or (stride and stride != members * length):
        return None
    return members * length, length
