# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What one request costs at each resource of a described storage: shared by law and player."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stripewise.machines import Storage

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
