# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models the requests of OMPIO in closed form, in classes of equal processes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import Distribution, Pattern, PatternKind, sets_of
from stripewise.storage.stacks._base import at_once, begins_of, sampled_processes, spread
from stripewise.storage.stacks._geometry import geometry_of, strides_of
from stripewise.storage.stacks._hints import first_of_groups
from stripewise.storage.stacks._ompio_settings import (
    GEN2_STRIPE,
    NO_REFINEMENT,
    Calls,
    Ompio,
    OmpioPattern,
    aggregators,
    apart,
    flow_of,
    stripe_aggregators,
)
from stripewise.storage.stacks._romio import EvenShares
from stripewise.storage.stacks._shared_file import Shape, objects_of, shared_flow
from stripewise.storage.stacks._two_phase import HOLES
from stripewise.storage.stacks._workload import Flow, Phase


def phases_of(job: OmpioPattern) -> list[Phase]:
    """Return the phases of one step."""
    writing = job.pattern.writing
    if not job.shape.total_bytes:
        return []
    if job.fcoll == "individual":
        return [individual(job)]
    if writing and job.fcoll == "dynamic_gen2":
        return [by_stripes(job)]
    if job.fcoll == "two_phase":
        return _two_phase(job)
    count = aggregator_count(job)
    if writing and job.fcoll == "vulcan":
        return evenly(job, count)
    return [by_groups(job, count)]


def aggregator_count(job: OmpioPattern) -> int:
    """Return OMPIO's number of aggregators."""
    shape, ranks = job.shape, job.work.ranks
    if job.ompio.forced == -1 and job.ompio.grouping == NO_REFINEMENT:
        grid = job.pattern.grid
        row = 1 if shape.rank_pieces <= 1 else math.prod(grid[:-1]) if grid else 1
        return max(1, min(row, ranks))
    return aggregators(job.ompio, ranks, int(shape.piece_bytes), int(shape.rank_bytes))


def _two_phase(job: OmpioPattern) -> list[Phase]:
    """Return the phases of ROMIO's algorithm, with `bytes_per_agg` as the buffer."""
    geometry, shape = geometry_of(job.pattern), job.shape
    if geometry is None:
        return []
    chosen = apart(job.ompio, job.work, int(shape.piece_bytes), int(shape.rank_bytes))
    way = EvenShares(chosen, job.ompio.bytes_per_agg)
    return way.phases(geometry, job.one.base, job.layout, job.work.ranks)


# OMPIO's collective writes in which the place in the file determines the writer.

Floats = NDArray[np.float64]

_MOST_STRIPES = 4096
"""Number of stripes above which all are assumed to be whole."""


