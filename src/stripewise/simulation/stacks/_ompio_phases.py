# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of OMPIO in classes of equal processes, in closed form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from stripewise.model import Pattern
from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._ompio_requests import Stripes
from stripewise.simulation.stacks._ompio_settings import (
    GEN2_STRIPE,
    NO_REFINEMENT,
    Ompio,
    aggregators,
)
from stripewise.simulation.stacks._pieces import array_bytes
from stripewise.simulation.stacks._shape import Shape, coarser, shape_of
from stripewise.simulation.stacks._shared_file import shared_flow, stripes_of, unaligned_share

_MOST_STEPS = 64
"""Steps that are looked at one by one: the aggregators' shares depend on where a step begins."""


@dataclass(frozen=True)
class Job:
    """A pattern and what moves it.

    Attributes:
        pattern / shape: One step of it.
        work / layout: Nodes, stripes.
        fcoll: Algorithm; "individual" for independent calls too.
        ompio / stripes: Parameters, and what the file system tells.
    """

    pattern: Pattern
    shape: Shape
    work: Workload
    layout: Layout
    fcoll: str
    ompio: Ompio
    stripes: Stripes


def phases_of(job: Job) -> tuple[Phase, ...]:
    """Return the phases of all steps of a pattern."""
    writing, ompio = job.pattern.writing, job.ompio
    if not job.shape.total_bytes:
        return ()
    if job.fcoll == "individual":
        return (_individual(job),)
    if writing and job.fcoll == "dynamic_gen2":
        return (_by_stripes(job),)
    count = aggregator_count(job)
    if writing and job.fcoll == "vulcan":
        steps = min(job.pattern.steps, _MOST_STEPS)
        length, scale = array_bytes(job.pattern), job.pattern.steps / steps
        kinds: list[tuple[Phase, int]] = []
        for step in range(steps):
            phase = _evenly(job, count, job.pattern.file_offset + step * length)
            if kinds and kinds[-1][0] == phase:
                kinds[-1] = (phase, kinds[-1][1] + 1)
            else:
                kinds.append((phase, 1))
        return tuple(replace(one, repeats=one.repeats * n * scale) for one, n in kinds)
    size = max(1, job.work.ranks // count)
    groups = shape_of(coarser(job.pattern, size), job.work)
    sieving = not writing and ompio.read_sieving
    calls = _stream(groups, ompio.bytes_per_agg, ompio, sieving=sieving)
    active = min(count, job.shape.ranks)
    each = replace(calls, count=groups.ranks * calls.count / active)
    flow = _aggregated(job, active, each, groups.reach_bytes)
    return (
        Phase(
            f"two-phase {'write' if writing else 'read'}", calls.rounds * job.pattern.steps,
            (flow,), groups.rank_bytes / calls.rounds, job.shape.ranks,
        ),
    )  # fmt: skip


def aggregator_count(job: Job) -> int:
    """Return the number of aggregators that OMPIO takes."""
    shape, ranks = job.shape, job.work.ranks
    if job.ompio.forced == -1 and job.ompio.grouping == NO_REFINEMENT:
        grid = job.pattern.grid
        row = 1 if shape.rank_pieces <= 1 else math.prod(grid[:-1]) if grid else 1
        return max(1, min(row, ranks))
    return aggregators(job.ompio, ranks, int(shape.piece_bytes), int(shape.rank_bytes))


@dataclass(frozen=True)
class _Calls:
    """Of one process: calls and their bytes in a step, and rounds in which they happen."""

    count: float
    size: float
    rounds: float


def _stream(shape: Shape, most: int, ompio: Ompio, *, sieving: bool) -> _Calls:
    """Return what one of a shape's ranks does with its ranges, `most` bytes in each round."""
    pieces, piece = max(1.0, shape.rank_pieces), shape.piece_bytes
    rounds = max(1, math.ceil(shape.rank_bytes / most))
    per_round = pieces / rounds
    reach = max(shape.reach_bytes, shape.rank_bytes)
    gap = (reach - piece) / pieces
    if sieving and per_round > 1 and 1 <= gap <= ompio.max_gap and piece <= ompio.max_block:
        buffers = max(1, math.ceil(reach / rounds / ompio.max_buffer))
        return _Calls(rounds * buffers, reach / rounds / buffers, rounds)
    whole = max(1, int(piece) // math.gcd(int(piece), most))
    count = pieces + (rounds - 1) - (rounds - 1) // whole
    return _Calls(count, shape.rank_bytes / count, rounds)


def _individual(job: Job) -> Phase:
    """Return independent requests: a call for each range, or for what data sieving reads."""
    writing = job.pattern.writing
    calls = _stream(job.shape, job.ompio.cycle_bytes, job.ompio,
                    sieving=not writing and job.ompio.read_sieving)  # fmt: skip
    flow = shared_flow(job.shape, job.layout, writing=writing)
    flow = replace(flow, count=calls.count, size=calls.size)
    way = "write" if writing else "read"
    return Phase(f"independent {way}", float(job.pattern.steps), (flow,))


def _evenly(job: Job, count: int, low: int) -> Phase:
    """Return vulcan's write of the bytes from `low` on: even shares, counted from byte 0.

    Shares that are cut by the begin and the end of the range belong to one aggregator where
    there is one more of them than of aggregators.
    """
    shape, cycle = job.shape, max(1, job.ompio.bytes_per_agg // 2)
    end = low + shape.span_bytes
    share = -(-(shape.span_bytes if shape.ranks == job.work.ranks else end) // count)
    parts = _shares(low, end, share, count)
    fill = shape.total_bytes / shape.span_bytes
    rounds = max(1, *(math.ceil(sum(sizes) * fill / cycle) for sizes in parts))
    flows: list[Flow] = []
    for sizes, n in parts.items():
        for calls in _share_calls(job, sizes, fill, cycle, rounds):
            flow = _aggregated(job, n, calls, min(share, shape.span_bytes), count)
            flows.append(replace(flow, writing=calls.size >= 0, size=abs(calls.size)))
    moved = max(map(sum, parts)) * fill / rounds
    return Phase("two-phase write", float(rounds), tuple(flows), moved, shape.ranks)


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
) -> list[_Calls]:
    """Return an aggregator's calls for its parts of the file; reads have a negative size."""
    shape, ompio = job.shape, job.ompio
    data = sum(sizes) * fill
    pieces = max(1.0, shape.joint_pieces * sum(sizes) / shape.span_bytes)
    own = max(1, math.ceil(data / cycle))
    waits = ompio.asynchronous == 2 or (ompio.asynchronous == 0 and rounds <= 2)
    gap = shape.span_bytes / shape.joint_pieces
    block = shape.total_bytes / shape.joint_pieces
    if shape.joint_pieces > 1:
        good = 1 <= gap <= ompio.max_gap and block <= ompio.max_block and pieces / own > 1
        if waits and ompio.write_sieving and good:
            size = sum(sizes) / own
            return [_Calls(own, size, rounds), _Calls(own, -size, rounds)]
        count = pieces + own - 1
        return [_Calls(count, data / count, rounds)]
    bounds = sum(1 for size in sizes[:-1] if sizes[-1] and size % cycle)
    count = own + bounds
    return [_Calls(count, data / count, rounds)]


def _by_stripes(job: Job) -> Phase:
    """Return dynamic_gen2's write: stripes in turn, each stripe of a cycle is a call."""
    shape, ranks = job.shape, job.work.ranks
    stripe = job.stripes.size or GEN2_STRIPE
    wanted = job.stripes.count if job.stripes.count > 1 else job.ompio.only_mca
    count = min(max(wanted if wanted >= 1 else job.stripes.count, 1), ranks)
    cycle = max(1, job.ompio.bytes_per_agg // 2)
    low = job.pattern.file_offset
    calls = float((low + shape.span_bytes - 1) // stripe - low // stripe + 1)
    active = min(count, int(calls))
    most = min(shape.total_bytes, math.ceil(calls / active) * stripe)
    rounds = max(1, math.ceil(most / cycle))
    if cycle % stripe or low % stripe:
        calls += active * (rounds - 1)
    calls = max(calls, float(active))
    size = shape.total_bytes / calls
    each = _Calls(calls / active, size, rounds)
    flow = _aggregated(job, active, each, shape.span_bytes)
    if job.layout.stripe_size == stripe:
        targets = job.layout.stripe_count
        shared = count // math.gcd(count, targets)
        flow = replace(
            flow,
            objects_per_process=min(each.count / rounds, targets / math.gcd(count, targets)),
            writers=float(shared),
            writer_nodes=float(min(shared, flow.nodes)),
            handovers=1 - 1 / min(shared, flow.nodes),
        )
    moved = shape.total_bytes / active / rounds
    return Phase("two-phase write", float(rounds * job.pattern.steps), (flow,), moved, shape.ranks)


def _aggregated(job: Job, processes: int, calls: _Calls, reach: float, everyone: int = 0) -> Flow:
    """Return the flow of aggregators that each move one part of the file, round by round."""
    shape, layout, writing = job.shape, job.layout, job.pattern.writing
    all_of_them = everyone or processes
    nodes = min(shape.nodes, processes)
    count = calls.count / calls.rounds
    objects = min(layout.stripe_count, max(1, -(-shape.span_bytes // layout.stripe_size)))
    size = abs(calls.size)
    granule = math.gcd(int(size), shape.granule) or 1
    one = min(float(objects), max(count, 1.0) * stripes_of(size, granule, layout.stripe_size))
    over_all = min(float(objects), stripes_of(reach, granule, layout.stripe_size))
    writers = max(1.0, all_of_them * over_all / objects)
    writer_nodes = max(1.0, min(writers, float(min(shape.nodes, all_of_them))))
    several = writing and shape.nodes > 1 and all_of_them > 1
    return Flow(
        writing=writing,
        processes=processes,
        nodes=nodes,
        count=count,
        size=size,
        objects=objects,
        objects_per_process=one,
        writers=writers,
        writer_nodes=writer_nodes,
        handovers=1 - 1 / writer_nodes if several else 0.0,
        shared_pages=unaligned_share(size, granule) if several else 0.0,
    )
