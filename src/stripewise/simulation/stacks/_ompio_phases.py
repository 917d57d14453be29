# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of OMPIO in classes of equal processes, in closed form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Pattern
from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._at_once import (
    AtOnce,
    at_once,
    begins_of,
    looked_at,
    spread,
)
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._even import EvenCall, even_phases
from stripewise.simulation.stacks._geometry import geometry_of
from stripewise.simulation.stacks._ompio_settings import (
    GEN2_STRIPE,
    NO_REFINEMENT,
    Ompio,
    Stripes,
    aggregators,
    apart,
    stripe_aggregators,
)
from stripewise.simulation.stacks._placed import Placed
from stripewise.simulation.stacks._shape import Shape, coarser, shape_of
from stripewise.simulation.stacks._shared_file import met_flow, objects_of, shared_flow
from stripewise.simulation.stacks._two_phase import HOLES

Floats = NDArray[np.float64]

_MOST_STRIPES = 4096
"""Of more stripes than these all are taken to be whole."""


@dataclass(frozen=True)
class Job:
    """A pattern and what moves it.

    Attributes:
        one / shape: One step of a pattern at its place.
        work / layout: Nodes, stripes.
        fcoll: Algorithm; "individual" for independent calls too.
        ompio / stripes: Parameters, and what the file system tells.
    """

    one: Placed
    shape: Shape
    work: Workload
    layout: Layout
    fcoll: str
    ompio: Ompio
    stripes: Stripes

    @property
    def pattern(self) -> Pattern:
        """What is moved."""
        return self.one.pattern


def phases_of(job: Job) -> list[Phase]:
    """Return the phases of one step."""
    writing, ompio = job.pattern.writing, job.ompio
    if not job.shape.total_bytes:
        return []
    if job.fcoll == "individual":
        return [_individual(job)]
    if writing and job.fcoll == "dynamic_gen2":
        return [_by_stripes(job)]
    if job.fcoll == "two_phase":
        return _two_phase(job)
    count = aggregator_count(job)
    if writing and job.fcoll == "vulcan":
        return _evenly(job, count)
    joined = coarser(job.pattern, max(1, job.work.ranks // count))
    groups = shape_of(joined, job.work)
    sieving = not writing and ompio.read_sieving
    calls = _stream(groups, ompio.bytes_per_agg, ompio, sieving=sieving)
    active = min(count, job.shape.ranks)
    each = replace(calls, count=groups.ranks * calls.count / active)
    begins, number = begins_of(joined, job.one.base)
    node = number * (job.work.ranks // groups.ranks) // job.work.ranks_per_node
    meet = at_once(begins, calls.size, node, active, job.layout)
    in_round, reach = each.count / calls.rounds, groups.reach_bytes / calls.rounds
    whole = objects_of(job.shape.span_bytes, job.layout)
    objects = spread(meet, in_round, calls.size, reach, whole, job.layout.stripe_size)
    meet = replace(meet, objects=objects)
    name = f"two-phase {'write' if writing else 'read'}"
    moved = groups.rank_bytes / calls.rounds
    return [Phase(name, calls.rounds, (_flow(job, active, each, meet),), moved, job.shape.ranks)]


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
    flow = shared_flow(job.one, job.shape, job.work, job.layout, calls.count, calls.size)
    return Phase(f"independent {'write' if writing else 'read'}", 1.0, (flow,))


def _two_phase(job: Job) -> list[Phase]:
    """Return what ROMIO does, with `bytes_per_agg` for a buffer."""
    geometry, shape = geometry_of(job.pattern), job.shape
    if geometry is None:
        return []
    chosen = apart(job.ompio, job.work, int(shape.piece_bytes), int(shape.rank_bytes))
    call = EvenCall(
        geometry.union, job.one.base, job.pattern.writing, chosen, job.layout, job.work.ranks,
        job.ompio.bytes_per_agg,
    )  # fmt: skip
    return even_phases(call)


def _evenly(job: Job, count: int) -> list[Phase]:
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
        flow = _flow(job, n, calls, meet)
        written.append(flow)
        # Of one aggregator, the file ends where its cycle before did.
        read += [replace(flow, writing=False, absent=float(count == 1))] if reads else []
    moved, nodes = max(map(sum, parts)) * fill / rounds, min(shape.nodes, count)
    before = [Phase(HOLES, float(rounds), tuple(read), nodes=nodes)] if read else []
    phase = Phase("two-phase write", float(rounds), tuple(written), moved, shape.ranks, nodes)
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
) -> tuple[_Calls, bool]:
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
            return _Calls(own, size, rounds), True
        count = pieces + own - 1
        return _Calls(count, data / count, rounds), False
    bounds = sum(1 for size in sizes[:-1] if sizes[-1] and size % cycle)
    count = own + bounds
    return _Calls(count, data / count, rounds), False


def _by_stripes(job: Job) -> Phase:
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
    each = _Calls(calls / active, size, rounds)
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
    flow = _flow(job, active, each, replace(meet, objects=objects))
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


def _flow(job: Job, processes: int, calls: _Calls, meet: AtOnce) -> Flow:
    """Return the flow of aggregators that each move one part of the file, round by round."""
    granule = math.gcd(int(calls.size), job.shape.granule) or 1
    return met_flow(
        meet, processes, job.shape.nodes, calls.count / calls.rounds, calls.size, granule,
        job.layout, writing=job.pattern.writing,
    )  # fmt: skip
