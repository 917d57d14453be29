# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What two-phase I/O in classes has in common, whoever aggregates what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.simulation._requests import Flow, Phase
from stripewise.simulation.stacks._aggregators import Aggregators
from stripewise.simulation.stacks._base import Ints, Layout
from stripewise.simulation.stacks._regular import Regular

MOST_WINDOWS = 4096
"""Where data has holes, so many windows are looked at; of more, as many spread over all."""

HOLES = "read what lies in holes"
"""Name of the phase before a write whose data has holes."""


def spread(total: int) -> Ints:
    """Return the windows that are looked at, ascending: all, or one in each of many intervals.

    The place in the interval varies, so that it does not keep step with a regular pattern.
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
        union: What all ranks move, relative to `base`.
        base: Where the dataset begins.
        writing: Otherwise reading.
        aggregators: Who moves it.
        layout: Of the file.
        ranks: That take part in the exchange.
    """

    union: Regular
    base: int
    writing: bool
    aggregators: Aggregators
    layout: Layout
    ranks: int

    @property
    def low(self) -> int:
        """The first byte in the file."""
        return self.base + self.union.first

    @property
    def high(self) -> int:
        """One past the last byte in the file."""
        return self.base + self.union.end

    def phase(self, repeats: float, flows: tuple[Flow, ...], exchanged: float) -> Phase:
        """Return rounds of exchange and requests.

        Args:
            repeats: How many.
            flows: Requests of one round.
            exchanged: Bytes of an aggregator in one round.
        """
        name = "two-phase write" if self.writing else "two-phase read"
        nodes = self.aggregators.nodes_of(sum(one.processes for one in flows))
        return Phase(name, repeats, flows, exchanged, self.ranks, nodes=nodes)


def last_below(union: Regular, offset: int) -> int:
    """Return one past the last byte of a set that lies before an offset; it must have one."""
    low, high = union.first, min(offset, union.end)
    wanted = int(union.below(np.array([high]))[0])
    while low < high:
        middle = (low + high) // 2
        if int(union.below(np.array([middle]))[0]) >= wanted:
            high = middle
        else:
            low = middle + 1
    return high