def evenly(job: OmpioPattern, count: int) -> list[Phase]:
    """Return vulcan's write: equal shares of the range, counted from byte 0.

    Shares that are cut by the beginning and the end of the range belong to one aggregator if their
    number exceeds that of aggregators by one.
    """
    shape, cycle = job.shape, max(1, job.ompio.bytes_per_agg // 2)
    low = job.one.base
    end = low + shape.span_bytes
    share = -(-(shape.span_bytes if shape.ranks == job.work.ranks else end) // count)
    parts = _shares(low, end, share, count)
    fill = shape.total_bytes / shape.span_bytes
    rounds = max(1, *(math.ceil(sum(sizes) * fill / cycle) for sizes in parts))
    chosen = sampled_processes(count)
    node = chosen * job.work.ranks // count // job.work.ranks_per_node
    meet = at_once(low + chosen * share, min(cycle / fill, share), node, count, job.layout)
    written: list[Flow] = []
    read: list[Flow] = []
    for sizes, n in parts.items():
        calls, reads = _share_calls(job, sizes, fill, cycle, rounds)
        flow = flow_of(job, n, calls, meet)
        written.append(flow)
        # For an aggregator, the file ends where its previous cycle did.
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
    job: OmpioPattern, sizes: tuple[int, int], fill: float, cycle: int, rounds: int
) -> tuple[Calls, bool]:
    """Return an aggregator's calls for its parts of the file, and whether each is read before."""
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


def by_stripes(job: OmpioPattern) -> Phase:
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
    chosen = sampled_processes(active)
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
    """Return the bytes of aggregators that have stripes in turn; (count,), or (1,) if many."""
    fill = shape.total_bytes / shape.span_bytes
    if stripes > _MOST_STRIPES:
        return np.array([-(-stripes // count) * stripe * fill])
    index = np.arange(stripes)
    begin = np.maximum((low // stripe + index) * stripe, low)
    end = np.minimum((low // stripe + index + 1) * stripe, low + shape.span_bytes)
    return np.bincount(index % count, (end - begin) * fill, count).astype(np.float64)


# OMPIO's calls if each aggregator, or each rank, has its own ranges, in closed form.


class _Part(NamedTuple):
    """Data that one process moves in a step: contiguous ranges, bytes, first byte to last."""

    pieces: float
    size: float
    reach: float

    @classmethod
    def of(cls, shape: Shape, ranks: float = 1.0) -> _Part:
        """Return the mean part of some ranks."""
        size = shape.rank_bytes * ranks
        return cls(shape.rank_pieces * ranks, size, max(shape.reach_bytes, size))


def _stream(part: _Part, most: int, ompio: Ompio, *, sieving: bool) -> Calls:
    """Return the calls of a process for its ranges, `most` bytes in each round."""
    pieces, piece = part.pieces, part.size / part.pieces
    rounds = max(1, math.ceil(part.size / most))
    per_round = pieces / rounds
    gap = (part.reach - piece) / pieces
    if sieving and per_round > 1 and 1 <= gap <= ompio.max_gap and piece <= ompio.max_block:
        buffers = max(1, math.ceil(part.reach / rounds / ompio.max_buffer))
        return Calls(rounds * buffers, part.reach / rounds / buffers, rounds)
    whole = max(1, int(piece) // math.gcd(int(piece), most))
    count = pieces + (rounds - 1) - (rounds - 1) // whole
    return Calls(count, part.size / count, rounds)


def by_groups(job: OmpioPattern, count: int) -> Phase:
    """Return the calls of aggregators that each move the data of their own group of ranks."""
    pattern, shape, ompio = job.pattern, job.shape, job.ompio
    if are_joined(pattern):
        sets, unit = joint_sets(pattern, job.work.ranks, count), pattern.element_bytes
        begins = np.array([job.one.base + one.low * unit for _, one in sets])
        leaders = np.array([leader for leader, _ in sets])
        parts = [_Part(one.runs, one.size * unit, (one.high + 1 - one.low) * unit)
                 for _, one in sets]  # fmt: skip
        active = max(1, count * len(sets) // min(count, MOST_GROUPS))
    else:
        begins, leaders = begins_of(pattern, job.one.base)
        active = min(count, shape.ranks)
        parts = [_Part.of(shape, shape.ranks / active)]
    sieving = not pattern.writing and ompio.read_sieving
    calls = [_stream(one, ompio.bytes_per_agg, ompio, sieving=sieving) for one in parts]
    rounds = max(one.rounds for one in calls)
    moved = sum(one.count * one.size for one in calls) / sum(one.size for one in parts)
    number = sum(one.count for one in calls) / len(calls)
    size = moved * shape.total_bytes / (active * number)
    in_round, reach = number / rounds, sum(one.reach for one in parts) / len(parts) / rounds
    node = leaders // job.work.ranks_per_node
    meet = at_once(begins, size, node, active, job.layout)
    whole = objects_of(shape.span_bytes, job.layout)
    objects = spread(meet, in_round, size, reach, whole, job.layout.stripe_size)
    flow = flow_of(job, active, Calls(number, size, rounds), replace(meet, objects=objects))
    name = f"two-phase {'write' if pattern.writing else 'read'}"
    return Phase(name, rounds, (flow,), max(one.size for one in parts) / rounds, shape.ranks)


def individual(job: OmpioPattern) -> Phase:
    """Return independent requests: a call for each range, or for each window of data sieving."""
    writing = job.pattern.writing
    calls = _stream(_Part.of(job.shape), job.ompio.cycle_bytes, job.ompio,
                    sieving=not writing and job.ompio.read_sieving)  # fmt: skip
    flow = shared_flow(job.one, job.shape, job.work, job.layout, calls.count, calls.size)
    return Phase(f"independent {'write' if writing else 'read'}", 1.0, (flow,))


# Union of the data of groups of consecutive ranks, which one aggregator of OMPIO moves.

MOST_GROUPS = 32
"""Maximum number of groups that are examined; of more, this number evenly spread over all."""

Box = tuple[tuple[int, int], ...]
"""First coordinate and end in each dimension of the grid of processes."""


class Joint(NamedTuple):
    """Union of what several processes move of an array, or of one of its rows.

    Attributes:
        runs: Number of contiguous ranges.
        size: Number of elements.
        low / high: First element, and last one.
    """

    runs: int
    size: int
    low: int
    high: int


class _Rows(NamedTuple):
    """Rows `begin` to `end`, in each of which the same elements are moved."""

    begin: int
    end: int
    row: Joint


@lru_cache(maxsize=256)
def joint_sets(pattern: Pattern, ranks: int, groups: int) -> tuple[tuple[int, Joint], ...]:
    """Return the first rank of each examined group, and what the group moves.

    Groups that move nothing are left out.

    Args:
        pattern: Pattern of all ranks, whose parts do not overlap.
        ranks: Number of ranks of the job.
        groups: Number of groups of consecutive ranks; the first ones have a rank more.
    """
    leaders = np.append(first_of_groups(ranks, groups), ranks)
    chosen = np.unique(np.linspace(0, groups - 1, min(groups, MOST_GROUPS)).astype(np.int64))
    strides = strides_of(pattern)
    order = sorted(range(len(strides)), key=lambda d: -abs(strides[d]))
    step = min((abs(stride) for stride in strides if stride), default=1)
    places = np.clip(-(-(leaders - pattern.first_rank) // step), 0, math.prod(pattern.grid))
    found = []
    for group in chosen.tolist():
        first, end = places[group : group + 2].tolist()
        turned = _boxes(first, end, [pattern.grid[d] for d in order])
        boxes = [tuple(box[order.index(d)] for d in range(len(order))) for box in turned]
        found.append((int(leaders[group]), _joint(boxes, pattern)))
    return tuple((leader, one) for leader, one in found if one.size)


def are_joined(pattern: Pattern) -> bool:
    """Return whether the parts of ranks are adjacent, so that groups have contiguous data."""
    apart = pattern.kind == PatternKind.MULTIPARTITION
    copies = pattern.active_ranks > math.prod(pattern.grid)
    return not apart and not copies and not any(any(how.ghost) for how in pattern.distributions)


def _boxes(first: int, end: int, grid: Sequence[int]) -> list[Box]:
    """Return the places `first` to `end` of a grid, the last dimension fastest, as boxes."""
    if first >= end:
        return []
    if not grid:
        return [()]
    inner = math.prod(grid[1:])
    low, high = -(-first // inner), end // inner
    if low > high:
        rest = _boxes(first - high * inner, end - high * inner, grid[1:])
        return [((high, low), *box) for box in rest]
    before = _boxes(first - (low - 1) * inner, inner, grid[1:]) if first < low * inner else []
    after = _boxes(0, end - high * inner, grid[1:])
    found: list[Box] = [((low - 1, low), *box) for box in before]
    if low < high:
        found.append(((low, high), *((0, n) for n in grid[1:])))
    return found + [((high, high + 1), *box) for box in after]


def _joint(boxes: Sequence[Box], pattern: Pattern) -> Joint:
    """Return the union of the data of processes in some boxes, which do not overlap."""
    if not boxes or not boxes[0]:
        return Joint(len(boxes), len(boxes), 0, 0)
    d = len(pattern.grid) - len(boxes[0])
    slabs = []
    for low, high in itertools.pairwise(sorted({edge for box in boxes for edge in box[0]})):
        inside = [box[1:] for box in boxes if box[0][0] <= low and high <= box[0][1]]
        row = _joint(inside, pattern)
        if row.size:
            slabs.append(_Rows(low, high, row))
    how, span, pitch = (
        pattern.distributions[d],
        pattern.spans[d],
        math.prod(pattern.sizes[d + 1 :]),
    )
    if how.kind == "CYCLIC":
        return _cyclic_rows(slabs, how.width or 1, span, pattern.grid[d], pitch)
    starts = _starts(how, span, pattern.grid[d])
    if how.lattice:
        return _lattice_rows(slabs, how.lattice, starts, pitch)
    return _stacked([_Rows(starts[lo], starts[hi], row) for lo, hi, row in slabs], pitch)


@lru_cache(maxsize=256)
def _starts(how: Distribution, span: tuple[int, int], n_parts: int) -> tuple[int, ...]:
    """Return where the parts of a dimension begin and, last, end."""
    return (*sets_of(how, span, n_parts)[0].tolist(), span[1])


def _stacked(rows: Sequence[_Rows], pitch: int) -> Joint:
    """Return consecutive rows; the end of one and the beginning of the next may touch.

    Args:
        rows: Rows in the order of the file.
        pitch: Elements of a row.
    """
    rows = [one for one in rows if one.end > one.begin]
    if not rows:
        return Joint(0, 0, 0, 0)
    runs = size = 0
    reach = -1  # row that the last range touches
    for begin, end, row in rows:
        touches = row.high == pitch - 1
        runs += (end - begin) * row.runs - (end - begin - 1) * (touches and row.low == 0)
        runs -= reach == begin and row.low == 0
        size += (end - begin) * row.size
        reach = end if touches else -1
    first, last = rows[0], rows[-1]
    low, high = first.begin * pitch + first.row.low, (last.end - 1) * pitch + last.row.high
    return Joint(runs, size, low, high)


def _cyclic_rows(
    slabs: Sequence[_Rows], width: int, span: tuple[int, int], n_parts: int, pitch: int
) -> Joint:
    """Return the rows of cyclic parts: all rounds between the first and the last are equal."""
    first, end = span
    turn = width * n_parts

    def turns(*numbers: int) -> Joint:
        places = ((first + number * turn, slab) for number in numbers for slab in slabs)
        return _stacked([
            _Rows(min(at + width * lo, end), min(at + width * hi, end), row)
            for at, (lo, hi, row) in places
        ], pitch)  # fmt: skip

    whole = (end - first) // turn
    one, last = turns(0), turns(max(whole - 1, 0), whole)
    if whole <= 1:
        return last if whole else one
    two = turns(0, 1)
    runs, size = (
        last_ + (whole - 1) * (two_ - one_)
        for one_, two_, last_ in zip(one[:2], two[:2], last[:2], strict=True)
    )
    return Joint(runs, size, one.low, last.high)


def _lattice_rows(
    slabs: Sequence[_Rows], lattice: tuple[int, ...], starts: Sequence[int], pitch: int
) -> Joint:
    """Return the rows of parts that move only some of their rows."""
    stride, length = lattice
    blocks = [
        ((starts[hi] - starts[lo] + stride - 1) // stride, starts[lo], row)
        for lo, hi, row in slabs
        if starts[hi] > starts[lo]
    ]
    if not blocks:
        return Joint(0, 0, 0, 0)
    each = [(number, _stacked([_Rows(0, length, row)], pitch)) for number, _, row in blocks]
    number, at, row = blocks[-1]
    last = at + (number - 1) * stride + length - 1
    return Joint(
        sum(n * one.runs for n, one in each), sum(n * one.size for n, one in each),
        blocks[0][1] * pitch + blocks[0][2].low, last * pitch + row.high,
    )  # fmt: skip
