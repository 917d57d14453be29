# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Provides the cost of a request and of a metadata operation at each resource, with its noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, erf, exp, inf, log, sqrt
from random import Random
from typing import NamedTuple

from stripewise.core.errors import UsageError
from stripewise.storage.machines import Storage

DATA = ("process", "file", "node", "target", "whole")
"""Clocks that the data of a request uses: "file" is the node's share for this one file."""

OPERATIONS = ("open", "create", "stat", "remove")
"""Metadata operations that have a figure of their own."""

EXTENT, SINGLE, AHEAD = 0, 1, 2
"""Modes of locks: extents, one lock for all writers, lock-ahead."""


@dataclass(frozen=True)
class Rates:
    """Figures of a storage as used by the laws, in bytes and seconds.

    Attributes:
        write / read: Bytes per second by member of `DATA`.
        memory: Bytes per second that the processes of a node copy to one another.
        sharing: Additional time of a node's file for each further process that writes it.
        turns: Share of a write for which other writes of its node to the file wait.
        request / target_request: Seconds of each request, for the process and for the target.
        jitter: Share of a target's time that is random.
        slow_share / slow_target: Relative speed of one slow target, and its number.
        revoke / page / ahead / hold / extent: Figures of locks.
        round / rank / exchange: Figures of collective buffering; the last in bytes per second.
        metadata: Seconds by operation; also `stripe`, `latency` and `growth`.
        page_size: Size of a page in bytes.
    """

    write: Mapping[str, float]
    read: Mapping[str, float]
    memory: float
    sharing: float
    turns: float
    request: float
    target_request: float
    jitter: float
    slow_share: float
    slow_target: int
    revoke: float
    page: float
    ahead: float
    hold: float
    extent: float
    round: float
    rank: float
    exchange: float
    metadata: Mapping[str, float]
    stripe: float
    latency: float
    growth: float
    page_size: float

    @classmethod
    def of(cls, storage: Storage) -> Rates:
        """Return the figures of a storage."""
        value = storage.value
        return cls(
            write={name: value(f"{_table(name)}_write") for name in DATA},
            read={name: value(f"{_table(name)}_read") for name in DATA},
            memory=value("client.memory"),
            sharing=value("client.sharing"),
            turns=min(value("client.turns"), 1.0),
            request=value("client.request"),
            target_request=value("servers.target_request"),
            jitter=min(value("servers.jitter"), 1.0),
            slow_share=value("servers.slow_share"),
            slow_target=int(value("servers.slow_target")),
            revoke=value("locks.revoke"),
            page=value("locks.page"),
            ahead=value("locks.ahead"),
            hold=value("locks.hold"),
            extent=value("locks.extent"),
            round=value("exchange.round"),
            rank=value("exchange.rank"),
            exchange=value("exchange.bandwidth"),
            metadata={name: value(f"metadata.{name}") for name in OPERATIONS},
            stripe=value("metadata.object"),
            latency=value("metadata.latency"),
            growth=value("metadata.growth"),
            page_size=value("locks.page_size"),
        )

    def exchanged(self, ranks: int, size: float) -> float:
        """Return the seconds of an aggregator's data exchange with ranks; 0 without one."""
        return self.round + ranks * self.rank + size / self.exchange if ranks else 0.0

    def contended(self, writers: float, nodes: float) -> float:
        """Return the factor on the time of a node's file if this number of processes write it."""
        return 1 + self.sharing * max(writers / max(nodes, 1.0) - 1, 0.0)

    def operation(self, name: str, stripes: int) -> float:
        """Return the seconds that the metadata server needs for one operation on a file.

        For an operation without a figure ("sync") it is 0: that is one message there and back.
        """
        if name not in self.metadata:
            return 0.0
        opening = self.stripe * stripes if name in ("open", "create") else 0.0
        return float(self.metadata[name] * stripes**self.growth + opening)


def _table(name: str) -> str:
    return f"servers.{name}" if name in ("target", "whole") else f"client.{name}"


# Resources that different classes of processes use at the same time.


