# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names patterns in order of preference, even if ranks deviate or nothing is regular."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stripewise.evidence.patterns._boxes import (
    BLOCKS,
    LAST,
    LENGTH,
    START,
    STRIDE,
    Boxes,
    Flags,
    Ints,
    alike,
    as_product,
    classes,
    distinct,
    merge,
    mixed,
    most_common,
    one_each,
    runs,
    set_elements,
    set_ends,
    span_of,
)
from stripewise.evidence.patterns._generate import sets_of
from stripewise.evidence.patterns._grid import (
    Finding,
    Grid,
    Named,
    c_strides,
    linear,
    name_boxes,
    name_dimension,
    name_dimensions,
    order_of,
    put_together,
    unnamed,
)
from stripewise.evidence.patterns._pattern import BlockRule, Distribution, Pattern, PatternKind
from stripewise.evidence.trace import Pieces, Selections, expanded_index


def ranks_of_run(n_ranks: int, rank: Ints) -> int:
    """Return the number of ranks; without MPI it is one."""
    return max(n_ranks, int(rank.max()) + 1 if rank.size else 0, 1)


def find_finding(boxes: Boxes, n_ranks: int, extents: Sequence[int]) -> Finding:
    """Name the pattern of boxes, or describe them."""
    if not boxes.rank.size:
        return unnamed(PatternKind.EMPTY)
    apart, merged = distinct_and_merged(boxes)
    return (
        name_strictly(apart, merged)
        or in_steps(apart)
        or name_most(merged, n_ranks, extents)
        or describe_boxes(merged)
    )


def distinct_and_merged(boxes: Boxes) -> tuple[Boxes, Boxes]:
    """Return the boxes without repetitions, and these joined where several form one."""
    apart = distinct(boxes)
    return apart, as_product(merge(apart))


def name_strictly(apart: Boxes, merged: Boxes) -> Finding | None:
    """Name a pattern that all ranks have; see `distinct_and_merged`."""
    found = name_boxes(merged) or multipartition(apart)
    if found is None and merged is not apart:
        found = multipartition(merged)
    return found


def pattern_of(
    access: Selections | Pieces, finding: Finding, boxes: Boxes, n_ranks: int
) -> Pattern:
    """Return the pattern of a finding, except for what depends on the kind of access.

    Args:
        access: Data that all ranks moved.
        finding: Finding on its boxes.
        boxes: Boxes before any were joined.
        n_ranks: Number of ranks of the run.
    """
    called = boxes.take(_begins_call(boxes))
    counts = runs(alike(called.rank))[1] if called.rank.size else called.rank
    return replace(
        finding, file=access.file, writing=access.writing, source=access.source, n_ranks=n_ranks,
        collective=float(_collective(access).mean()) if access.collective.size else 0.0,
        notes=(*finding.notes, *access.notes), active_ranks=counts.size,
        steps=int(np.bincount(counts).argmax()) if counts.size else 0,
    )  # fmt: skip


def with_unlisted(pattern: Pattern, access: Selections) -> Pattern:
    """Return the pattern with the ranks and calls of selections that are not listed."""
    calls = access.unlisted["calls"]
    if not calls.sum():
        return pattern
    listed = _collective(access)
    together = listed.sum() + calls[access.unlisted["collective"]].sum()
    ranks = np.unique(np.append(access.rank, access.unlisted["rank"]))
    each = np.bincount(access.unlisted["rank"], calls).astype(np.int64)
    return replace(
        pattern,
        active_ranks=ranks.size,
        first_rank=int(ranks[0]),
        collective=float(together / (listed.size + calls.sum())),
        steps=max(pattern.steps, most_common(each[each > 0])),
    )


def _collective(access: Selections | Pieces) -> Flags:
    """Return (n_calls,) whether each call is collective."""
    _, first = np.unique(mixed(access.rank, access.order), return_index=True)
    return np.asarray(access.collective[first])


def _begins_call(boxes: Boxes) -> Flags:
    """Return (n,) whether a box is the first of its call."""
    if not boxes.rank.size:
        return np.zeros(0, np.bool_)
    return np.append(True, ~(alike(boxes.rank) & alike(boxes.order)))


def number_of_calls(boxes: Boxes) -> int:
    """Return the number of calls that moved the boxes."""
    return int(_begins_call(boxes).sum())


# Patterns in which each rank has several boxes: cells on diagonals, steps elsewhere.


def each_has(boxes: Boxes) -> int:
    """Return the number of boxes of each rank; 0 if it differs or there are none."""
    if one_each(boxes):
        return min(1, boxes.rank.size)
    _, counts = runs(alike(boxes.rank))
    return int(counts[0]) if (counts == counts[0]).all() else 0


