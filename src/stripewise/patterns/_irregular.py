# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of boxes that have no name."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stripewise.model import PatternKind
from stripewise.patterns._boxes import BLOCKS, Boxes, elements, mixed, most_common, set_elements
from stripewise.patterns._generate import members
from stripewise.patterns._grid import Grid
from stripewise.patterns._name import Finding, placed, unnamed, widest

MOST_COUNTED = 1 << 22
MOST_BOXES = 4096
"""Elements and boxes up to which it is counted what is moved by several ranks."""


def describe_boxes(boxes: Boxes) -> Finding:
    """Describe boxes: how many, where, how much of it."""
    if not boxes.rank.size:
        return unnamed(PatternKind.EMPTY)
    span = widest(boxes)
    counts = _pieces_of_ranks(boxes)
    n_ranks = counts.size
    same = n_ranks > 1 and _all_the_same(boxes)
    kind = PatternKind.IRREGULAR
    if same or n_ranks == 1:
        kind = PatternKind.REPLICATED if same else PatternKind.SINGLE
    block = tuple(most_common(set_elements(sets)) for sets in boxes.sets)
    notes = [_number(counts), _regular(boxes), _where(span), _share(boxes, span)]
    rank = int(boxes.rank[0])
    known = {"block": block, "span": span, **placed(Grid(1, "other", rank))}
    return unnamed(kind, **known, notes=tuple(filter(None, notes)))


def _all_the_same(boxes: Boxes) -> bool:
    """Whether every rank moves the same boxes."""
    key = mixed(*boxes.sets.reshape(-1, boxes.rank.size))
    first = np.flatnonzero(np.concatenate(([True], np.diff(boxes.rank) != 0)))
    sums = np.add.reduceat(key, first)
    counts = np.diff(np.append(first, key.size))
    return bool((sums == sums[0]).all() and (counts == counts[0]).all())


def _pieces_of_ranks(boxes: Boxes) -> NDArray[np.int64]:
    """(n_active,) int64: separate pieces of each rank; a regular set of blocks has several."""
    pieces = np.prod(boxes.sets[:, BLOCKS], axis=0)
    first = np.flatnonzero(np.concatenate(([True], np.diff(boxes.rank) != 0)))
    return np.asarray(np.add.reduceat(pieces, first))


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


def _number(counts: NDArray[np.integer]) -> str:
    low, high = int(counts.min()), int(counts.max())
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{int(counts.sum())} separate pieces, {each} a rank"


def _where(span: tuple[tuple[int, int], ...]) -> str:
    box = ", ".join(f"{first}:{end}" for first, end in span)
    return f"within ({box})"


def _share(boxes: Boxes, span: tuple[tuple[int, int], ...]) -> str:
    """Say how much of the bounding box is moved, and how much of it by several."""
    volume = math.prod(end - first for first, end in span)
    total = float(elements(boxes).sum())
    if max(volume, total) > MOST_COUNTED or boxes.rank.size > MOST_BOXES:
        return f"as many elements as {100 * total / volume:.3g} % of that"
    times = np.zeros([end - first for first, end in span], np.int32)
    for column in range(boxes.rank.size):
        times[_index(boxes, column, span)] += 1
    covered, shared = int((times > 0).sum()), int((times > 1).sum())
    again = f", {100 * shared / volume:.3g} % more than once" if shared else ""
    return f"{100 * covered / volume:.3g} % of that is moved{again}"


def _index(
    boxes: Boxes, column: int, span: tuple[tuple[int, int], ...]
) -> tuple[NDArray[np.int64], ...]:
    """Return what one box selects in its bounding box, for indexing an array."""
    per_dimension = [
        members(sets[:, column]) - first for sets, (first, _) in zip(boxes.sets, span, strict=True)
    ]
    return np.ix_(*per_dimension)
