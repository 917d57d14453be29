# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two-phase I/O by stripes in classes: stripe i of the file belongs to aggregator i mod A.

In each round every aggregator has one stripe, or several that are written together (`flush`).

Source: ROMIO, adio/ad_lustre/ad_lustre_wrcoll.c (Exch_and_write), ad_lustre_aggregate.c
(Calc_aggregator), MPICH 4.0.2; Cray MPICH with cb_align=2: Knaak, Cray S-0013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stripewise.storage.stacks._base import AtOnce, Ints, handovers
from stripewise.storage.stacks._two_phase import HOLES, TwoPhaseCall, last_below, spread
from stripewise.storage.stacks._workload import Flow, Phase


@dataclass(frozen=True)
class CyclicCall(TwoPhaseCall):
    """One collective call whose aggregators have stripes in turn.

    Attributes:
        sieves: Holes are read first; otherwise each piece is a request.
        lock_mode: As in `Flow`.
        flush: Stripes of an aggregator that are gathered before it writes them.
    """

    sieves: bool = True
    lock_mode: int = 0
    flush: int = 1

    @property
    def stripes(self) -> int:
        """Stripes that the range lies in."""
        size = self.layout.stripe_size
        return -(-self.high // size) - self.low // size


AHEAD = 2
"""Lock-ahead, in which the writers of an object are those of the file, spread evenly over all."""


def cyclic_phases(call: CyclicCall) -> list[Phase]:
    """Return the phases of one call."""
    meeting = _meeting(call)
    if not call.union.is_contiguous:
        return _with_holes(call, meeting)
    size, stripes = call.layout.stripe_size, call.stripes
    head = min(call.high, (call.low // size + 1) * size) - call.low
    tail = call.high - (call.high - 1) // size * size if stripes > 1 else head
    rounds = -(-stripes // call.aggregators.count)
    special = {0} if head < size else set()
    special |= {rounds - 1} if tail < size or stripes % call.aggregators.count else set()
    phases = []
    for number in sorted(special):
        edges = [head] if number == 0 and head < size else []
        edges += [tail] if number == rounds - 1 and tail < size and stripes > 1 else []
        busy = min(call.aggregators.count, stripes - number * call.aggregators.count)
        sizes = [(size, busy - len(edges))] + [(edge, 1) for edge in sorted(edges, reverse=True)]
        phases.append(_round(call, meeting, 1.0, sizes))
    at = 1 if 0 in special else 0
    phases[at:at] = _plain(call, meeting, rounds - len(special))
    return phases


def _plain(call: CyclicCall, meeting: AtOnce, rounds: int) -> list[Phase]:
    """Return rounds in which all have a whole stripe, `flush` of them gathered into one."""
    size = call.layout.stripe_size
    gathered, rest = divmod(rounds, call.flush)
    phases = []
    for repeats, stripes in ((gathered, call.flush), (int(rest > 0), rest)):
        if repeats:
            flow = _flow(
                call, meeting, call.aggregators.count, stripes, size, writing=call.writing
            )
            phases.append(call.phase(repeats, (flow,), size * stripes))
    return phases


def _meeting(call: CyclicCall) -> AtOnce:
    """Return who meets at an object: aggregators at a distance of gcd(A, C) share one."""
    count = call.layout.stripe_count
    objects = min(count, call.stripes)
    step = math.gcd(call.aggregators.count, count)
    pairs = min(call.stripes, call.aggregators.count * count // step)
    writers = pairs / objects if call.lock_mode != AHEAD else call.aggregators.count / count
    nodes = float(call.aggregators.nodes_apart(count, max(math.ceil(writers), 1)))
    return AtOnce(float(objects), writers, nodes)


def _flow(
    call: CyclicCall, meeting: AtOnce, processes: int, count: float, size: float,
    *, writing: bool,
) -> Flow:  # fmt: skip
    writers, nodes = meeting.writers, meeting.nodes
    stripes = call.layout.stripe_count
    own = min(max(count, 1.0), float(stripes // math.gcd(call.aggregators.count, stripes)))
    return Flow(
        writing=writing, processes=processes, nodes=call.aggregators.nodes_of(processes),
        count=count, size=size, objects=round(meeting.objects),
        objects_per_process=min(own, meeting.objects), parts=1.0,
        writers=writers, writer_nodes=nodes,
        handovers=handovers(writers, nodes) if call.writing else 0.0, lock_mode=call.lock_mode,
    )  # fmt: skip


def _round(
    call: CyclicCall, meeting: AtOnce, repeats: float, sizes: list[tuple[int, int]]
) -> Phase:
    flows = tuple(
        _flow(call, meeting, busy, 1.0, size, writing=call.writing) for size, busy in sizes if busy
    )
    return call.phase(repeats, flows, float(max(size for size, busy in sizes if busy)))


def _with_holes(call: CyclicCall, meeting: AtOnce) -> list[Phase]:
    """Return one phase with the means of all rounds, and before it one that reads the holes."""
    lengths, data, pieces, each = _stripes(call)
    rounds = -(-call.stripes // call.aggregators.count)
    busy = min(call.aggregators.count, call.stripes)
    holes = data < lengths
    apart = holes & (not call.sieves) & call.writing
    requests = float(np.where(apart, pieces, 1).sum()) * each
    moved = float(np.where(apart, data, lengths).sum()) * each
    share = 1.0 / (busy * rounds)
    flow = _flow(call, meeting, busy, requests * share, moved / requests, writing=call.writing)
    phases = [call.phase(float(rounds), (flow,), float(data.sum()) * each * share)]
    if call.writing and call.sieves and holes.any():
        first = float(holes.sum()) * each
        size = float(lengths[holes].sum()) * each / first
        flow = _flow(call, meeting, busy, first * share, size, writing=False)
        flow = replace(flow, absent=1.0)  # the file ends where the round before did
        phases.insert(0, Phase(HOLES, float(rounds), (flow,)))
    return phases


def _stripes(call: CyclicCall) -> tuple[Ints, Ints, Ints, float]:
    """Return of stripes with data: length, bytes and pieces of data; how many one stands for.

    The length runs from the first byte to the stripe's end, in an aggregator's last stripe to
    its last byte.
    """
    size, total = call.layout.stripe_size, call.stripes
    chosen = spread(total)
    number = call.low // size + chosen
    low = np.maximum(number * size, call.low) - call.base
    high = np.minimum((number + 1) * size, call.high) - call.base
    before = call.union.below(low)
    data = call.union.below(high) - before
    used = data > 0
    number, low, high, before = number[used], low[used], high[used], before[used]
    starts = low.copy()
    for place in np.flatnonzero(call.union.below(low + 1) == before):
        starts[place] = call.union.from_(int(low[place])) or 0
    owner = number % call.aggregators.count
    _, last = np.unique(owner[::-1], return_index=True)
    for place in owner.size - 1 - last[: total if chosen.size == total else 0]:
        high[place] = last_below(call.union, int(high[place]))
    pieces = call.union.below(high, pieces=True) - call.union.below(starts + 1, pieces=True) + 1
    return high - starts, data[used], pieces, total / chosen.size
