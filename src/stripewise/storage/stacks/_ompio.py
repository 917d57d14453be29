# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models OMPIO, the MPI-IO of Open MPI 4.1, and lists its single requests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import Pattern
from stripewise.storage.stacks._base import Ints, Setup, Stack
from stripewise.storage.stacks._exact import Moves, even_moves
from stripewise.storage.stacks._hints import first_of_groups
from stripewise.storage.stacks._ompio_phases import phases_of
from stripewise.storage.stacks._ompio_settings import (
    DEFAULT_VIEW,
    GEN2_STRIPE,
    NO_REFINEMENT,
    TUNABLES,
    Ompio,
    OmpioPattern,
    Stripes,
    aggregators,
    algorithm,
    apart,
    read_settings,
    stripe_aggregators,
)
from stripewise.storage.stacks._pieces import (
    Ranges,
    cut_at,
    file_numbers,
    in_order,
    merged,
    ranges_of,
    several,
    steps,
    steps_looked_at,
    times,
)
from stripewise.storage.stacks._romio import is_collective, through_view
from stripewise.storage.stacks._shared_file import shape_of
from stripewise.storage.stacks._workload import Phase, Requests, Workload


class OmpioStack(Stack):
    """OMPIO as built by Debian: it does not know Lustre, and always uses vulcan."""

    name = "ompio"
    summary = "OMPIO of Open MPI 4.1, on any file system"
    tunables = TUNABLES
    default = "vulcan"

    def stripes(self, setup: Setup) -> Stripes:
        """Return the stripes of a file that OMPIO knows from the file system."""
        del setup
        return Stripes()

    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        ompio = read_settings(setup)
        collective = algorithm(ompio, work.ranks, self.default)
        ways = dict.fromkeys((one.file, one.writing) for one in work.patterns)
        found = [
            phase
            for way in ways
            for phase in _opens(work.ranks, float(work.opens(*way)), writing=way[1])
        ]
        for one in steps_looked_at(work):
            fcoll = collective if is_collective(one.pattern) else "individual"
            job = OmpioPattern(one, shape_of(one.pattern, work), work, setup.layout, fcoll,
                      _adapted(one.pattern, ompio), self.stripes(setup))  # fmt: skip
            found += [times(phase, one.times) for phase in phases_of(job)]
        return merged(found, flowing=work.flowing)

    def requests(self, work: Workload, setup: Setup) -> Requests:
        ompio, numbers = read_settings(setup), file_numbers(work)
        collective = algorithm(ompio, work.ranks, self.default)
        tables, phase = [], 0
        for one in steps(work):
            pattern = one.pattern
            ranges = ranges_of(pattern)
            fcoll = collective if is_collective(pattern) else "individual"
            there = replace(ranges, offset=ranges.offset + one.base)
            moves = moves_of(there, work, fcoll, _adapted(pattern, ompio), self.stripes(setup),
                             writing=pattern.writing)  # fmt: skip
            tables.append(moves.table(phase, numbers[pattern.file]))
            phase += moves.rounds
        return in_order(tables)


def _opens(ranks: int, number: float, *, writing: bool) -> list[Phase]:
    """Return the phases of the opens of a file.

    Each rank creates a small file and removes it, to test whether the file system has locks
    (sharedfp_lockedfile_component.c), and queries the file system (fs_base_get_fstype). Rank 0
    opens the file before the others do. Source: measured, Open MPI 4.1.4.
    """
    others = {"open": ranks - 1} if ranks > 1 else {}
    steps = [{"create": ranks}, {"remove": ranks}, others, {"stat": ranks}, {"stat": ranks}]
    first = "create" if writing else "open"
    return [
        Phase("open", metadata={first: 1}),
        *([Phase("open", number - 1, metadata={"open": 1})] if number > 1 else []),
        *(Phase("open", number, metadata=one) for one in steps if one),
    ]


class OmpioLustre(OmpioStack):
    """OMPIO built with its component for Lustre, which uses dynamic_gen2 there."""

    name = "ompio-lustre"
    summary = "OMPIO of Open MPI 4.1 with its Lustre component"
    default = "dynamic_gen2"

    def stripes(self, setup: Setup) -> Stripes:
        return Stripes(setup.layout.stripe_count, setup.layout.stripe_size)


def _adapted(pattern: Pattern, ompio: Ompio) -> Ompio:
    """Return the parameters without data sieving if each piece is a separate call."""
    return ompio if through_view(pattern) else replace(ompio, read_sieving=False)


# Every single request of OMPIO: from the pieces of all ranks to calls of the file system. Source:
# Open MPI 4.1.4, ompi/mca/fcoll (vulcan, dynamic, dynamic_gen2, individual), ompi/mca/fbtl/posix
# (pwritev, preadv), ompi/mca/common/ompio (build_io_array).


