# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls request by request: the aggregators' windows, and reads for their holes.

Source: ROMIO, adio/common/ad_write_coll.c, ad_read_coll.c; adio/ad_lustre/ad_lustre_wrcoll.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stripewise.simulation._requests import REQUEST_DTYPE, Requests
from stripewise.simulation.stacks._aggregators import Aggregators
from stripewise.simulation.stacks._base import Ints, Layout
from stripewise.simulation.stacks._even import domains
from stripewise.simulation.stacks._pieces import Ranges, several
from stripewise.simulation.stacks._union import Union


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

    @classmethod
    def together(cls, parts: Sequence[Moves]) -> Moves:
        """Return those of several tables, one after another."""
        columns = ([getattr(one, name) for one in parts] for name in cls.__dataclass_fields__)
        return cls(*map(np.concatenate, columns))

    def take(self, chosen: np.ndarray) -> Moves:
        """Return some of them, in that order."""
        columns = (getattr(self, name)[chosen] for name in self.__dataclass_fields__)
        return Moves(*columns)

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
    return _moves(rank, round_[some], offset[some], size[some], holes, writing)


def cyclic_moves(
    ranges: Ranges, aggregators: Aggregators, layout: Layout, sieves: bool, writing: bool
) -> Moves:  # fmt: skip
    """Return the requests of a call in which stripe i belongs to aggregator i mod their number.

    Args:
        ranges: What all ranks move, in the file.
        aggregators: Who has the stripes.
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
