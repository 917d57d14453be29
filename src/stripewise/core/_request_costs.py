# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the costs of requests as intervals, and computes costs of transfers from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

MIB = 1 << 20
SIZED = ("write", "read", "sync")
"""Operations whose cost is tabulated by size."""


class Interval(NamedTuple):
    """Duration in seconds: lower bound, expected value, upper bound."""

    low: float
    middle: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """Return the interval times a number of at least 0."""
        return Interval(self.low * factor, self.middle * factor, self.high * factor)

    def widened(self, factor: float) -> Interval:
        """Return the interval with its ends moved away from the middle by a factor."""
        return Interval(self.low / factor, self.middle, self.high * factor)

    def plus(self, other: Interval) -> Interval:
        """Return the sum, in which both may be at their bounds at the same time."""
        return Interval(self.low + other.low, self.middle + other.middle, self.high + other.high)

    def minus(self, other: Interval) -> Interval:
        """Return the difference, in which both may be at their bounds at the same time."""
        return Interval(self.low - other.high, self.middle - other.middle, self.high - other.low)


def around(seconds: float, spread: float) -> Interval:
    """Return a duration plus or minus a share of it."""
    return Interval(seconds * max(0.0, 1 - spread), seconds, seconds * (1 + spread))


def interval_of(batches: Sequence[float]) -> Interval:
    """Return the lower quartile, median and upper quartile of a set of measured batches."""
    ordered = sorted(batches)
    last = len(ordered) - 1
    low, middle, high = (ordered[round(share * last)] for share in (0.25, 0.5, 0.75))
    return Interval(*(float(f"{end:.4g}") for end in (low, middle, high)))


ASSUMED_CALLS = {
    "open": Interval(1e-6, 1e-4, 5e-3),
    "create": Interval(1e-5, 3e-4, 1e-2),
    "stat": Interval(3e-7, 2e-5, 2e-3),
    "unlink": Interval(3e-6, 1e-4, 1e-2),
    "sync": Interval(1e-4, 1e-2, 1e-1),
}
"""Costs of calls if nothing was measured: from a local disk to a busy parallel file system.
Assumed."""

ASSUMED_RATE = (float(4 << 30), float(1 << 30), float(100 << 20))
"""Bytes per second of one process in large requests: best, expected, worst. Assumed."""

ASSUMED_REQUEST = (5e-7, 2e-5, 1e-3)
"""Fixed cost of a request in seconds, without its bytes. Assumed."""

COPY = Interval(1e-8, 3e-8, 1e-7)
"""Seconds to copy a few bytes into a buffer of the process: one function call. Assumed."""

LEAST_SPREAD, ASSUMED_SPREAD, MOST_SPREAD = 0.1, 0.3, 0.5


@dataclass(frozen=True)
class Exchange:
    """Costs of transfers of interleaved pieces by several ranks through file views.

    Attributes:
        stack: MPI-IO stack: "mpich", "openmpi" or "openmpi-romio".
        ranks: Number of ranks that took part.
        collective: Whether calls are collective; if not, each rank moves its own pieces.
        opening: Seconds to open and close a file collectively.
        write / read: Piece size in bytes to seconds per byte of all ranks.
    """

    stack: str
    ranks: int
    collective: bool
    opening: Interval
    write: Mapping[int, Interval] = field(default_factory=dict)
    read: Mapping[int, Interval] = field(default_factory=dict)