def moves_of(
    ranges: Ranges, work: Workload, fcoll: str, ompio: Ompio, stripes: Stripes, *, writing: bool
) -> Moves:
    """Return the requests of one MPI-IO call.

    Args:
        ranges: Ranges of all ranks, at their places in the file.
        work: Workload, for ranks and nodes.
        fcoll: Algorithm; "individual" also for independent calls.
        ompio: Parameters of OMPIO.
        stripes: Stripes that the file system reports.
        writing: Whether data is written; otherwise it is read.
    """
    ranks = work.ranks
    if not ranges.rank.size:
        none = np.zeros(0, np.int64)
        return Moves(none, none, none, none, none.astype(np.bool_))
    if fcoll == "individual":
        rounds = in_rounds(ranges.rank, ranges, ompio.cycle_bytes)
        return _issued(rounds, ompio, writing=writing, sieving=not writing and ompio.read_sieving)
    if fcoll == "dynamic_gen2" and writing:
        return _gen2(ranges, ranks, ompio, stripes)
    if fcoll == "two_phase":
        chosen = apart(ompio, work, *_views(ranges, ranks))
        return even_moves(ranges, chosen, ompio.bytes_per_agg, 0, 0, writing)
    leaders = group_leaders(ranges, ranks, ompio)
    if fcoll == "vulcan" and writing:
        return _vulcan(ranges, ranks, leaders, ompio)
    group = leaders[np.searchsorted(leaders, ranges.rank, "right") - 1]
    rounds = in_rounds(group, ranges, ompio.bytes_per_agg)
    return _issued(rounds, ompio, writing=writing, sieving=not writing and ompio.read_sieving)


def group_leaders(ranges: Ranges, ranks: int, ompio: Ompio) -> Ints:
    """Return the aggregators: the first rank of each group of consecutive ranks."""
    if ompio.forced == -1 and ompio.grouping == NO_REFINEMENT:
        return _by_view(ranges, ranks)
    return first_of_groups(ranks, aggregators(ompio, ranks, *_views(ranges, ranks)))


