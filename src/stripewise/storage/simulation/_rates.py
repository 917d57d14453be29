# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gives the cost of a request and of a metadata operation at each resource, with its noise."""

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
    """The figures of a storage as the laws use them, in bytes and seconds.

    Attributes:
        write / read: Member of `DATA` -> bytes a second.
        memory: Bytes a second that the processes of a node copy to one another.
        sharing: More time of a node's file for each further process that writes it.
        turns: Share of a write for which others of its node into the file wait.
        request / target_request: Seconds of each request, of the process and of the target.
        jitter: Share of a target's time that is chance.
        slow_share / slow_target: Share of its speed that one target has, and which one it is.
        revoke / page / ahead / hold / extent: Of locks.
        round / rank / exchange: Of collective buffering; the last in bytes a second.
        metadata: Operation -> seconds; `stripe`, `latency` and `growth` beside them.
        page_size: Bytes.
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
        """Take the figures of a storage."""
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
        """Return the seconds for which an aggregator exchanges data with ranks; 0: none."""
        return self.round + ranks * self.rank + size / self.exchange if ranks else 0.0

    def contended(self, writers: float, nodes: float) -> float:
        """Return how many times as long a node's file takes that so many processes write."""
        return 1 + self.sharing * max(writers / max(nodes, 1.0) - 1, 0.0)

    def operation(self, name: str, stripes: int) -> float:
        """Return the seconds that the metadata server needs for one operation on a file.

        Of what is no operation of its own ("sync"), none: it is a message there and back.
        """
        if name not in self.metadata:
            return 0.0
        opening = self.stripe * stripes if name in ("open", "create") else 0.0
        return float(self.metadata[name] * stripes**self.growth + opening)


def _table(name: str) -> str:
    return f"servers.{name}" if name in ("target", "whole") else f"client.{name}"


# Resources that different classes of processes use at the same time.


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


# Targets are not equally fast at every moment: how long one request takes, and the slowest.

_MASK = (1 << 64) - 1
_EULER = 0.5772156649
_TAIL = 1 / (1.5 * log(2))
"""Of `chance`, whose logarithm is linear between powers of two, to an exponential time."""


def chance(target: int, offset: int, rank: int = 0, draw: int = 0) -> float:
    """Return how many times as long as its mean a request takes by chance: mean 1.

    The time is exponential, from a hash (SplitMix64) of the target, of the request's first byte,
    of the rank that asks and of `draw`, the seed of an emulated run, so that a run can be had
    again; `sw_emulate_chance` in emulate.h is the same in C.
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
    """Return how far above its mean the slowest of some objects is, in means.

    The greatest of n exponential times is on average 1 + 1/2 + ... + 1/n means; sums of m of
    them are nearer to theirs by the square root of m.

    Args:
        number: Of objects that are used at the same time.
        requests: That each of them gets.
    """
    if number <= 1:
        return 0.0
    above = log(number) + _EULER + 0.5 / number - 1
    return _TAIL * above / sqrt(max(requests, 1.0))


def longest_of(steady: float, chancy: float, share: float) -> tuple[float, float]:
    """Return mean and standard deviation of the longer of two times, of which one is chance.

    Args:
        steady: Of one, seconds.
        chancy: Mean of the other, seconds.
        share: Of the other that is exponential.
    """
    tail = chancy * share
    above = (steady - (chancy - tail)) / tail if tail else 0.0
    if above <= 0 or not tail:
        return max(steady, chancy), tail
    beyond = exp(-above)
    return steady + tail * beyond, tail * sqrt(2 * beyond - beyond * beyond)


# Rates of operations that many ranks ask of the metadata server, one after another.

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
"""Operation of `stripewise bench metadata` -> the server's operation, as descriptions name it."""


def metadata_rate(
    storage: Storage, operation: str, ranks: int, stripe_count: int | None = None
) -> float:
    """Return the operations a second of ranks that each make one after another.

    A rank waits for the way to the server and back, and for the server; the server serves one
    operation at a time.  So the rate is that of the ranks, or of the server where it is busy all
    the time.  Files are empty: what is written to them comes on top.
    Source: asymptotic bounds of a closed queueing network, E. D. Lazowska et al., Quantitative
    System Performance (1984), chapter 5; they are reached where all operations take equally long.

    Args:
        storage: With the server's figures.
        operation: As `stripewise bench metadata` names it: "create", "stat", "read-file", ...
        ranks: Of the job.
        stripe_count: Of each file; None: the storage's default.

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
    """Return the description's figure of an operation that takes the server so long.

    The inverse of what the server needs for a file of the storage's default layout: without the
    look-up of its objects, which is a figure of its own, and as if it had one stripe.

    Args:
        storage: With `metadata.object` and `metadata.growth`; what they do not say costs nothing.
        operation: Of the server: "open", "create", "stat" or "remove".
        seconds: That the server needs, on average.
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
        rng: To draw with.
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
