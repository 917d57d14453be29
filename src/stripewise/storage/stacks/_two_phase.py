# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models two-phase I/O: each aggregator has an equal share of the file, or stripes in turn."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from stripewise.storage.stacks._base import (
    PAGE,
    AtOnce,
    Ints,
    Layout,
    at_once,
    handovers,
    sampled_processes,
)
from stripewise.storage.stacks._geometry import Regular
from stripewise.storage.stacks._hints import Aggregators
from stripewise.storage.stacks._workload import Flow, Phase

MOST_WINDOWS = 4096
"""Maximum number of windows examined if data has holes; of more, as many spread over all."""

HOLES = "read what lies in holes"
"""Name of the phase before a write whose data has holes."""


def spread(total: int) -> Ints:
    """Return the windows that are examined, ascending: all, or one in each of many intervals.

    The place in the interval varies, to avoid resonance with a regular pattern.
    """
    if total <= MOST_WINDOWS:
        return np.arange(total, dtype=np.int64)
    index = np.arange(MOST_WINDOWS, dtype=np.float64)
    chosen: Ints = ((index + index * 0.6180339887498949 % 1) * (total / MOST_WINDOWS)).astype(
        np.int64
    )
    return chosen


@dataclass(frozen=True)
class TwoPhaseCall:
    """One collective call.

    Attributes:
        union: Union of what all ranks move, relative to `base`.
        base: Offset of the dataset.
        writing: Whether data is written; otherwise it is read.
        aggregators: Aggregators that move it.
        layout: Layout of the file.
        ranks: Number of ranks that take part in the exchange.
    """

    union: Regular
    base: int
    writing: bool
    aggregators: Aggregators
    layout: Layout
    ranks: int

    @property
    def low(self) -> int:
        """First byte in the file."""
        return self.base + self.union.first

    @property
    def high(self) -> int:
        """End (exclusive) of the last byte in the file."""
        return self.base + self.union.end

    def phase(self, repeats: float, flows: tuple[Flow, ...], exchanged: float) -> Phase:
        """Return rounds of exchange and requests.

        Args:
            repeats: Number of rounds.
            flows: Requests of one round.
            exchanged: Bytes of an aggregator in one round.
        """
        name = "two-phase write" if self.writing else "two-phase read"
        nodes = self.aggregators.nodes_of(sum(one.processes for one in flows))
        return Phase(name, repeats, flows, exchanged, self.ranks, nodes=nodes)


def last_below(union: Regular, offset: int) -> int:
    """Return the end of the last byte of a set before an offset; there must be one."""
    low, high = union.first, min(offset, union.end)
    wanted = int(union.below(np.array([high]))[0])
    while low < high:
        middle = (low + high) // 2
        if int(union.below(np.array([middle]))[0]) >= wanted:
            high = middle
        else:
            low = middle + 1
    return high


# Generic two-phase I/O in classes: each aggregator has an equal, contiguous share of the range.
# Source: ROMIO, adio/common/ad_aggregate.c (Calc_file_domains), ad_write_coll.c, ad_read_coll.c.


@dataclass(frozen=True)
class EvenCall(TwoPhaseCall):
    """One collective call whose aggregators have equal, contiguous shares.

    Attributes:
        buffer: Bytes of a round of an aggregator.
        unit: Alignment of shares; 0 without.
        least: Minimum bytes of a share.
    """

    buffer: int
    unit: int = 0
    least: int = 0


