# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models collective and independent calls request by request, with reads for holes.

Source: ROMIO, adio/common/ad_write_coll.c, ad_read_coll.c; adio/ad_lustre/ad_lustre_wrcoll.c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stripewise.storage.stacks._base import Ints, Layout
from stripewise.storage.stacks._hints import Aggregators
from stripewise.storage.stacks._pieces import Columns, Ranges, Union, cut_at, several, split
from stripewise.storage.stacks._two_phase import domains
from stripewise.storage.stacks._workload import REQUEST_DTYPE, Requests


@dataclass(frozen=True, eq=False)
class Moves(Columns):
    """Requests of one call; those of a rank are in order.

    Attributes:
        rank / round / offset / size: (n,) int64.
        writing: (n,) bool.
    """

    rank: Ints
    round: Ints
    offset: Ints
    size: Ints
    writing: np.ndarray

    def table(self, phase: int, file: int) -> Requests:
        """Return the requests as a table; `order` remains 0."""
        found = np.zeros(self.rank.size, REQUEST_DTYPE)
        found["rank"], found["offset"], found["size"] = self.rank, self.offset, self.size
        found["phase"], found["file"], found["writing"] = phase + self.round, file, self.writing
        return found

    @property
    def rounds(self) -> int:
        """Number of rounds, at least 1."""
        return int(self.round.max(initial=0)) + 1


def _moves(
    rank: Ints, round_: Ints, offset: Ints, size: Ints, holes: np.ndarray, writing: bool
) -> Moves:
    """Return requests by round and offset; before writes with holes, reads of the same bytes."""
    reads = np.flatnonzero(holes & writing)
    row = np.concatenate((reads, np.arange(rank.size)))
    writes = (np.arange(row.size) >= reads.size) & writing
    order = np.lexsort((writes, offset[row], round_[row]))
    row = row[order]
    return Moves(rank[row], round_[row], offset[row], size[row], writes[order])


