# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls request by request: the aggregators' windows, and reads for their holes.

Source: ROMIO, adio/common/ad_write_coll.c, ad_read_coll.c; adio/ad_lustre/ad_lustre_wrcoll.c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.simulation._requests import REQUEST_DTYPE, Requests
from stripewise.simulation.stacks._aggregators import Aggregators
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._even import domains
from stripewise.simulation.stacks._pieces import Ints, Ranges
from stripewise.simulation.stacks._union import Union, several


@dataclass(frozen=True, eq=False)
class Moves:
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
        """Return them as requests; `order` is left 0."""
        found = np.zeros(self.rank.size, REQUEST_DTYPE)
        found["rank"], found["offset"], found["size"] = self.rank, self.offset, self.size
        found["phase"], found["file"], found["writing"] = phase + self.round, file, self.writing
        return found

    @property
    def rounds(self) -> int:
        """How many rounds there are, at least 1."""
        return int(self.round.max(initial=0)) + 1


def _moves(rank: Ints, round_: Ints, offset: Ints, size: Ints, read_too: np.ndarray) -> Moves:
    """Return writes, those of `read_too` with a read of the same bytes before."""
    row = np.concatenate((np.flatnonzero(read_too), np.arange(rank.size)))
    writing = np.arange(row.size) >= row.size - rank.size
    order = np.lexsort((writing, offset[row], round_[row]))
    row = row[order]
    return Moves(rank[row], round_[row], offset[row], size[row], writing[order])


def even_moves(
    ranges: Ranges, aggregators: Aggregators, buffer: int, unit: int, least: int, writing: bool
) -> Moves:
    """Return the requests of a call with equal, contiguous shares.

    Args:
        ranges: What all ranks move, in the file.
        aggregators: Who has the shares.
        buffer: Bytes of a round.
        unit: What shares are aligned to; 0: nothing.
        least: Least bytes of a share.
        writing: Otherwise reading.
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
    if writing:
        return _moves(rank, round_[some], offset[some], size[some], holes)
    none = np.zeros_like(holes)
    order = np.lexsort((offset[some], round_[some]))
    return Moves(rank[order], round_[some][order], offset[some][order], size[some][order], none)


def cyclic_moves(
    ranges: Ranges, aggregators: Aggregators, count: int, layout: Layout, sieves: bool,
    writing: bool = True,
) -> Moves:  # fmt: skip
    """Return the requests of a call in which stripe i belongs to aggregator i mod `count`.

    Args:
        ranges: What all ranks move, in the file.
        aggregators: Who has the stripes.
        count: Aggregators that are used.
        layout: Of the file.
        sieves: Holes are read first; otherwise each piece is a request.
        writing: Otherwise reading.
    """
    union, size = Union.of(ranges), layout.stripe_size
    first = int(union.start[0]) // size
    stripe = np.arange(first, -(-int(union.end[-1]) // size))
    data = union.below((stripe + 1) * size) - union.below(stripe * size)
    stripe, data = stripe[data > 0], data[data > 0]
    begin, end = union.from_(stripe * size), (stripe + 1) * size
    owner = stripe % count
    last = stripe.size - 1 - np.unique(owner[::-1], return_index=True)[1]
    end[last] = union.up_to(end[last])
    round_ = (stripe - first) // count
    holes = data < end - begin
    rank = aggregators.rank(owner)
    none = np.zeros_like(holes)
    if not writing:
        order = np.lexsort((begin, round_))
        return Moves(rank[order], round_[order], begin[order], (end - begin)[order], none)
    if sieves:
        return _moves(rank, round_, begin, end - begin, holes)
    piece_begin, piece_end, of = _pieces_in(union, begin, end, holes)
    whole = Moves(
        np.concatenate((rank[~holes], rank[of])),
        np.concatenate((round_[~holes], round_[of])),
        np.concatenate((begin[~holes], piece_begin)),
        np.concatenate(((end - begin)[~holes], piece_end - piece_begin)),
        np.ones((~holes).sum() + of.size, np.bool_),
    )
    order = np.lexsort((whole.offset, whole.round))
    return Moves(
        whole.rank[order], whole.round[order], whole.offset[order], whole.size[order],
        whole.writing,
    )  # fmt: skip


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
