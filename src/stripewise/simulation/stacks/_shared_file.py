# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which objects of a shared file processes meet at, in closed form: what locks depend on."""

from __future__ import annotations

import math

from stripewise.simulation._requests import Flow
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._shape import PAGE_BYTES, Shape


def stripes_of(length: float, granule: int, stripe_size: int) -> float:
    """Stripes that a range touches, in the mean over places that are multiples of `granule`."""
    if length <= 0:
        return 0.0
    step = math.gcd(granule, stripe_size)
    return max(1.0, 1 + (length - step) / stripe_size)


def unaligned_share(piece_bytes: float, granule: int) -> float:
    """Share of ranges that begin or end within a page, over places that are multiples."""
    if piece_bytes % PAGE_BYTES:
        return 1.0
    return 1 - math.gcd(granule, PAGE_BYTES) / PAGE_BYTES


def shared_flow(shape: Shape, layout: Layout, *, writing: bool) -> Flow:
    """Return the requests of all ranks, one for each contiguous range, into one shared file.

    All ranks are under way at the same time, each in its own part of the file, so a write finds
    its object's lock with any node that writes the object.
    """
    size, stripe = shape.piece_bytes, layout.stripe_size
    objects = objects_of(shape.span_bytes, layout)

    def met(pieces: float, reach: float) -> float:
        every = pieces * stripes_of(size, shape.granule, stripe)
        return min(every, stripes_of(reach, shape.granule, stripe), float(objects))

    one = met(shape.rank_pieces, shape.reach_bytes)
    per_node = shape.ranks / shape.nodes
    part = min(per_node * shape.reach_bytes, shape.span_bytes)
    writer_nodes = max(1.0, shape.nodes * met(per_node * shape.rank_pieces, part) / objects)
    several = writing and shape.nodes > 1
    return Flow(
        writing=writing,
        processes=shape.ranks,
        nodes=shape.nodes,
        count=shape.rank_pieces,
        size=size,
        objects=objects,
        objects_per_process=one,
        writers=max(1.0, shape.ranks * one / objects),
        writer_nodes=writer_nodes,
        handovers=1 - 1 / writer_nodes if several else 0.0,
        shared_pages=unaligned_share(size, shape.granule) if several else 0.0,
    )


def objects_of(span_bytes: float, layout: Layout) -> int:
    """Objects that so many bytes lie on."""
    return min(layout.stripe_count, max(1, -(-int(span_bytes) // layout.stripe_size)))
