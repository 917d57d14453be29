# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests that each rank makes for itself, in classes of equal ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._contention import (
    crossing,
    handovers,
    stripes_touched,
    unaligned,
)
from stripewise.simulation.stacks._even import HOLES
from stripewise.simulation.stacks._geometry import Geometry, RankClass
from stripewise.simulation.stacks._shared_file import stripes_of
from stripewise.simulation.stacks._sieve import windows


@dataclass(frozen=True)
class OwnCall:
    """One call that every rank carries out by itself.

    Attributes:
        geometry / base: What, and where its dataset begins.
        layout: Of the file.
        sieve: Bytes of a window of data sieving; 0: each piece is a request.
        sieve_stripes: Windows end at stripes, and single pieces are cut there.
    """

    geometry: Geometry
    base: int
    layout: Layout
    sieve: int = 0
    sieve_stripes: bool = False

    @property
    def writing(self) -> bool:
        """Otherwise reading."""
        return self.geometry.pattern.writing


def own_phases(call: OwnCall, work: Workload) -> list[Phase]:
    """Return the phase of one call, and before it one with the reads of sieved writes."""
    before: list[Flow] = []
    flows: list[Flow] = []
    for one in call.geometry.classes:
        flow, read = _flows(call, one, work)
        flows.append(flow)
        before += [read] if read else []
    name = "independent write" if call.writing else "independent read"
    reading = [Phase(HOLES, 1.0, tuple(before))] if before else []
    return [*reading, Phase(name, 1.0, tuple(flows))]


def _flows(call: OwnCall, one: RankClass, work: Workload) -> tuple[Flow, Flow | None]:
    """Return the requests of the ranks of a class, and the reads before sieved writes."""
    shape = one.shape
    stripe = call.layout.stripe_size if call.sieve_stripes else 0
    if call.sieve and shape.pieces > 1:
        phase = call.base % stripe if stripe else 0
        count, moved = windows(shape, call.sieve, call.writing, stripe, phase)
        flow = _flow(call, one, work, count, moved / count)
        if not call.writing:
            return flow, None
        return flow, _flow(call, one, work, count, moved / count, before=True)
    count, size = float(shape.pieces), shape.size / shape.pieces
    if call.sieve and stripe:
        count *= stripes_of(size, _granule(call, one), stripe)
    return _flow(call, one, work, count, shape.size / count), None


def _flow(
    call: OwnCall, one: RankClass, work: Workload, count: float, size: float,
    *, before: bool = False,
) -> Flow:  # fmt: skip
    layout, geometry = call.layout, call.geometry
    ranks = geometry.ranks
    nodes = min(work.nodes, -(-ranks // work.ranks_per_node))
    low, high = call.base + geometry.union.first, call.base + geometry.union.end
    objects = min(layout.stripe_count, stripes_touched(low, high, layout.stripe_size))
    granule = _granule(call, one)
    parts = min(stripes_of(size, granule, layout.stripe_size), float(objects))
    each = _met(call, one, 1.0, count * one.sets * parts, objects)
    writers = max(ranks * each / objects, 1.0)
    per_node = min(work.ranks_per_node, ranks)
    on_nodes = nodes * _met(call, one, per_node, per_node * count * one.sets * parts, objects)
    on_nodes = min(max(on_nodes / objects, 1.0), nodes)
    return Flow(
        writing=call.writing and not before, processes=one.ranks,
        nodes=min(nodes, one.ranks), count=count * one.sets, size=size, objects=objects,
        objects_per_process=each, writers=writers, writer_nodes=on_nodes,
        handovers=handovers(writers, on_nodes) if call.writing else 0.0, parts=parts,
        shared_pages=_shared(call, one, work) if call.writing and not before else 0.0,
    )  # fmt: skip


def _met(call: OwnCall, one: RankClass, ranks: float, touched: float, objects: int) -> float:
    """Return how many objects some neighbouring ranks use, about.

    Args:
        call: The call.
        one: What each of them has.
        ranks: How many.
        touched: Stripes that their requests touch, each counted by itself.
        objects: In use.
    """
    union = call.geometry.union
    reach = min(ranks * (one.shape.end - one.shape.first) * one.sets, union.end - union.first)
    stripes = stripes_of(reach, _granule(call, one), call.layout.stripe_size)
    return min(touched, stripes, float(objects))


def _granule(call: OwnCall, one: RankClass) -> int:
    """Return a number that divides the places where pieces begin, and their sizes."""
    levels = one.shape.levels
    steps = [level.stride * level.pitch for level in levels] + [lv.pitch for lv in levels[:-1]]
    return math.gcd(call.base, one.shape.size // one.shape.pieces, *steps)


def _shared(call: OwnCall, one: RankClass, work: Workload) -> float:
    """Return the share of requests that begin or end in a page of another node's."""
    within = unaligned(_granule(call, one))
    return within * crossing(call.geometry.neighbour, work.ranks_per_node, call.geometry.ranks)
