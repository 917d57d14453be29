# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes in closed form what ranks move of a dataset, and their requests to a shared file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import BlockRule, Distribution, Pattern, PatternKind
from stripewise.storage.stacks._base import (
    PAGE,
    AtOnce,
    Layout,
    at_once,
    begins_of,
    handovers,
    spread,
)
from stripewise.storage.stacks._pieces import Placed
from stripewise.storage.stacks._workload import Flow, Workload


def stripes_of(length: float, granule: int, stripe_size: int) -> float:
    """Return the mean number of stripes that a range touches, at multiples of `granule`."""
    if length <= 0:
        return 0.0
    step = math.gcd(granule, stripe_size)
    return max(1.0, 1 + (length - step) / stripe_size)


def unaligned_share(piece_bytes: float, granule: int) -> float:
    """Return the share of ranges that begin or end within a page, at multiples of `granule`."""
    if piece_bytes % PAGE:
        return 1.0
    return 1 - math.gcd(granule, PAGE) / PAGE


def shared_flow(
    one: Placed, shape: Shape, work: Workload, layout: Layout, count: float, size: float
) -> Flow:
    """Return the requests of all ranks, each in its own part of one shared file.

    Args:
        one: Dataset and its place.
        shape: Shape of its step.
        work: Workload, for ranks and nodes.
        layout: Layout of the file.
        count: Number of requests of a rank.
        size: Bytes of each request.
    """
    begins, ranks = begins_of(one.pattern, one.base)
    meet = at_once(begins, size, ranks // work.ranks_per_node, shape.ranks, layout)
    whole = objects_of(shape.span_bytes, layout)
    objects = spread(meet, count, size, shape.reach_bytes, whole, layout.stripe_size)
    return met_flow(
        replace(meet, objects=objects), shape.ranks, shape.nodes, count, size, shape.granule,
        layout, writing=one.pattern.writing,
    )  # fmt: skip


def met_flow(
    meet: AtOnce, processes: int, nodes: int, count: float, size: float, granule: int,
    layout: Layout, *, writing: bool,
) -> Flow:  # fmt: skip
    """Return the flow of processes whose requests are distributed as in `meet` at each moment."""
    objects = max(1, round(meet.objects))
    parts = min(float(objects), stripes_of(size, granule, layout.stripe_size))
    several = writing and meet.nodes > 1
    return Flow(
        writing=writing,
        processes=processes,
        nodes=min(nodes, processes),
        count=count,
        size=size,
        objects=objects,
        objects_per_process=parts,
        writers=max(1.0, meet.writers),
        writer_nodes=max(1.0, meet.nodes),
        handovers=handovers(meet.writers, meet.nodes) if several else 0.0,
        shared_pages=unaligned_share(size, granule) if several else 0.0,
        parts=parts,
    )


def objects_of(span_bytes: float, layout: Layout) -> int:
    """Return the number of objects that a number of bytes is on."""
    return min(layout.stripe_count, max(1, -(-int(span_bytes) // layout.stripe_size)))


# Union of what all ranks move of a dataset, in closed form, without a list of ranks.


@dataclass(frozen=True)
class Shape:
    """Sizes and numbers of one step of a pattern.

    Attributes:
        ranks: Number of ranks that move something.
        nodes: Number of nodes of these ranks.
        total_bytes: Bytes of all ranks.
        pieces: Number of contiguous ranges of all ranks, summed.
        granule: Divisor of offsets and ends of the ranges, in bytes.
        span_bytes: Bytes from the first to the last of all ranks.
        reach_bytes: Bytes from the first to the last of one rank (of most).
        joint_pieces: Number of contiguous ranges of the union of all ranks; 1 without holes.
        blocks: Number of blocks (boxes of elements) of all ranks together.
    """

    ranks: int
    nodes: int
    total_bytes: int
    pieces: int
    granule: int
    span_bytes: int
    reach_bytes: float
    joint_pieces: int = 1
    blocks: int = 0

    @property
    def rank_pieces(self) -> float:
        """Mean number of ranges of a rank."""
        return self.pieces / self.ranks if self.ranks else 0.0

    @property
    def piece_bytes(self) -> float:
        """Mean bytes of a range."""
        return self.total_bytes / self.pieces if self.pieces else 0.0

    @property
    def rank_bytes(self) -> float:
        """Mean bytes of a rank."""
        return self.total_bytes / self.ranks if self.ranks else 0.0


@dataclass(frozen=True)
class _Cut:
    """A dimension: all elements and blocks, nonempty parts, elements of one part.

    `slots` are the blocks of a lattice, of any part.
    """

    elements: int
    blocks: int
    parts: int
    length: float
    unit: int
    wraps: bool = False
    slots: int = 1

    @property
    def joint(self) -> _Cut:
        """Union of all parts: one block, or those of a lattice."""
        return replace(self, blocks=self.slots, parts=1, wraps=False)


def shape_of(pattern: Pattern, work: Workload) -> Shape:
    """Return the shape of one step of a pattern.

    Raises:
        UsageError: The pattern is irregular.
    """
    if not pattern.distributions and pattern.kind != PatternKind.EMPTY:
        raise UsageError(
            f"a pattern that is {pattern.kind} has no closed form: leave it out of the workload"
        )
    dimensions = zip(pattern.distributions, pattern.spans, pattern.grid, strict=True)
    cuts = [_cut(how, *span, n_parts) for how, span, n_parts in dimensions]
    extents = list(pattern.sizes)
    if not cuts or not all(cut.elements for cut in cuts):
        return Shape(0, 0, 0, 0, 1, 0, 0.0)
    places = math.prod(pattern.grid)
    multipartition = pattern.kind == PatternKind.MULTIPARTITION
    copies = 1 if multipartition else max(pattern.active_ranks // places, 1)
    ranks = pattern.active_ranks if multipartition else math.prod(c.parts for c in cuts) * copies
    blocks = math.prod(cut.blocks for cut in cuts) * copies
    unit = pattern.element_bytes
    while len(cuts) > 1 and cuts[-1].parts == 1 and cuts[-1].elements == extents[-1]:
        unit *= extents.pop()
        cuts.pop()
    return Shape(
        ranks=ranks,
        nodes=min(work.nodes, -(-ranks // work.ranks_per_node)),
        total_bytes=math.prod(c.elements for c in cuts) * unit * copies,
        pieces=_runs(cuts, extents) * copies,
        granule=math.gcd(_granule(cuts, extents, unit), pattern.file_offset),
        span_bytes=_span(pattern),
        reach_bytes=_reach(cuts, extents, unit),
        joint_pieces=_runs([cut.joint for cut in cuts], extents),
        blocks=blocks,
    )


def _runs(cuts: list[_Cut], extents: list[int]) -> int:
    """Return the contiguous ranges; the last block of a row and the next first one may touch."""
    rows, runs = 1, 0
    for i, cut in enumerate(cuts):
        if i == 0:
            rows, runs = cut.elements, cut.blocks
            continue
        touching = rows - runs if cut.wraps or _whole(cut, extents[i]) else 0
        rows, runs = rows * cut.elements, rows * cut.blocks - touching
    return runs


def _whole(cut: _Cut, extent: int) -> bool:
    return cut.parts == 1 and cut.elements == extent and cut.blocks == 1


def _granule(cuts: list[_Cut], extents: list[int], unit: int) -> int:
    """Return the greatest divisor of all offsets and ends, from each cut's unit and inner size."""
    inside, granule = unit, 0
    for cut, extent in zip(reversed(cuts), reversed(extents), strict=True):
        granule = math.gcd(granule, cut.unit * inside)
        inside *= extent
    return granule


def _reach(cuts: list[_Cut], extents: list[int], unit: int) -> float:
    inside, reach = unit, float(unit)
    for cut, extent in zip(reversed(cuts), reversed(extents), strict=True):
        reach += (cut.length - 1) * inside
        inside *= extent
    return reach


def _span(pattern: Pattern) -> int:
    inside, first, last = pattern.element_bytes, 0, 0
    for (low, high), size in zip(reversed(pattern.spans), reversed(pattern.sizes), strict=True):
        first, last = first + low * inside, last + (high - 1) * inside
        inside *= size
    return last + pattern.element_bytes - first


def _cut(how: Distribution, first: int, end: int, n_parts: int) -> _Cut:
    """Return the cut of elements `first` to `end` by a distribution."""
    n = end - first
    if n <= 0:
        return _Cut(0, 0, 0, 0.0, 1)
    if how.kind == "CYCLIC":
        width = how.width or 1
        blocks = -(-n // width)
        if n_parts == 1 or blocks == 1:
            return _Cut(n, 1, 1, n, math.gcd(n, first))
        wraps = first == 0 and (blocks - 1) % n_parts == 0
        reach = (max(blocks // n_parts, 1) - 1) * width * n_parts + width
        parts = min(n_parts, blocks)
        return _Cut(n, blocks, parts, min(reach, n), math.gcd(width, n, first), wraps)
    stride, length = how.lattice or (1, 1)
    slots = -(-n // stride)
    parts, unit = _parts(how, slots, n_parts)
    if how.lattice:
        every = math.gcd(stride, length, first) if length < stride else 1
        return _Cut(slots * length, slots, parts, slots / parts * stride, every, slots=slots)
    own = max(slots // parts, 1)
    overlap = (parts - 1) * sum(min(width, own) for width in how.ghost)
    divides = 1 if overlap else math.gcd(unit, n, first)
    return _Cut(n + overlap, parts, parts, (n + overlap) / parts, divides)


def _parts(how: Distribution, n: int, n_parts: int) -> tuple[int, int]:
    """Return the number of nonempty parts, and a divisor of the places where they begin."""
    low = n // n_parts
    if how.rule == BlockRule.GENERAL:
        if len(how.lengths) != n_parts:
            raise UsageError("there are too many blocks of any lengths: they were not kept")
        return sum(1 for length in how.lengths if length), math.gcd(*how.lengths)
    if how.rule == BlockRule.FIXED:
        return min(n_parts, -(-n // how.lengths[0])), how.lengths[0]
    if n % n_parts == 0:
        return n_parts, low
    if how.rule in ("", BlockRule.CEIL):
        return -(-n // (low + 1)), low + 1
    if how.rule == BlockRule.REST_LAST:
        return (n_parts, low) if low else (1, n)
    return min(n, n_parts), 1