def multipartition(boxes: Boxes) -> Finding | None:
    """Name cells that fill an array, with equal numbers of each rank in each slab.

    Source: Darte, Chavarria-Miranda, Fowler, Mellor-Crummey, "Generalized multipartitioning for
    multi-dimensional arrays" (IPDPS 2002): the property that they call balance.
    """
    n_cells = each_has(boxes)
    if n_cells < 2 or (boxes.sets[:, BLOCKS] != 1).any():
        return None
    dimensions = name_dimensions(boxes)
    if dimensions is None:
        return None
    found, slabs = dimensions
    if any(named.halo or named.distribution.kind == "CYCLIC" for named in found):
        return None
    if not _filled(boxes, found, slabs) or not _balanced(boxes.rank, n_cells, found, slabs):
        return None
    n_ranks = boxes.rank.size // n_cells
    finding = put_together(found, Grid(1, "other", int(boxes.rank[0])), n_ranks)
    note = f"each of {n_ranks} ranks has {n_cells} cells, equally many in each slab"
    return replace(finding, kind=PatternKind.MULTIPARTITION, notes=(note, *finding.notes))


def _filled(boxes: Boxes, found: list[Named], slabs: list[Ints]) -> bool:
    parts = [named.parts for named in found]
    if math.prod(parts) != boxes.rank.size:
        return False
    place = linear(slabs, c_strides(parts))
    return bool((np.bincount(place, minlength=boxes.rank.size) == 1).all())


