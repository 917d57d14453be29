# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Calls that each rank carries out by itself, request by request: pieces, or sieved windows.

Source: ROMIO, adio/common/ad_write_str.c, ad_read_str.c; adio/ad_lustre/ad_lustre_wrstr.c.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._exact import Moves
from stripewise.simulation.stacks._pieces import Ranges, cut_at, split


def rows_of(ranges: Ranges, run: int) -> Ranges:
    """Return the ranges cut after every `run` bytes, as the rows of a buffer; 0: as they are."""
    return split(ranges, run) if run else ranges


def piece_moves(ranges: Ranges, writing: bool, stripe_size: int = 0) -> Moves:
    """Return a request for each contiguous piece, cut at stripes if their size is given."""
    cut = cut_at(ranges, stripe_size) if stripe_size else ranges
    return _all(cut.rank, cut.offset, cut.size, np.full(cut.rank.size, writing))


def sieved_moves(
    ranges: Ranges, writing: bool, buffer: int, stripe_size: int = 0, gaps: bool = False
) -> Moves:
    """Return the windows of data sieving; a rank with one piece moves just that.

    Args:
        ranges: What all ranks move, in the file.
        writing: Windows are read, changed and written back.
        buffer: Bytes of a window.
        stripe_size: Windows end at stripes instead, and single pieces are cut there; 0: not.
        gaps: Buffers have some: single pieces are windows too.
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
    """Return when each range may be locked: after all earlier ones that it overlaps; (n,) int64.

    A write that is sieved locks the rank's whole range (ADIOI_WRITE_LOCK); who comes first is
    not said, so ranks come in order.
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

    A read that goes on in the middle of a piece takes `buffer` bytes less what it has of the
    piece only where the rank's range ends: it may read beyond it, as ROMIO's does.
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
        return _all(rank, at, size, np.zeros(rank.size, np.bool_))
    twice = np.repeat(np.arange(rank.size), 2)
    return _all(rank[twice], at[twice], size[twice], np.arange(twice.size) % 2 == 1)


def _passed(end: Ints, piece: Ints, after: Ints, reach: Ints) -> Ints:
    """Return how many pieces from `piece` on, before `after`, end at or before `reach`."""
    low, high = piece.copy(), after.copy()
    while (low < high).any():
        middle = (low + high) // 2
        done = (low < high) & (end[np.minimum(middle, end.size - 1)] <= reach)
        low, high = np.where(done, middle + 1, low), np.where(done, high, np.minimum(high, middle))
    return low - piece


def _all(rank: Ints, offset: Ints, size: Ints, writing: np.ndarray) -> Moves:
    return Moves(rank, np.zeros(rank.size, np.int64), offset, size, writing)