class Crowd(NamedTuple):
    """Processes of one class that meet at a resource with several instances.

    Attributes:
        number: Number of processes, or of pairs of a process and an object.
        busiest: Number of these at the busiest instance.
        instances: Number of instances over which they can spread.
        seconds: Time for which all at the busiest instance use it.
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
    """Return for how long all classes together use the busiest instance.

    Processes of different classes are placed side by side: an instance has as many of them as if
    all were equal, and the busiest one has those that take longest.

    Args:
        crowds: Crowd of each class.
        instances: Instances over which all of them spread; 0: as many as the class with the most.
    """
    spread = max(instances, *(one.instances for one in crowds))
    number = sum(one.number for one in crowds)
    left = max(float(ceil(number / spread)), *(one.busiest for one in crowds))
    seconds = 0.0
    for one in sorted(crowds, key=lambda one: -one.each):
        taken = min(left, one.number)
        seconds, left = seconds + taken * one.each, left - taken
    return max(seconds, *(one.seconds for one in crowds))


# Targets are not equally fast at every moment: duration of one request, and of the slowest.

_MASK = (1 << 64) - 1
_EULER = 0.5772156649
_TAIL = 1 / (1.5 * log(2))
"""Ratio of an exponential time to that of `chance`, whose logarithm is piecewise linear."""


def chance(target: int, offset: int, rank: int = 0, draw: int = 0) -> float:
    """Return the random factor on the mean time of a request; its mean is 1.

    The time is exponential, from a hash (SplitMix64) of the target, of the request's first byte,
    of the requesting rank and of `draw`, the seed of an emulated run, so that a run can be
    reproduced; `sw_emulate_chance` in emulate.h is the same in C.
    """
    word = offset + 0x9E3779B97F4A7C15 * (target + 1) + 0xD1B54A32D192ED03 * rank
    word = (word + 0xA24BAED4963EE407 * draw) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    word = (word ^ (word >> 31)) | 1
    zeros = 64 - word.bit_length()
    mantissa = word / float(1 << (63 - zeros))  # 1 to 2
    return (zeros + 2 - mantissa) / 1.5


def slowest(number: float, requests: float) -> float:
    """Return the time of the slowest of some objects, in means.

    The maximum of n exponential times is on average 1 + 1/2 + ... + 1/n means; sums of m of them
    are closer to the mean by the square root of m.

    Args:
        number: Number of objects that are used at the same time.
        requests: Number of requests of each of them.
    """
    if number <= 1:
        return 0.0
    above = log(number) + _EULER + 0.5 / number - 1
    return _TAIL * above / sqrt(max(requests, 1.0))


def longest_of(steady: float, chancy: float, share: float) -> tuple[float, float]:
    """Return mean and standard deviation of the longer of a fixed and a random time.

    Args:
        steady: Fixed time in seconds.
        chancy: Mean of the random time in seconds.
        share: Share of the random time that is exponential.
    """
    tail = chancy * share
    above = (steady - (chancy - tail)) / tail if tail else 0.0
    if above <= 0 or not tail:
        return max(steady, chancy), tail
    beyond = exp(-above)
    return steady + tail * beyond, tail * sqrt(2 * beyond - beyond * beyond)


# Rates of operations that many ranks request of the metadata server, one after another.

SERVER_OPERATIONS = {
    "create": "create",
    "stat": "stat",
    "read-file": "open",
    "remove": "remove",
    "rename": "remove",
    "create-directory": "remove",
    "stat-directory": "stat",
    "remove-directory": "remove",
}
"""Server's operation, as in descriptions, by operation of `stripewise bench metadata`."""


def metadata_rate(
    storage: Storage, operation: str, ranks: int, stripe_count: int | None = None
) -> float:
    """Return the operations per second of ranks that each make one after another.

    A rank waits for the way to the server and back, and for the server; the server serves one
    operation at a time. So the rate is that of the ranks, or of the server if it is always busy.
    Files are empty: writes to them take additional time. Source: asymptotic bounds of a closed
    queueing network, E. D. Lazowska et al., Quantitative System Performance (1984), chapter 5;
    they are reached if all operations take equally long.

    Args:
        storage: Storage with the server's figures.
        operation: Operation as in `stripewise bench metadata`: "create", "stat", "read-file", ...
        ranks: Number of ranks of the job.
        stripe_count: Stripe count of each file; None for the storage's default.

    Raises:
        UsageError: There is no such operation.
    """
    if operation not in SERVER_OPERATIONS:
        known = ", ".join(SERVER_OPERATIONS)
        raise UsageError(f"there is no metadata operation {operation!r}: give one of {known}")
    stripes = 1 if operation.endswith("-directory") else _stripes(storage, stripe_count)
    rates = Rates.of(storage)
    once = rates.operation(SERVER_OPERATIONS[operation], stripes)
    waiting = once + rates.latency
    return min(ranks / waiting if waiting > 0 else inf, 1 / once if once > 0 else inf)


def operation_figure(storage: Storage, operation: str, seconds: float) -> float:
    """Return the description's figure of an operation that takes the server a given time.

    This is the inverse of the server's time for a file of the storage's default layout, without
    the look-up of its objects, which is a separate figure, and as if it had one stripe.

    Args:
        storage: Storage with `metadata.object` and `metadata.growth`, which default to no cost.
        operation: Operation of the server: "open", "create", "stat" or "remove".
        seconds: Mean time that the server needs.
    """
    rates, stripes = Rates.of(storage), _stripes(storage, None)
    objects = rates.stripe * stripes if operation in ("open", "create") else 0.0
    alone = seconds - objects
    return float((alone if alone > 0 else seconds) / stripes**rates.growth)


def _stripes(storage: Storage, stripe_count: int | None) -> int:
    count = storage.striping.stripe_count if stripe_count is None else stripe_count
    targets = int(storage.value("servers.targets"))
    return min(count, targets) if count > 0 else targets


# Noise of a shared storage: a sharp upper edge, and a long tail below it.

_WIDEST = 20.0


def noise_factor(rng: Random, cv: float) -> float:
    """Draw the share of its bandwidth that a run gets: min(1, lognormal).

    Half of the runs get all of it.

    Args:
        rng: Random numbers to draw from.
        cv: Coefficient of variation of the factor, 0 to 0.9; published: 0.03 to 0.5.

    Raises:
        UsageError: Such a factor cannot vary that much.
    """
    if not 0 <= cv <= 0.9:
        raise UsageError(f"a coefficient of variation of {cv:g} is impossible: give 0 to 0.9")
    return min(1.0, exp(rng.gauss(0.0, _sigma(cv)))) if cv else 1.0


@lru_cache(maxsize=64)
def _sigma(cv: float) -> float:
    """Return the lognormal's sigma for which min(1, lognormal) varies by `cv`, by bisection."""
    low, high = 0.0, _WIDEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _cv(middle) < cv else (low, middle)
    return (low + high) / 2


def _cv(sigma: float) -> float:
    """Return the coefficient of variation of min(1, X), where log X is normal with mean 0."""
    first = 0.5 + exp(sigma**2 / 2) * _phi(-sigma)
    second = 0.5 + exp(2 * sigma**2) * _phi(-2 * sigma)
    return sqrt(max(second - first**2, 0.0)) / first


def _phi(x: float) -> float:
    return 0.5 * (1 + erf(x / sqrt(2)))
