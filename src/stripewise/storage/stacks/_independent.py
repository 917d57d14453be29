# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models independent requests of each rank, with data sieving, in classes of equal ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stripewise.evidence.patterns import Pattern
from stripewise.storage.stacks._base import (
    AtOnce,
    Layout,
    at_once,
    begins_of,
    crossing,
    handovers,
    spread,
    stripes_touched,
    unaligned,
)
from stripewise.storage.stacks._geometry import Geometry, RankClass, Regular
from stripewise.storage.stacks._shared_file import stripes_of
from stripewise.storage.stacks._two_phase import HOLES
from stripewise.storage.stacks._workload import Flow, Phase, Workload


@dataclass(frozen=True)
class OwnCall:
    """One call that every rank carries out by itself.

    Attributes:
        geometry / base: Pattern, and offset of its dataset.
        layout: Layout of the file.
        sieve: Bytes of a window of data sieving; 0 if each piece is a request.
        sieve_stripes: Whether windows end at stripes, and single pieces are cut there.
        memory_run: Bytes of a row of the buffer, if it has gaps; 0 if it has none.
        whole: Whether one rank has all, in one view without holes.
    """

    geometry: Geometry
    base: int
    layout: Layout
    sieve: int = 0
    sieve_stripes: bool = False
    memory_run: int = 0
    whole: bool = False

    @property
    def writing(self) -> bool:
        """Whether data is written; otherwise it is read."""
        return self.geometry.pattern.writing


def own_phases(call: OwnCall, work: Workload) -> list[Phase]:
    """Return the phases of one call: for sieved writes, those with the reads first.

    Sieved writes lock the rank's whole range of the file, so ranks with overlapping ranges proceed
    one after another (ADIOI_WRITE_LOCK in ad_write_str.c).
    """
    name = "independent write" if call.writing else "independent read"
    locked = [one for one in call.geometry.classes if call.writing and _sieves(call, one)]
    free = [one for one in call.geometry.classes if one not in locked]
    phases = []
    if free:
        together = _Simultaneous(call.geometry.ranks, 1.0)
        flows = tuple(_flow(call, one, work, together) for one in free)
        phases.append(Phase(name, 1.0, flows, nodes=_nodes(call, work, together)))
    if locked:
        together = _in_turn(call, locked)
        for title, before in ((HOLES, True), (name, False)):
            flows = tuple(_flow(call, one, work, together, before=before) for one in locked)
            nodes = _nodes(call, work, together)
            phases.append(Phase(title, together.turns, flows, nodes=nodes))
    return phases


