# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests of many processes into one file, in closed form: objects, and whose locks they find."""

from __future__ import annotations

import math
from dataclasses import replace

from stripewise.simulation._requests import Flow
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._at_once import AtOnce, at_once, begins_of, spread
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._contention import PAGE, handovers
from stripewise.simulation.stacks._placed import Placed
from stripewise.simulation.stacks._shape import Shape


def stripes_of(length: float, granule: int, stripe_size: int) -> float:
    """Stripes that a range touches, in the mean over places that are multiples of `granule`."""
    if length <= 0:
        return 0.0
    step = math.gcd(granule, stripe_size)
    return max(1.0, 1 + (length - step) / stripe_size)


def unaligned_share(piece_bytes: float, granule: int) -> float:
    """Share of ranges that begin or end within a page, over places that are multiples."""
    if piece_bytes % PAGE:
        return 1.0
    return 1 - math.gcd(granule, PAGE) / PAGE


def shared_flow(
    one: Placed, shape: Shape, work: Workload, layout: Layout, count: float, size: float
) -> Flow:
    """Return the requests of all ranks, each in its own part of one shared file.

    Args:
        one: What is moved, and where.
        shape: Of it.
        work: Ranks and nodes.
        layout: Of the file.
        count: Requests of a rank.
        size: Bytes of each.
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
    """Return the flow of processes whose requests lie as `meet` says at each moment."""
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
    """Objects that so many bytes lie on."""
    return min(layout.stripe_count, max(1, -(-int(span_bytes) // layout.stripe_size)))