def _views(ranges: Ranges, ranks: int) -> tuple[int, int]:
    """Return the mean piece of a file view, and the mean view, in bytes."""
    pieces = np.bincount(ranges.rank, minlength=ranks)
    view = np.bincount(ranges.rank, ranges.size, ranks).astype(np.int64)
    # A rank that moves nothing has the view of a newly opened file.
    piece = np.where(pieces > 0, view // np.maximum(pieces, 1), DEFAULT_VIEW)
    view = np.where(pieces > 0, view, DEFAULT_VIEW)
    return int(piece.sum()) // ranks, int(view.sum()) // ranks


def _by_view(ranges: Ranges, ranks: int) -> Ints:
    """Return groups of ranks, each beginning where the previous one ends its first piece."""
    begin, end = np.zeros(ranks, np.int64), np.zeros(ranks, np.int64)
    first = np.flatnonzero(np.diff(ranges.rank, prepend=-1))
    begin[ranges.rank[first]] = ranges.offset[first]
    end[ranges.rank[first]] = (ranges.offset + ranges.size)[first]
    return np.append(0, 1 + np.flatnonzero(begin[1:] != end[:-1]))


def _vulcan(ranges: Ranges, ranks: int, leaders: Ints, ompio: Ompio) -> Moves:
    """Return the requests of vulcan: equal shares of the range, counted from byte 0."""
    everyone = np.unique(ranges.rank).size == ranks
    low = int(ranges.offset.min()) if everyone else 0
    span = int((ranges.offset + ranges.size).max()) - low
    share = -(-span // leaders.size)
    cut = cut_at(ranges, share)
    owner = leaders[cut.offset // share % leaders.size]
    rounds = in_rounds(owner, cut, max(1, ompio.bytes_per_agg // 2))
    cycles = int(rounds.round.max()) + 1
    sieving = ompio.waits(cycles) and ompio.write_sieving
    return _issued(rounds, ompio, writing=True, sieving=sieving)


def _gen2(ranges: Ranges, ranks: int, ompio: Ompio, stripes: Stripes) -> Moves:
    """Return the requests of dynamic_gen2: stripes go to aggregators in turn, a call for each."""
    size = stripes.size or GEN2_STRIPE
    count = stripe_aggregators(ompio, stripes, ranks)
    leaders = np.arange(count, dtype=np.int64) * ranks // count
    cut = cut_at(ranges, size)
    owner = leaders[cut.offset // size % count]
    rounds = in_rounds(owner, cut, max(1, ompio.bytes_per_agg // 2))
    apart = cut_at(Ranges(np.arange(rounds.owner.size), rounds.offset, rounds.size), size)
    row, place = apart.rank, apart.offset // size
    # The number of calls of a round keeps stripes apart; it is divided out afterwards.
    turn = rounds.round[row]
    step = int(place.max()) + 1
    split = Rounds(rounds.owner[row], turn * step + place, apart.offset, apart.size)
    calls = _issued(split, ompio, writing=True, sieving=ompio.write_sieving)
    return replace(calls, round=calls.round // step)


def _issued(rounds: Rounds, ompio: Ompio, *, writing: bool, sieving: bool) -> Moves:
    """Return the calls for the pieces of each round: unchanged, or sieved."""
    first = rounds.first
    count = np.diff(np.append(first, rounds.owner.size))
    last = first + count - 1
    gap = (rounds.offset[last] - rounds.offset[first]) // count
    block = np.add.reduceat(rounds.size, first) // count
    sieved = sieving & (count > 1) & (gap > 0) & (block <= ompio.max_block)
    sieved &= gap <= ompio.max_gap
    each = np.repeat(sieved, count)
    plain = Moves(
        rounds.owner[~each], rounds.round[~each], rounds.offset[~each], rounds.size[~each],
        np.full(np.count_nonzero(~each), writing),
    )  # fmt: skip
    if not sieved.any():
        return plain
    begins = _buffers(rounds, first[sieved], last[sieved] + 1, ompio.max_buffer)
    low, high = begins[:, 0], begins[:, 1] - 1
    begin = rounds.offset[low]
    size = rounds.offset[high] + rounds.size[high] - begin
    ways = np.asarray([False, True] if writing else [False])
    each = np.repeat(np.arange(low.size), ways.size)
    blocks = Moves(
        rounds.owner[low][each], rounds.round[low][each], begin[each], size[each],
        np.tile(ways, low.size),
    )  # fmt: skip
    both = Moves.together((plain, blocks))
    return both.take(np.lexsort((both.writing, both.offset, both.round, both.rank)))


def _buffers(rounds: Rounds, first: Ints, end: Ints, most: int) -> Ints:
    """Return first and end of the pieces of each buffer of data sieving: (n_buffers, 2)."""
    found = []
    reach = rounds.offset + rounds.size
    for low, high in zip(first.tolist(), end.tolist(), strict=True):
        at = low
        while at < high:
            fits = np.searchsorted(reach[at:high], rounds.offset[at] + most, "right")
            found.append((at, at + max(1, int(fits))))
            at += max(1, int(fits))
    return np.asarray(found, np.int64)


# Streams: the pieces that one process moves in the order of the file, cut into rounds.


@dataclass(frozen=True, eq=False)
class Rounds:
    """Pieces of processes, by process, round and offset; adjacent ones are joined.

    Attributes:
        owner / round / offset / size: (n,) int64.
    """

    owner: Ints
    round: Ints
    offset: Ints
    size: Ints

    @property
    def first(self) -> Ints:
        """Indices where the pieces of another process or round begin: (n_calls,) int64."""
        change = np.ones(self.owner.size, np.bool_)
        change[1:] = (self.owner[1:] != self.owner[:-1]) | (self.round[1:] != self.round[:-1])
        return np.flatnonzero(change)


def in_rounds(owner: Ints, ranges: Ranges, most: int) -> Rounds:
    """Return what each owner moves: its pieces by offset, `most` bytes in each round.

    Args:
        owner: (n,) int64, process that moves the range.
        ranges: Ranges in any order.
        most: Bytes of a round.
    """
    order = np.lexsort((ranges.offset, owner))
    owner, offset, size = owner[order], ranges.offset[order], ranges.size[order]
    before = np.cumsum(size) - size
    before -= before[np.searchsorted(owner, owner)]
    row, index = several(-(-(before + size) // most) - before // most)
    turn = before[row] // most + index
    begin = np.maximum(before[row], turn * most)
    end = np.minimum((before + size)[row], (turn + 1) * most)
    return _touching(Rounds(owner[row], turn, offset[row] + begin - before[row], end - begin))


def _touching(rounds: Rounds) -> Rounds:
    """Join pieces that follow each other in the file and in one round."""
    if not rounds.owner.size:
        return rounds
    new: NDArray[np.bool_] = np.ones(rounds.owner.size, np.bool_)
    new[1:] = (
        (rounds.owner[1:] != rounds.owner[:-1])
        | (rounds.round[1:] != rounds.round[:-1])
        | (rounds.offset[1:] != rounds.offset[:-1] + rounds.size[:-1])
    )
    first = np.flatnonzero(new)
    size = np.add.reduceat(rounds.size, first)
    return Rounds(rounds.owner[first], rounds.round[first], rounds.offset[first], size)
