# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Resources that different classes of processes use at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple


class Crowd(NamedTuple):
    """How the processes of one class meet at a resource that there are several of.

    Attributes:
        number: Processes, or pairs of a process and an object.
        busiest: Of them, those at the instance that most of them use.
        instances: Over which they can spread.
        seconds: For which all at the busiest instance use it.
    """

    number: float
    busiest: float
    instances: float
    seconds: float

    @property
    def each(self) -> float:
        """Seconds for which one of them uses it."""
        return self.seconds / self.busiest if self.busiest else 0.0


def busiest_together(crowds: Sequence[Crowd], instances: float = 0.0) -> float:
    """Return for how long the instance is used that is used most, by all classes together.

    Processes of different classes lie beside each other: an instance has as many of them as it
    would have if all were equal, and the busiest one has those that take longest.

    Args:
        crowds: Of each class.
        instances: Over which all of them spread; 0: as many as the class that has most.
    """
    spread = max(instances, *(one.instances for one in crowds))
    number = sum(one.number for one in crowds)
    left = max(float(ceil(number / spread)), *(one.busiest for one in crowds))
    seconds = 0.0
    for one in sorted(crowds, key=lambda one: -one.each):
        taken = min(left, one.number)
        seconds, left = seconds + taken * one.each, left - taken
    return max(seconds, *(one.seconds for one in crowds))
