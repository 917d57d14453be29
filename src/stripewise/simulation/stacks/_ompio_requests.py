# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every single request of OMPIO: from the pieces of all ranks to calls of the file system.

Source: Open MPI 4.1.4, ompi/mca/fcoll (vulcan, dynamic, dynamic_gen2, individual),
ompi/mca/fbtl/posix (pwritev, preadv), ompi/mca/common/ompio (build_io_array).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._aggregators import first_of_groups
from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._exact import Moves, even_moves
from stripewise.simulation.stacks._ompio_settings import (
    DEFAULT_VIEW,
    GEN2_STRIPE,
    NO_REFINEMENT,
    Ompio,
    Stripes,
    aggregators,
    apart,
    stripe_aggregators,
)
from stripewise.simulation.stacks._pieces import Ranges, cut_at
from stripewise.simulation.stacks._streams import Rounds, in_rounds


def moves_of(
    ranges: Ranges, work: Workload, fcoll: str, ompio: Ompio, stripes: Stripes, *, writing: bool
) -> Moves:
    """Return the requests of one MPI-IO call.

    Args:
        ranges: Of all ranks, at their places in the file.
        work: Ranks and nodes.
        fcoll: Algorithm; "individual" for independent calls too.
        ompio: Parameters.
        stripes: What the file system tells.
        writing: Otherwise reading.
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
    """Return the aggregators: the first rank of each group of successive ranks."""
    if ompio.forced == -1 and ompio.grouping == NO_REFINEMENT:
        return _by_view(ranges, ranks)
    return first_of_groups(ranks, aggregators(ompio, ranks, *_views(ranges, ranks)))


def _views(ranges: Ranges, ranks: int) -> tuple[int, int]:
    """Return the mean piece of a file view, and the mean view, bytes."""
    pieces = np.bincount(ranges.rank, minlength=ranks)
    view = np.bincount(ranges.rank, ranges.size, ranks).astype(np.int64)
    # A rank that moves nothing has the view of a file that was just opened.
    piece = np.where(pieces > 0, view // np.maximum(pieces, 1), DEFAULT_VIEW)
    view = np.where(pieces > 0, view, DEFAULT_VIEW)
    return int(piece.sum()) // ranks, int(view.sum()) // ranks


def _by_view(ranges: Ranges, ranks: int) -> Ints:
    """Groups of ranks of which each begins where the one before ends its first piece."""
    begin, end = np.zeros(ranks, np.int64), np.zeros(ranks, np.int64)
    first = np.flatnonzero(np.diff(ranges.rank, prepend=-1))
    begin[ranges.rank[first]] = ranges.offset[first]
    end[ranges.rank[first]] = (ranges.offset + ranges.size)[first]
    return np.append(0, 1 + np.flatnonzero(begin[1:] != end[:-1]))


def _vulcan(ranges: Ranges, ranks: int, leaders: Ints, ompio: Ompio) -> Moves:
    """The range of all is cut evenly; shares are counted from byte 0 of the file."""
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
    """Stripes go to aggregators in turn, and each stripe of a cycle is a call of its own."""
    size = stripes.size or GEN2_STRIPE
    count = stripe_aggregators(ompio, stripes, ranks)
    leaders = np.arange(count, dtype=np.int64) * ranks // count
    cut = cut_at(ranges, size)
    owner = leaders[cut.offset // size % count]
    rounds = in_rounds(owner, cut, max(1, ompio.bytes_per_agg // 2))
    apart = cut_at(Ranges(np.arange(rounds.owner.size), rounds.offset, rounds.size), size)
    row, place = apart.rank, apart.offset // size
    # The number of calls of a round keeps stripes apart; it is given back afterwards.
    turn = rounds.round[row]
    step = int(place.max()) + 1
    split = Rounds(rounds.owner[row], turn * step + place, apart.offset, apart.size)
    calls = _issued(split, ompio, writing=True, sieving=ompio.write_sieving)
    return replace(calls, round=calls.round // step)


def _issued(rounds: Rounds, ompio: Ompio, *, writing: bool, sieving: bool) -> Moves:
    """Return the calls for pieces of a round each: as they are, or sieved."""
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
