# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of boxes that have no name."""

from __future__ import annotations

import math

import numpy as np

from stripewise._folded import expanded_index
from stripewise.model import PatternKind
from stripewise.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    set_elements,
    span_of,
)
from stripewise.patterns._columns import Ints, alike, mixed, most_common, runs
from stripewise.patterns._name import Finding, unnamed

MOST_COUNTED = 1 << 22
MOST_BOXES = 4096
"""Elements and boxes up to which it is counted what is moved by several ranks."""


def describe_boxes(boxes: Boxes) -> Finding:
    """Describe boxes: how many, where, how much of it."""
    span = tuple(map(span_of, boxes.sets))
    first, number = runs(alike(boxes.rank))
    # Separate pieces of each rank: a regular set of blocks has several.
    pieces = np.add.reduceat(np.prod(boxes.sets[:, BLOCKS], axis=0), first)
    moved = np.add.reduceat(mixed(*boxes.sets.reshape(-1, boxes.rank.size)), first)
    kind = PatternKind.IRREGULAR
    if first.size == 1:
        kind = PatternKind.SINGLE
    elif (moved == moved[0]).all() and (number == number[0]).all():
        kind = PatternKind.REPLICATED
    where = ", ".join(f"{first}:{end}" for first, end in span)
    notes = (_number(pieces), _regular(boxes), f"within ({where})", _share(boxes, span))
    return unnamed(
        kind,
        block=tuple(most_common(set_elements(sets)) for sets in boxes.sets),
        span=span,
        rank_order="other",
        first_rank=int(boxes.rank[0]),
        notes=tuple(filter(None, notes)),
    )


def _regular(boxes: Boxes) -> str:
    """Say how the pieces of a rank lie, where it is the same regular set for every rank."""
    shape = boxes.sets[:, 1:]
    if (np.diff(boxes.rank) == 0).any() or (shape != shape[:, :, :1]).any():
        return ""
    cuts = [
        f"{length} of every {stride} elements of dimension {d}"
        for d, (stride, blocks, length, _) in enumerate(shape[:, :, 0].tolist())
        if blocks > 1
    ]
    return f"of each rank {' and '.join(cuts)}" if cuts else ""


def _number(counts: Ints) -> str:
    low, high = int(counts.min()), int(counts.max())
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{int(counts.sum())} separate pieces, {each} a rank"


def _share(boxes: Boxes, span: tuple[tuple[int, int], ...]) -> str:
    """Say how much of the bounding box is moved, and how much of it by several."""
    volume = math.prod(end - first for first, end in span)
    sizes = [set_elements(sets) for sets in boxes.sets]
    total = float(np.prod(sizes, axis=0, dtype=float).sum())
    if max(volume, total) > MOST_COUNTED or boxes.rank.size > MOST_BOXES:
        return f"as many elements as {100 * total / volume:.3g} % of that"
    times = np.zeros([end - first for first, end in span], np.int32)
    for column in range(boxes.rank.size):
        chosen = [
            members(sets[:, column]) - first
            for sets, (first, _) in zip(boxes.sets, span, strict=True)
        ]
        times[np.ix_(*chosen)] += 1
    covered, shared = int((times > 0).sum()), int((times > 1).sum())
    again = f", {100 * shared / volume:.3g} % more than once" if shared else ""
    return f"{100 * covered / volume:.3g} % of that is moved{again}"


def members(column: Ints) -> Ints:
    """Return the indices in one set (5,)."""
    starts = column[START] + np.arange(column[BLOCKS]) * column[STRIDE]
    lengths = np.full(starts.size, column[LENGTH])
    lengths[-1:] = column[LAST]
    block, within = expanded_index(lengths)
    found: Ints = starts[block] + within
    return found