@dataclass(frozen=True)
class StorageCosts:
    """Costs of requests on one file system of one machine.

    Attributes:
        host / processors: Name of the machine and its number of processors.
        measured: Time of the measurement in seconds since 1970; 0 if every cost is assumed.
        write / read: Request size in bytes to seconds per request, in a new file and in the
            system's cache.
        sync: Bytes written before to seconds of one fsync.
        calls: Name of a call, "open" (with close), "create" (with close), "stat" or "unlink", to
            seconds.
        exchange: Costs for each stack, number of ranks and mode that was measured.
        disturbed: What disturbed the measurement, in words; empty if nothing did. The intervals
            of a disturbed measurement are wider.
    """

    host: str = ""
    processors: int = 0
    measured: float = 0.0
    write: Mapping[int, Interval] = field(default_factory=dict)
    read: Mapping[int, Interval] = field(default_factory=dict)
    sync: Mapping[int, Interval] = field(default_factory=dict)
    calls: Mapping[str, Interval] = field(default_factory=dict)
    exchange: Sequence[Exchange] = ()
    disturbed: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether the costs were measured rather than assumed."""
        return self.measured > 0

    @property
    def spread(self) -> float:
        """The noise of a measured time: half the relative width of these costs, 10 to 50 %."""
        if not self.is_measured:
            return ASSUMED_SPREAD
        costs = [cost for table in (self.write, self.read) for cost in table.values()]
        widths = sorted((cost.high - cost.low) / (2 * cost.middle) for cost in costs)
        middle = widths[len(widths) // 2] if widths else ASSUMED_SPREAD
        return min(max(LEAST_SPREAD, middle), MOST_SPREAD)

    def widened(self, factor: float, why: str) -> StorageCosts:
        """Return costs whose intervals are wider at either end, with the reason."""
        return replace(
            self,
            disturbed=why,
            calls=_widened(self.calls, factor),
            exchange=tuple(
                replace(
                    one,
                    opening=one.opening.widened(factor),
                    write=_widened(one.write, factor),
                    read=_widened(one.read, factor),
                )
                for one in self.exchange
            ),
            write=_widened(self.write, factor),
            read=_widened(self.read, factor),
            sync=_widened(self.sync, factor),
        )

    def request(self, size: float, *, writing: bool) -> Interval:
        """Return the seconds that one request of a size in bytes takes."""
        table = self.write if writing else self.read
        if table:
            return interpolated(table, size)
        low, middle, high = (
            each + size / rate for each, rate in zip(ASSUMED_REQUEST, ASSUMED_RATE, strict=True)
        )
        return Interval(low, middle, high)

    def bulk(self, moved: float, *, writing: bool) -> Interval:
        """Return the seconds to move some bytes in requests of 1 MiB."""
        return self.request(MIB, writing=writing).scaled(moved / MIB)

    def synced(self, moved: float) -> Interval:
        """Return the seconds of one fsync after that many bytes."""
        if self.sync:
            return interpolated(self.sync, moved)
        return ASSUMED_CALLS["sync"].plus(self.bulk(moved, writing=True))

    def call(self, name: str) -> Interval:
        """Return the seconds of a call that moves no data."""
        return self.calls.get(name, ASSUMED_CALLS[name])

    def exchanged(self, stack: str, ranks: int, *, collective: bool) -> Exchange | None:
        """Return the exchange costs for a number of ranks on one node; None if not measured.

        Ranks that share processors wait for one another in every exchange, so a measurement is
        valid for them only with the same number of ranks.  Otherwise the largest number of ranks
        that was measured represents larger ones.
        """
        known = {
            one.ranks: one
            for one in self.exchange
            if (one.stack, one.collective) == (stack, collective)
        }
        if ranks in known or ranks > self.processors:
            return known.get(ranks)
        fewer = [number for number in known if number <= max(ranks, 2)]
        return known[max(fewer)] if fewer else None


_Key = TypeVar("_Key", int, str)


def _widened(table: Mapping[_Key, Interval], factor: float) -> dict[_Key, Interval]:
    return {key: cost.widened(factor) for key, cost in table.items()}


def interpolated(
    table: Mapping[int, Interval], size: float, *, per_byte: bool = False
) -> Interval:
    """Return the cost of a size, interpolated between measured sizes on logarithmic scales.

    Above the largest size the cost grows with the bytes, below the smallest it stays constant (a
    cost per byte does the opposite, since each piece costs the same).
    """
    sizes = sorted(table)
    if size <= sizes[0]:
        return table[sizes[0]].scaled(sizes[0] / max(size, 1.0) if per_byte else 1.0)
    if size >= sizes[-1]:
        return table[sizes[-1]].scaled(1.0 if per_byte else size / sizes[-1])
    place = next(index for index, known in enumerate(sizes) if known >= size)
    below, above = sizes[place - 1], sizes[place]
    share = math.log(size / below) / math.log(above / below)
    low, middle, high = (
        math.exp((1 - share) * math.log(one) + share * math.log(two))
        for one, two in zip(table[below], table[above], strict=True)
    )
    return Interval(low, middle, high)
