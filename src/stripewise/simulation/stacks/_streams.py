# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Streams: the pieces that one process moves in the order of the file, cut into rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._pieces import Ranges, several


@dataclass(frozen=True, eq=False)
class Rounds:
    """Pieces of processes, by process, round and offset; those that touch are one.

    Attributes:
        owner / round / offset / size: (n,) int64.
    """

    owner: Ints
    round: Ints
    offset: Ints
    size: Ints

    @property
    def first(self) -> Ints:
        """Where the pieces of another process or round begin: (n_calls,) int64."""
        change = np.ones(self.owner.size, np.bool_)
        change[1:] = (self.owner[1:] != self.owner[:-1]) | (self.round[1:] != self.round[:-1])
        return np.flatnonzero(change)


def in_rounds(owner: Ints, ranges: Ranges, most: int) -> Rounds:
    """Return what each owner moves: its pieces by offset, `most` bytes in each round.

    Args:
        owner: (n,) int64, who moves the range.
        ranges: Of any ranks.
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
    """Return pieces that follow each other in the file and in one round as one."""
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
