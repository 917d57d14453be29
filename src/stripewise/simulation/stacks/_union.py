# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Byte ranges that several ranks have together, and what lies where; every one by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._pieces import Ranges, joined


@dataclass(frozen=True, eq=False)
class Union:
    """Byte ranges that do not touch, by offset.

    Attributes:
        start / end: (n,) int64, bytes.
    """

    start: Ints
    end: Ints

    @classmethod
    def of(cls, ranges: Ranges) -> Union:
        """Put the ranges of all ranks together."""
        one = joined(Ranges(np.zeros_like(ranges.rank), ranges.offset, ranges.size))
        return cls(one.offset, one.offset + one.size)

    @cached_property
    def _before(self) -> Ints:
        return np.concatenate(([0], np.cumsum(self.end - self.start)))

    def below(self, offset: Ints) -> Ints:
        """Return how many bytes of the ranges lie before each offset."""
        place = np.searchsorted(self.start, offset, side="right") - 1
        inside = np.maximum(place, 0)
        within = np.clip(offset - self.start[inside], 0, (self.end - self.start)[inside])
        return np.where(place >= 0, self._before[inside] + within, 0)

    def from_(self, offset: Ints) -> Ints:
        """Return the first byte of the ranges at or after each offset; there must be one."""
        place = np.searchsorted(self.end, offset, side="right")
        return np.maximum(self.start[np.minimum(place, self.start.size - 1)], offset)

    def up_to(self, offset: Ints) -> Ints:
        """Return one past the last byte of the ranges before each offset; there must be one."""
        place = np.searchsorted(self.start, offset, side="left") - 1
        return np.minimum(self.end[np.maximum(place, 0)], offset)
