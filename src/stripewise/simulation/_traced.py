# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced program asks of the storage by itself, below or without any library of MPI-IO."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TracedCalls:
    """Equal data requests of equal processes, wherever the files lie.

    Attributes:
        writing: Otherwise reading.
        count: Requests of each process.
        size: Bytes of each, in the mean.
        files: Files that one process uses, one after another.
        different: Files that all of them use at the same time.
        reach_bytes: From the first to the last byte that a process moves in one of them.
        granule: Bytes of which all offsets and sizes are multiples.
        sharers: Processes that use one file together; 1: each has files of its own.
        begins: Where these processes begin in a file that they share, in bytes; at most so many
            as are looked at.
        on_nodes: Their nodes, numbered.
        span_bytes: Of that file, from the first to the last byte that they move.
    """

    writing: bool
    count: float
    size: float
    files: int = 1
    different: int = 1
    reach_bytes: int = 0
    granule: int = 1
    sharers: int = 1
    begins: tuple[int, ...] = ()
    on_nodes: tuple[int, ...] = ()
    span_bytes: int = 0


@dataclass(frozen=True)
class TracedTurns:
    """What each of some equal processes does in turn.

    Attributes:
        processes / nodes: How many there are, and on how many nodes.
        calls: Data requests.
        metadata: "open", "create", "stat", "remove", "sync" -> operations of each process.
    """

    processes: int
    nodes: int
    calls: tuple[TracedCalls, ...] = ()
    metadata: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stretch:
    """Some time of a program in which it does the same things over and over.

    Attributes:
        name: For people.
        turns: Of different processes.
        nodes: That all of these are on.
        first: It begins before any file of MPI-IO is touched.
    """

    name: str
    turns: tuple[TracedTurns, ...]
    nodes: int = 1
    first: bool = True

    @property
    def bytes(self) -> float:
        """Bytes that all processes move."""
        return sum(
            one.processes * call.count * call.size for one in self.turns for call in one.calls
        )