def _nodes(call: OwnCall, work: Workload, together: _Simultaneous) -> int:
    """Return the number of nodes of the ranks that make requests at the same time."""
    return min(work.nodes, -(-call.geometry.ranks // work.ranks_per_node), together.ranks)


@dataclass(frozen=True)
class _Simultaneous:
    """Number of ranks that make requests at the same time, and of turns of such groups."""

    ranks: int
    turns: float


def _in_turn(call: OwnCall, locked: list[RankClass]) -> _Simultaneous:
    """Return how many ranges of ranks fit beside each other without overlapping."""
    ranks = min(sum(one.ranks for one in locked), call.geometry.ranks)
    union = call.geometry.union
    reach = max(_reach(call, one) for one in locked)
    beside = min(max((union.end - union.first) // reach, 1), ranks)
    turns = -(-ranks // beside)
    return _Simultaneous(-(-ranks // turns), float(turns))


def _reach(call: OwnCall, one: RankClass) -> int:
    """Return the bytes from a rank's first to its last; those of multipartitions are scattered."""
    shape = one.shape if one.sets == 1 else call.geometry.union
    return shape.end - shape.first


def _sieves(call: OwnCall, one: RankClass) -> bool:
    """Return whether windows are moved; a single piece is one if the buffer has gaps."""
    if not call.sieve or call.whole:
        return False
    return one.shape.pieces > 1 or (call.writing and bool(call.memory_run))


def _sizes(call: OwnCall, one: RankClass) -> tuple[float, float]:
    """Return the requests of a rank (without reads before sieved writes), and their mean size."""
    shape = one.shape
    stripe = call.layout.stripe_size if call.sieve_stripes else 0
    if _sieves(call, one):
        phase = call.base % stripe if stripe else 0
        count, moved = windows(shape, call.sieve, call.writing, stripe, phase)
        across = -(-_reach(call, one) // min(call.sieve, stripe or call.sieve))
        if one.sets > 1 and across < count * one.sets:  # cells share windows
            return float(across), _reach(call, one) / across
        return count * one.sets, moved / count
    count, size = float(shape.pieces), shape.size / shape.pieces
    if not call.sieve and call.memory_run:
        count *= -(-round(size) // call.memory_run)
    elif call.sieve and stripe and (call.memory_run or not call.whole):
        count *= stripes_of(size, _granule(call, one), stripe)
    elif call.sieve and call.memory_run:
        count *= -(-round(size) // call.sieve)
    return count * one.sets, shape.size / count


def _flow(
    call: OwnCall, one: RankClass, work: Workload, together: _Simultaneous, *, before: bool = False
) -> Flow:
    layout, geometry = call.layout, call.geometry
    count, size = _sizes(call, one)
    ranks, turns = together.ranks, together.turns
    nodes = _nodes(call, work, together)
    low, high = call.base + geometry.union.first, call.base + geometry.union.end
    everywhere = min(layout.stripe_count, stripes_touched(low, high, layout.stripe_size))
    parts = min(stripes_of(size, _granule(call, one), layout.stripe_size), float(everywhere))
    meet = _meeting(call, size, work, together)
    reach = (one.shape.end - one.shape.first) * one.sets
    at_once_ = spread(meet, count, size, reach, everywhere, layout.stripe_size)
    if _sieves(call, one) and call.writing and call.base >= everywhere * layout.stripe_size:
        at_once_ = meet.objects  # its lock is elsewhere at the next object: no process gets ahead
    objects = min(max(round(at_once_), 1), everywhere)
    side = _side_by_side(meet.objects, at_once_, everywhere)
    met = _handovers(call, one, work, together, meet, count * parts, everywhere, before, side)
    busy = max(round(one.ranks / turns), 1)
    return Flow(
        writing=call.writing and not before, processes=busy, nodes=min(nodes, busy),
        count=count * one.ranks / (busy * turns), size=size, objects=objects,
        objects_per_process=min(parts, float(objects)),
        writers=max(meet.writers, 1.0), writer_nodes=min(max(meet.nodes, 1.0), nodes),
        handovers=met if call.writing else 0.0, parts=min(parts, float(objects)),
        shared_pages=_shared(call, one, work) if call.writing and not before else 0.0,
        absent=1 / ranks if before else 0.0,
    )  # fmt: skip


def _side_by_side(meeting: float, objects: float, everywhere: int) -> float:
    """Return the share of the time in which ranks are where they met at the beginning.

    For the rest of the time they are on all objects; see `spread`.
    """
    apart = 1 / max(everywhere, meeting)
    together = 1 / meeting - apart
    return (1 / objects - apart) / together if together > 0 else 1.0


def _meeting(call: OwnCall, size: float, work: Workload, together: _Simultaneous) -> AtOnce:
    """Return where ranks that proceed at the same time meet."""
    turned = call.layout.stripe_count * call.layout.stripe_size
    base = call.base % turned  # objects repeat
    return _met_at(
        call.geometry.pattern, base, size, work.ranks_per_node, together, call.layout
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _met_at(
    pattern: Pattern, base: int, size: float, ranks_per_node: int, together: _Simultaneous,
    layout: Layout,
) -> AtOnce:  # fmt: skip
    begins, ranks = begins_of(pattern, base)
    if together.turns > 1:
        chosen = np.argsort(begins, kind="stable")[:: max(begins.size // together.ranks, 1)]
        begins, ranks = begins[chosen], ranks[chosen]
    return at_once(begins, size, ranks // ranks_per_node, together.ranks, layout)


def _handovers(
    call: OwnCall, one: RankClass, work: Workload, together: _Simultaneous, meet: AtOnce,
    touched: float, objects: int, before: bool, side: float,
) -> float:  # fmt: skip
    """Return the share of requests that find an object's lock at another node.

    Requests of several nodes meet at an object at one moment; and the first request of a rank at
    an object finds the lock of the previous user. Before a sieved write that is the read of its
    window.
    """
    nodes = _nodes(call, work, together)
    met = handovers(meet.writers, min(meet.nodes, nodes))
    each = _met(call, one, 1.0, touched, objects)
    per_node = -(-together.ranks // nodes)
    of_node = _met(call, one, per_node, per_node * touched, objects)
    writers = max(together.ranks * each / objects, 1.0)
    stripes = _met(call, one, 1.0, touched, 1 << 62)
    others = handovers(writers, min(max(nodes * of_node / objects, 1.0), nodes))
    come = others * min(stripes / touched, 1.0)
    if _sieves(call, one):
        met = side * met + (1 - side) * (come if before else 0.0)
    met = max(met, come if before or not _sieves(call, one) else 0.0)
    if together.turns > 1 and before:  # the first requests of a turn
        met += (1 - met) * min(each / touched, 1.0) * (1 - 1 / work.nodes)
    return min(met, 1.0)


def _met(call: OwnCall, one: RankClass, ranks: float, touched: float, objects: int) -> float:
    """Return approximately how many objects some neighbouring ranks use.

    Args:
        call: The call.
        one: Class of the ranks.
        ranks: Number of ranks.
        touched: Number of stripes that their requests touch, counted for each request.
        objects: Number of objects in use.
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
    """Return the share of requests that begin or end in a page of another node."""
    within = unaligned(_granule(call, one))
    return within * crossing(call.geometry.neighbour, work.ranks_per_node, call.geometry.ranks)


# Data sieving: windows that are moved as a whole instead of many small pieces. Source: ROMIO,
# adio/common/ad_write_str.c, ad_read_str.c; adio/ad_lustre/ad_lustre_wrstr.c.

MOST_WINDOWS = 20_000
"""Maximum number of windows of one rank that are counted; further ones are taken as similar."""


@lru_cache(maxsize=4096)
def windows(
    shape: Regular, buffer: int, writing: bool, aligned_to: int = 0, phase: int = 0
) -> tuple[float, int]:
    """Return how many windows a rank moves, and their bytes.

    A window begins at the first byte that is not in one yet, and ends after `buffer` bytes, or at
    the next multiple of `aligned_to`, or at the rank's last byte; a read that continues within a
    piece may end later, as the earlier part of the piece is not subtracted.

    Args:
        shape: Set of bytes of the rank.
        buffer: Bytes of a window.
        writing: Whether data is written; otherwise it is read.
        aligned_to: Stripe size, if windows end at stripes; otherwise 0.
        phase: Offset of the shape's dataset in the file, modulo `aligned_to`.
    """
    at: int | None = shape.first
    count = moved = 0
    while at is not None and count < MOST_WINDOWS:
        if aligned_to:
            end = min(at + aligned_to - (at + phase) % aligned_to, shape.end)
        elif writing:
            end = min(at + buffer, shape.end)
        else:
            end = at + min(buffer, shape.end - shape.run_begin(at))
        count, moved = count + 1, moved + end - at
        at = shape.from_(end) if end < shape.end else None
    if at is None:
        return float(count), moved
    left = (shape.end - shape.first) / (at - shape.first)
    return count * left, round(moved * left)
