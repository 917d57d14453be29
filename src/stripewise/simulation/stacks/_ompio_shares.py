# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""OMPIO's collective writes where the place in the file decides who writes, in closed form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation.stacks._at_once import at_once, looked_at, spread
from stripewise.simulation.stacks._ompio_job import Calls, Job, flow_of
from stripewise.simulation.stacks._ompio_settings import GEN2_STRIPE, stripe_aggregators
from stripewise.simulation.stacks._shape import Shape
from stripewise.simulation.stacks._shared_file import objects_of
from stripewise.simulation.stacks._two_phase import HOLES

Floats = NDArray[np.float64]

_MOST_STRIPES = 4096
"""Of more stripes than these all are taken to be whole."""


def evenly(job: Job, count: int) -> list[Phase]:
    """Return vulcan's write: even shares of the range, counted from byte 0.

    Shares that are cut by the begin and the end of the range belong to one aggregator where
    there is one more of them than of aggregators.
    """
    shape, cycle = job.shape, max(1, job.ompio.bytes_per_agg // 2)
    low = job.one.base
    end = low + shape.span_bytes
    share = -(-(shape.span_bytes if shape.ranks == job.work.ranks else end) // count)
    parts = _shares(low, end, share, count)
    fill = shape.total_bytes / shape.span_bytes
    rounds = max(1, *(math.ceil(sum(sizes) * fill / cycle) for sizes in parts))
    chosen = looked_at(count)
    node = chosen * job.work.ranks // count // job.work.ranks_per_node
    meet = at_once(low + chosen * share, min(cycle / fill, share), node, count, job.layout)
    written: list[Flow] = []
    read: list[Flow] = []
    for sizes, n in parts.items():
        calls, reads = _share_calls(job, sizes, fill, cycle, rounds)
        flow = flow_of(job, n, calls, meet)
        written.append(flow)
        # Of one aggregator, the file ends where its cycle before did.
        read += [replace(flow, writing=False, absent=float(count == 1))] if reads else []
    moved, nodes = max(map(sum, parts)) * fill / rounds, min(shape.nodes, count)
    before = [Phase(HOLES, float(rounds), tuple(read), nodes=nodes)] if read else []
    phase = Phase(
        "two-phase write", float(rounds), tuple(written), moved, shape.ranks, nodes=nodes
    )
    return [*before, phase]


def _shares(low: int, end: int, share: int, count: int) -> Counter[tuple[int, int]]:
    """Return how many aggregators have parts of these sizes; the second is mostly 0."""
    if count == 1:
        return Counter({(end - low, 0): 1})
    chunks = (end - 1) // share - low // share + 1
    first = min(end, (low // share + 1) * share) - low
    last = end - (end - 1) // share * share if chunks > 1 else 0
    edges = [(first, last)] if chunks > count else [(first, 0), (last, 0)]
    found = Counter(sizes for sizes in edges if sum(sizes))
    if chunks > 2:
        found[share, 0] += chunks - 2
    return found


def _share_calls(
    job: Job, sizes: tuple[int, int], fill: float, cycle: int, rounds: int
) -> tuple[Calls, bool]:
    """Return an aggregator's calls for its parts of the file, and if each is read before."""
    shape, ompio = job.shape, job.ompio
    data = sum(sizes) * fill
    pieces = max(1.0, shape.joint_pieces * sum(sizes) / shape.span_bytes)
    own = max(1, math.ceil(data / cycle))
    gap = shape.span_bytes / shape.joint_pieces
    block = shape.total_bytes / shape.joint_pieces
    if shape.joint_pieces > 1:
        good = 1 <= gap <= ompio.max_gap and block <= ompio.max_block and pieces / own > 1
        if ompio.waits(rounds) and ompio.write_sieving and good:
            size = sum(sizes) / own
            return Calls(own, size, rounds), True
        count = pieces + own - 1
        return Calls(count, data / count, rounds), False
    bounds = sum(1 for size in sizes[:-1] if sizes[-1] and size % cycle)
    count = own + bounds
    return Calls(count, data / count, rounds), False


def by_stripes(job: Job) -> Phase:
    """Return dynamic_gen2's write: stripes in turn, each stripe of a cycle is a call."""
    shape, ranks = job.shape, job.work.ranks
    stripe = job.stripes.size or GEN2_STRIPE
    count = stripe_aggregators(job.ompio, job.stripes, ranks)
    cycle = max(1, job.ompio.bytes_per_agg // 2)
    low = job.one.base
    stripes = (low + shape.span_bytes - 1) // stripe - low // stripe + 1
    active = min(count, stripes)
    cycles = np.ceil(_shares_of_stripes(low, shape, stripe, stripes, active) / cycle)
    rounds = int(cycles.max())
    cuts = float(cycles.mean() - 1) * active if cycle % stripe or low % stripe else 0.0
    calls = max(float(stripes) + cuts, float(active))
    size = shape.total_bytes / calls
    each = Calls(calls / active, size, rounds)
    chosen = looked_at(active)
    node = chosen * ranks // active // job.work.ranks_per_node
    meet = at_once(low // stripe * stripe + chosen * stripe, size, node, active, job.layout)
    if job.layout.stripe_size == stripe:
        # An object gets stripes of these aggregators, one after another.
        others = active // math.gcd(active, job.layout.stripe_count)
        meet = replace(meet, writers=float(others), nodes=min(float(others), float(shape.nodes)))
    in_round = each.count / rounds
    whole = objects_of(shape.span_bytes, job.layout)
    reach = in_round * count * stripe
    objects = spread(meet, in_round, size, reach, whole, job.layout.stripe_size)
    flow = flow_of(job, active, each, replace(meet, objects=objects))
    moved = shape.total_bytes / active / rounds
    return Phase("two-phase write", float(rounds), (flow,), moved, shape.ranks)


def _shares_of_stripes(low: int, shape: Shape, stripe: int, stripes: int, count: int) -> Floats:
    """Return the bytes of aggregators that have stripes in turn; (count,), or of many (1,)."""
    fill = shape.total_bytes / shape.span_bytes
    if stripes > _MOST_STRIPES:
        return np.array([-(-stripes // count) * stripe * fill])
    index = np.arange(stripes)
    begin = np.maximum((low // stripe + index) * stripe, low)
    end = np.minimum((low // stripe + index + 1) * stripe, low + shape.span_bytes)
    return np.bincount(index % count, (end - begin) * fill, count).astype(np.float64)