def domains(low: int, high: int, count: int, unit: int, least: int) -> Ints:
    """Return where shares begin and, last, end: (count + 1,) int64.

    Shares have ceil((high - low) / count) bytes, at least `least`; ends are moved to the nearest
    multiple of `unit`, the upper one if both are equally near.
    """
    size = max(-(-(high - low) // count), least)
    ends = low + np.arange(count + 1, dtype=np.int64) * size
    if unit:
        below = ends % unit
        ends = np.where(below < unit - below, ends - below, ends + unit - below)
        ends[-1] = high
    ends[0] = low
    clipped: Ints = np.minimum(np.maximum.accumulate(ends), high)
    return clipped


def even_phases(call: EvenCall) -> list[Phase]:
    """Return the phases of one call."""
    ends = domains(call.low, call.high, call.aggregators.count, call.unit, call.least)
    if call.union.is_contiguous:
        return _solid(call, ends)
    return _with_holes(call, ends)


def _solid(call: EvenCall, ends: Ints) -> list[Phase]:
    """Return phases of rounds in which the same aggregators move the same sizes."""
    lengths, counts = np.unique(np.diff(ends), return_counts=True)
    shares = [(int(n), int(c)) for n, c in zip(lengths, counts, strict=True) if n]
    cuts = {0}
    for length, _ in shares:
        cuts |= {length // call.buffer, -(-length // call.buffer)}
    meeting = _meeting(call, ends)
    phases = []
    rounds = sorted(cuts)
    for first, after in itertools.pairwise(rounds):
        full = sum(n for length, n in shares if length // call.buffer > first)
        rests = [
            (length % call.buffer, n)
            for length, n in shares
            if length // call.buffer == first and length % call.buffer
        ]
        sizes = [(call.buffer, full)] * bool(full) + sorted(rests, reverse=True)
        flows = tuple(_flow(call, meeting, n, 1.0, size) for size, n in sizes)
        phases.append(call.phase(after - first, flows, sizes[0][0]))
    return phases


@dataclass(frozen=True)
class _Meeting(AtOnce):
    """Places where aggregators meet in a round.

    Attributes:
        shared: Share of the requests with unaligned borders, 0 to 1.
    """

    shared: float


def _meeting(call: EvenCall, ends: Ints) -> _Meeting:
    """Return where aggregators meet: at one object if shares are all stripes apart."""
    used = np.flatnonzero(np.diff(ends) > 0)
    chosen = used[sampled_processes(used.size)]
    size = float(min(call.buffer, np.diff(ends).max()))
    nodes = call.aggregators.node(chosen)
    meet = at_once(ends[chosen], size, nodes, used.size, call.layout)
    borders = ends[1:-1][np.diff(ends)[1:] > 0]
    within = float(np.count_nonzero(borders % PAGE))
    requests = float((-(-np.diff(ends) // call.buffer)).sum())
    on_nodes = min(meet.nodes, float(call.aggregators.nodes))
    shared = min(2 * within / requests, 1.0)
    return _Meeting(max(1.0, float(round(meet.objects))), max(meet.writers, 1.0), on_nodes, shared)


def _flow(
    call: EvenCall, meeting: _Meeting, processes: int, count: float, size: float,
    *, writing: bool | None = None,
) -> Flow:  # fmt: skip
    nodes = min(call.aggregators.nodes, processes)
    layout = call.layout
    touched = stripes_in(size, layout.stripe_size)
    on_nodes = max(1.0, min(meeting.writers, meeting.nodes))
    writing = call.writing if writing is None else writing
    return Flow(
        writing=writing, processes=processes, nodes=nodes, count=count, size=size,
        objects=round(meeting.objects),
        objects_per_process=min(touched, meeting.objects),
        writers=meeting.writers, writer_nodes=on_nodes,
        handovers=handovers(meeting.writers, on_nodes) if call.writing else 0.0,
        shared_pages=meeting.shared if writing and call.aggregators.nodes > 1 else 0.0,
    )  # fmt: skip


def stripes_in(size: float, stripe_size: int) -> float:
    """Return how many stripes a request touches: requests of whole stripes are aligned to them."""
    rest = size % stripe_size
    return max(size / stripe_size + (1 - rest / stripe_size if rest else 0.0), 1.0)


def _with_holes(call: EvenCall, ends: Ints) -> list[Phase]:
    """Return one phase with the means of all rounds, after one that reads the holes."""
    starts, lengths, sizes, each = _windows(call, ends)
    begin = call.union.below(starts - call.base)
    data = call.union.below(starts + lengths - call.base) - begin
    moved = data > 0
    holes = moved & (data < lengths)
    requests = float(moved.sum()) * each
    rounds = int(-(-sizes.max() // call.buffer))
    busy = int((sizes > 0).sum())
    meeting = _meeting(call, ends)
    size = float(lengths[moved].sum()) * each / requests
    flow = _flow(call, meeting, busy, requests / (busy * rounds), size)
    phases = [call.phase(rounds, (flow,), float(data.sum()) * each / (busy * rounds))]
    if call.writing and holes.any():
        first = float(holes.sum()) * each
        size = float(lengths[holes].sum()) * each / first
        flow = _flow(call, meeting, busy, first / (busy * rounds), size, writing=False)
        flow = replace(flow, absent=float(busy == 1))  # the file ends where the last share does
        phases.insert(0, Phase(HOLES, rounds, (flow,)))
    return phases


def _windows(call: EvenCall, ends: Ints) -> tuple[Ints, Ints, Ints, float]:
    """Return starts and lengths of windows, lengths of shares, and windows that each represents.

    Windows begin at the first byte that is moved in a share, and end at the last one.
    """
    firsts, lasts = [], []
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        first = call.union.from_(low - call.base) if high > low else None
        if first is None or first >= high - call.base:
            continue
        firsts.append(first + call.base)
        lasts.append(last_below(call.union, high - call.base) + call.base)
    start, sizes = np.array(firsts, np.int64), np.array(lasts, np.int64) - np.array(firsts)
    counts = -(-sizes // call.buffer)
    total = int(counts.sum())
    chosen = spread(total)
    owner = np.searchsorted(np.cumsum(counts), chosen, side="right")
    place = (chosen - (np.cumsum(counts) - counts)[owner]) * call.buffer
    lengths = np.minimum(call.buffer, sizes[owner] - place)
    return start[owner] + place, lengths, sizes, total / chosen.size


# Two-phase I/O by stripes in classes: stripe i of the file belongs to aggregator i mod A. In each
# round every aggregator has one stripe, or several that are written together (`flush`). Source:
# ROMIO, adio/ad_lustre/ad_lustre_wrcoll.c (Exch_and_write), ad_lustre_aggregate.c
# (Calc_aggregator), MPICH 4.0.2; Cray MPICH with cb_align=2: Knaak, Cray S-0013.


@dataclass(frozen=True)
class CyclicCall(TwoPhaseCall):
    """One collective call whose aggregators have stripes in turn.

    Attributes:
        sieves: Whether holes are read first; otherwise each piece is a request.
        lock_mode: Same as in `Flow`.
        flush: Number of an aggregator's stripes that are gathered before it writes them.
    """

    sieves: bool = True
    lock_mode: int = 0
    flush: int = 1

    @property
    def stripes(self) -> int:
        """Number of stripes that the range touches."""
        size = self.layout.stripe_size
        return -(-self.high // size) - self.low // size


AHEAD = 2
"""Lock-ahead, in which the writers of an object are those of the file, spread evenly over all."""


def cyclic_phases(call: CyclicCall) -> list[Phase]:
    """Return the phases of one call."""
    meeting = _meeting_of_stripes(call)
    if not call.union.is_contiguous:
        return _stripes_with_holes(call, meeting)
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
            flow = _flow_of_stripes(
                call, meeting, call.aggregators.count, stripes, size, writing=call.writing
            )
            phases.append(call.phase(repeats, (flow,), size * stripes))
    return phases


def _meeting_of_stripes(call: CyclicCall) -> AtOnce:
    """Return where aggregators meet: those at a distance of gcd(A, C) share an object."""
    count = call.layout.stripe_count
    objects = min(count, call.stripes)
    step = math.gcd(call.aggregators.count, count)
    pairs = min(call.stripes, call.aggregators.count * count // step)
    writers = pairs / objects if call.lock_mode != AHEAD else call.aggregators.count / count
    nodes = float(call.aggregators.nodes_apart(count, max(math.ceil(writers), 1)))
    return AtOnce(float(objects), writers, nodes)


def _flow_of_stripes(
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
        _flow_of_stripes(call, meeting, busy, 1.0, size, writing=call.writing)
        for size, busy in sizes
        if busy
    )
    return call.phase(repeats, flows, float(max(size for size, busy in sizes if busy)))


def _stripes_with_holes(call: CyclicCall, meeting: AtOnce) -> list[Phase]:
    """Return one phase with the means of all rounds, after one that reads the holes."""
    lengths, data, pieces, each = _stripes(call)
    rounds = -(-call.stripes // call.aggregators.count)
    busy = min(call.aggregators.count, call.stripes)
    holes = data < lengths
    apart = holes & (not call.sieves) & call.writing
    requests = float(np.where(apart, pieces, 1).sum()) * each
    moved = float(np.where(apart, data, lengths).sum()) * each
    share = 1.0 / (busy * rounds)
    flow = _flow_of_stripes(
        call, meeting, busy, requests * share, moved / requests, writing=call.writing
    )
    phases = [call.phase(float(rounds), (flow,), float(data.sum()) * each * share)]
    if call.writing and call.sieves and holes.any():
        first = float(holes.sum()) * each
        size = float(lengths[holes].sum()) * each / first
        flow = _flow_of_stripes(call, meeting, busy, first * share, size, writing=False)
        flow = replace(flow, absent=1.0)  # the file ends where the previous round did
        phases.insert(0, Phase(HOLES, float(rounds), (flow,)))
    return phases


def _stripes(call: CyclicCall) -> tuple[Ints, Ints, Ints, float]:
    """Return length, bytes and pieces of stripes with data, and stripes that each represents.

    The length is from the first byte to the end of the stripe, or in an aggregator's last stripe
    to its last byte.
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