def _balanced(rank: Ints, n_cells: int, found: list[Named], slabs: list[Ints]) -> bool:
    """Return whether each rank has equally many cells in each slab of at least two dimensions."""
    cut = 0
    for named, slab in zip(found, slabs, strict=True):
        if named.parts == 1:
            continue
        cut += 1
        if n_cells % named.parts:
            return False
        _, counts = np.unique(rank * named.parts + slab, return_counts=True)
        if (counts != n_cells // named.parts).any():
            return False
    return cut >= 2


def in_steps(boxes: Boxes) -> Finding | None:
    """Name what all ranks do in the same way in each step, at different places."""
    n_steps = each_has(boxes)
    if n_steps < 2 or not _begins_call(boxes).all():
        return None
    sets = boxes.sets.reshape(boxes.n_dims, 5, -1, n_steps)
    moved = sets - sets[..., :1]
    alike = (moved == moved[:, :, :1]).all() and not np.delete(moved, START, axis=1).any()
    if not alike:
        return None
    finding = name_boxes(boxes.take(np.arange(0, boxes.rank.size, n_steps)))
    if finding is None or finding.kind == PatternKind.SINGLE:
        return None
    note = f"the same in {n_steps} steps, each at another place; the span is that of the first"
    return replace(finding, notes=(*finding.notes, note))


# A pattern that all ranks except a few have: its name, and the deviating ranks.

FEWEST_RANKS = 8
MOST_NAMED = 16

_OUTSIDE = -1
_Guess = tuple[Named, Ints]


def most_ranks(n_ranks: int) -> int:
    """Return how many of this number of ranks may deviate: one, or 1 %."""
    return max(1, n_ranks // 100) if n_ranks >= FEWEST_RANKS else 0


def name_most(boxes: Boxes, n_ranks: int, extents: Sequence[int]) -> Finding | None:
    """Name the pattern of all ranks except at most 1 % (or one, of at least 8 ranks).

    Args:
        boxes: Boxes of all ranks, ordered by rank.
        n_ranks: Number of ranks of the run.
        extents: Extents of the dataset; 0 if unknown.
    """
    first, counts = runs(alike(boxes.rank))
    ranks = boxes.rank[first]
    most = most_ranks(ranks.size)
    plain = counts == 1
    if not most or (~plain).sum() > most:
        return None
    single = boxes if plain.all() else boxes.take(first[plain])
    guesses: list[_Guess] = []
    for sets, extent in zip(single.sets, extents, strict=True):
        guess = _guess(sets, n_ranks, extent, most)
        if guess is None:
            return None
        guesses.append(guess)
    return _judge(single, ranks, guesses, most)


def _guess(sets: Ints, n_ranks: int, extent: int, most: int) -> _Guess | None:
    """Name a dimension by the sets of nearly all ranks, with each rank's part, or -1."""
    table, part = classes(sets)
    frequency = np.bincount(part)
    usual = frequency * 2 > np.median(frequency)
    if frequency[~usual].sum() <= most:
        named = name_dimension(table[:, usual])
        if named is not None:
            position = np.where(usual, np.cumsum(usual) - 1, _OUTSIDE)
            return named, position[part]
    if np.median(frequency) > 2:
        return None
    for distribution, span, n_parts in _tries(sets, n_ranks, extent):
        if n_parts > sets.shape[1] + 2 * most:
            continue  # more than may be missing
        table = sets_of(distribution, span, n_parts)
        part = np.clip(np.searchsorted(table[START], sets[START], "right") - 1, 0, n_parts - 1)
        fits = (table.take(part, axis=1) == sets).all(axis=0)
        if (~fits).sum() <= most:
            return Named.of(distribution, table), np.where(fits, part, _OUTSIDE)
    return None


def _tries(
    sets: Ints, n_ranks: int, extent: int
) -> Iterator[tuple[Distribution, tuple[int, int], int]]:
    """Guess distribution, span and parts if each rank has a part of its own."""
    known = extent or int(set_ends(sets).max())
    if (sets[BLOCKS] == 1).mean() > 0.5:
        yield from _equal(sets)
        for rule in (BlockRule.EVEN, BlockRule.EVEN_LAST, BlockRule.SPREAD, BlockRule.REST_LAST):
            for n_parts in dict.fromkeys((n_ranks, sets.shape[1])):
                low = known // n_parts
                near = (sets[LENGTH] >= low) & (sets[LENGTH] <= low + 1)
                if low and near.mean() > 0.5:
                    yield Distribution("BLOCK", rule=rule), (0, known), n_parts
    else:
        width, stride = most_common(sets[LENGTH]), most_common(sets[STRIDE])
        if stride and stride % width == 0:
            for end in dict.fromkeys((known, int(set_ends(sets).max()))):
                yield Distribution("CYCLIC", width), (0, end), stride // width


def _equal(sets: Ints) -> Iterator[tuple[Distribution, tuple[int, int], int]]:
    """Guess equal adjacent blocks; the last one may be shorter."""
    length = most_common(sets[LENGTH])
    shift = most_common(sets[START] % length)
    cell = (sets[START] - shift) // length
    fits = (sets[BLOCKS] == 1) & ((sets[START] - shift) % length == 0)
    full = fits & (sets[LENGTH] == length)
    if not full.any():
        return
    first, end = int(cell[full].min()), int(cell[full].max()) + 1
    short = fits & (sets[LENGTH] < length) & (cell == end)
    n_elements, n_parts = (end - first) * length, end - first
    distribution = Distribution("BLOCK")
    if short.any():
        n_elements, n_parts = n_elements + int(sets[LENGTH, short].max()), n_parts + 1
        distribution = Distribution("BLOCK", rule=BlockRule.FIXED, lengths=(length,))
        if -(-n_elements // n_parts) == length:
            distribution = Distribution("BLOCK", rule=BlockRule.CEIL)
    begin = first * length + shift
    yield distribution, (begin, begin + n_elements), n_parts


def _judge(boxes: Boxes, ranks: Ints, guesses: Sequence[_Guess], most: int) -> Finding | None:
    """Combine the dimensions and find the deviating ranks."""
    found = [named for named, _ in guesses]
    parts = [named.parts for named in found]
    coordinates = [part for _, part in guesses]
    inside = np.logical_and.reduce([part != _OUTSIDE for part in coordinates])
    n_places = math.prod(parts)
    if n_places < 2 or abs(n_places - ranks.size) > most or not inside.any():
        return None
    lie, expected = _lie(boxes.rank[inside], [part[inside] for part in coordinates], parts, most)
    if lie is None or not expected.any():
        return None
    deviating = np.setdiff1d(ranks, boxes.rank[inside][expected], assume_unique=True)
    if lie.strides:  # those that have a place in the grid and move nothing
        in_grid = lie.first_rank + np.arange(n_places)
        deviating = np.union1d(deviating, np.setdiff1d(in_grid, ranks, assume_unique=True))
    if not 0 < deviating.size <= most + max(n_places - ranks.size, 0):
        return None
    finding = put_together(found, lie, ranks.size)
    named = tuple(deviating[:MOST_NAMED].tolist())
    return replace(finding, deviating_ranks=named, n_deviating=int(deviating.size))


def _lie(
    rank: Ints, coordinates: Sequence[Ints], parts: Sequence[int], most: int
) -> tuple[Grid | None, Flags]:
    """Return the arrangement of most ranks in the grid, and which ranks follow it."""
    for strides in (c_strides(parts), c_strides(parts[::-1])[::-1]):
        shift = rank - linear(coordinates, strides)
        first = most_common(shift)
        as_expected = shift == first
        if (~as_expected).sum() <= most:
            return Grid(1, order_of(strides, parts), first, strides), as_expected
    place = linear(coordinates, c_strides(parts))
    alone = np.bincount(place, minlength=math.prod(parts))[place] == 1
    if (~alone).sum() > 2 * most:
        return None, alone
    return Grid(1, "other", int(rank[0])), alone


# Descriptions of boxes without a named pattern.

MOST_COUNTED = 1 << 22
MOST_BOXES = 4096
"""Elements and boxes up to which overlaps between ranks are counted."""


def describe_boxes(boxes: Boxes) -> Finding:
    """Describe boxes: their number, position, and share of the region."""
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
    """Describe the pieces of a rank if they are the same regular set for every rank."""
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
    """Describe how much of the bounding box is moved, and how much of it by several ranks."""
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
