# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests that each rank makes for itself, in classes of equal ranks."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._contention import crossing, handovers, unaligned
from stripewise.simulation.stacks._even import HOLES, stripes_in
from stripewise.simulation.stacks._geometry import Geometry, RankClass
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
    if call.sieve and shape.pieces > 1:
        stripe = call.layout.stripe_size if call.sieve_stripes else 0
        count, moved = windows(shape, call.sieve, stripe, call.base % stripe if stripe else 0)
        flow = _flow(call, one, work, count, moved / count)
        if not call.writing:
            return flow, None
        return flow, _flow(call, one, work, count, moved / count, before=True)
    count, size = float(shape.pieces), shape.size / shape.pieces
    if call.sieve and call.sieve_stripes:
        count *= stripes_in(size, call.layout.stripe_size)
    return _flow(call, one, work, count, shape.size / count), None


def _flow(
    call: OwnCall, one: RankClass, work: Workload, count: float, size: float,
    *, before: bool = False,
) -> Flow:  # fmt: skip
    layout, geometry = call.layout, call.geometry
    ranks = geometry.ranks
    nodes = min(work.nodes, -(-ranks // work.ranks_per_node))
    low, high = call.base + geometry.union.first, call.base + geometry.union.end
    whole = -(-high // layout.stripe_size) - low // layout.stripe_size
    objects = min(layout.stripe_count, whole)
    each = min(_stripes_of(one, layout, count * one.sets, size), float(objects))
    writers = max(ranks * each / objects, 1.0)
    on_nodes = min(writers, nodes * min(1.0, each * work.ranks_per_node / objects), nodes)
    return Flow(
        writing=call.writing and not before, processes=one.ranks,
        nodes=min(nodes, one.ranks), count=count * one.sets, size=size, objects=objects,
        objects_per_process=each, writers=writers, writer_nodes=max(on_nodes, 1.0),
        handovers=handovers(writers, on_nodes) if call.writing else 0.0,
        parts=min(stripes_in(size, layout.stripe_size), float(objects)),
        shared_pages=_shared(call, one, work) if call.writing and not before else 0.0,
    )  # fmt: skip


def _stripes_of(one: RankClass, layout: Layout, count: float, size: float) -> float:
    """Return in how many stripes a rank has something, about."""
    reach = (one.shape.end - one.shape.first) * one.sets
    stripe = layout.stripe_size
    return min(stripes_in(reach, stripe), count * stripes_in(size, stripe))


def _shared(call: OwnCall, one: RankClass, work: Workload) -> float:
    """Return the share of requests that begin or end in a page of another node's."""
    steps = [level.stride * level.pitch for level in one.shape.levels]
    steps += [level.pitch for level in one.shape.levels[:-1]]
    within = unaligned(call.base, one.shape.size // one.shape.pieces, *steps)
    ranks = call.geometry.ranks
    return within * crossing(call.geometry.neighbour, work.ranks_per_node, ranks)