def even_moves(
    ranges: Ranges, aggregators: Aggregators, buffer: int, unit: int, least: int, writing: bool
) -> Moves:
    """Return the requests of a call with equal, contiguous shares.

    Args:
        ranges: Ranges in the file that all ranks move.
        aggregators: Aggregators that have the shares.
        buffer: Bytes of a round.
        unit: Alignment of shares; 0 without.
        least: Minimum bytes of a share.
        writing: Whether data is written; otherwise it is read.
    """
    union = Union.of(ranges)
    ends = domains(int(union.start[0]), int(union.end[-1]), aggregators.count, unit, least)
    used = np.flatnonzero(np.diff(union.below(ends)) > 0)
    first, last = union.from_(ends[used]), union.up_to(ends[used + 1])
    share, round_ = several(-(-(last - first) // buffer))
    offset = first[share] + round_ * buffer
    size = np.minimum(buffer, last[share] - offset)
    data = union.below(offset + size) - union.below(offset)
    some = data > 0
    rank = aggregators.rank(used[share[some]])
    holes = (data < size)[some]
    return _moves(rank, round_[some], offset[some], size[some], holes, writing)


def cyclic_moves(
    ranges: Ranges, aggregators: Aggregators, layout: Layout, sieves: bool, writing: bool
) -> Moves:  # fmt: skip
    """Return the requests of a call in which stripe i belongs to aggregator i mod their number.

    Args:
        ranges: Ranges in the file that all ranks move.
        aggregators: Aggregators that have the stripes.
        layout: Layout of the file.
        sieves: Whether holes are read first; otherwise each piece is a request.
        writing: Whether data is written; otherwise it is read.
    """
    union, size = Union.of(ranges), layout.stripe_size
    first = int(union.start[0]) // size
    stripe = np.arange(first, -(-int(union.end[-1]) // size))
    data = union.below((stripe + 1) * size) - union.below(stripe * size)
    stripe, data = stripe[data > 0], data[data > 0]
    begin, end = union.from_(stripe * size), (stripe + 1) * size
    owner = stripe % aggregators.count
    last = stripe.size - 1 - np.unique(owner[::-1], return_index=True)[1]
    end[last] = union.up_to(end[last])
    round_ = (stripe - first) // aggregators.count
    holes = data < end - begin
    rank = aggregators.rank(owner)
    if sieves or not writing:
        return _moves(rank, round_, begin, end - begin, holes, writing)
    piece_begin, piece_end, of = _pieces_in(union, begin, end, holes)
    window = np.concatenate((np.flatnonzero(~holes), of))
    low = np.concatenate((begin[~holes], piece_begin))
    high = np.concatenate((end[~holes], piece_end))
    none = np.zeros(window.size, np.bool_)
    return _moves(rank[window], round_[window], low, high - low, none, writing)


def _pieces_in(
    union: Union, begin: Ints, end: Ints, chosen: np.ndarray
) -> tuple[Ints, Ints, Ints]:
    """Return the pieces of some windows: begin, end, and the window of each."""
    window = np.flatnonzero(chosen)
    low = np.searchsorted(union.end, begin[window], side="right")
    high = np.searchsorted(union.start, end[window], side="left")
    row, number = several(high - low)
    piece, of = low[row] + number, window[row]
    return np.maximum(union.start[piece], begin[of]), np.minimum(union.end[piece], end[of]), of


# Calls that each rank carries out by itself, request by request: pieces, or sieved windows.
# Source: ROMIO, adio/common/ad_write_str.c, ad_read_str.c; adio/ad_lustre/ad_lustre_wrstr.c.


def rows_of(ranges: Ranges, run: int) -> Ranges:
    """Return the ranges cut after every `run` bytes, as rows of a buffer; 0: unchanged."""
    return split(ranges, run) if run else ranges


def piece_moves(ranges: Ranges, writing: bool, stripe_size: int = 0) -> Moves:
    """Return a request for each contiguous piece, cut at stripes if their size is given."""
    cut = cut_at(ranges, stripe_size) if stripe_size else ranges
    return _one_round(cut.rank, cut.offset, cut.size, np.full(cut.rank.size, writing))


def sieved_moves(
    ranges: Ranges, writing: bool, buffer: int, stripe_size: int = 0, gaps: bool = False
) -> Moves:
    """Return the windows of data sieving; a rank with one piece moves only that.

    Args:
        ranges: Ranges in the file that all ranks move.
        writing: Whether windows are read, changed and written back.
        buffer: Bytes of a window.
        stripe_size: If not 0, windows end at stripes instead, and single pieces are cut there.
        gaps: Whether buffers have gaps, so that single pieces are windows too.
    """
    ranks, first = np.unique(ranges.rank, return_index=True)
    after = np.append(first[1:], ranges.rank.size)
    single = (after - first == 1) & (not gaps)
    lone = np.isin(ranges.rank, ranks[single])
    moves = [piece_moves(ranges.take(lone), writing, stripe_size)]
    many = ~single
    if many.any():
        sieved = _windows(ranges, first[many], after[many], writing, buffer, stripe_size)
        if writing:
            last = ranges.offset[after - 1] + ranges.size[after - 1]
            turn = turns(ranges.offset[first[many]], last[many])
            place = np.searchsorted(ranks[many], sieved.rank)
            sieved = replace(sieved, round=turn[place])
        moves.append(sieved)
    return Moves.together(moves)


def turns(begin: Ints, end: Ints) -> Ints:
    """Return when each range may be locked: after all earlier overlapping ones; (n,) int64.

    A sieved write locks the rank's whole range (ADIOI_WRITE_LOCK); the order of arrival is
    unknown, so the order of ranks is used.
    """
    turn = np.zeros(begin.size, np.int64)
    for rank in range(1, begin.size):
        meets = (begin[:rank] < end[rank]) & (end[:rank] > begin[rank])
        turn[rank] = turn[:rank][meets].max(initial=-1) + 1
    return turn


def _windows(
    ranges: Ranges, first: Ints, after: Ints, writing: bool, buffer: int, stripe_size: int
) -> Moves:
    """Return the windows of ranks whose pieces are `first` to `after`, all ranks side by side.

    A read that continues within a piece is shorter than `buffer` by the part that it has of the
    piece only at the end of the rank's range: elsewhere it may read beyond the piece, as ROMIO
    does.
    """
    begin, end = ranges.offset, ranges.offset + ranges.size
    piece, at, last = first.copy(), begin[first], end[after - 1]
    rank, found = ranges.rank[first], []
    while piece.size:
        if stripe_size:
            size = np.minimum(stripe_size - at % stripe_size, last - at)
        elif writing:
            size = np.minimum(buffer, last - at)
        else:
            size = np.minimum(buffer, last - begin[piece])
        found.append((rank, at, size))
        reach = at + size
        piece = piece + _passed(end, piece, after, reach)
        left = piece < after
        piece, after, last, rank = piece[left], after[left], last[left], rank[left]
        at = np.maximum(begin[piece], reach[left])
    rank, at, size = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.lexsort((at, rank))
    rank, at, size = rank[order], at[order], size[order]
    if not writing:
        return _one_round(rank, at, size, np.zeros(rank.size, np.bool_))
    twice = np.repeat(np.arange(rank.size), 2)
    return _one_round(rank[twice], at[twice], size[twice], np.arange(twice.size) % 2 == 1)


def _passed(end: Ints, piece: Ints, after: Ints, reach: Ints) -> Ints:
    """Return how many pieces from `piece` on, before `after`, end at or before `reach`."""
    low, high = piece.copy(), after.copy()
    while (low < high).any():
        middle = (low + high) // 2
        done = (low < high) & (end[np.minimum(middle, end.size - 1)] <= reach)
        low, high = np.where(done, middle + 1, low), np.where(done, high, np.minimum(high, middle))
    return low - piece


def _one_round(rank: Ints, offset: Ints, size: Ints, writing: np.ndarray) -> Moves:
    return Moves(rank, np.zeros(rank.size, np.int64), offset, size, writing)
