# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced program asks of the storage by itself, below or without any library of MPI-IO."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.simulation._requests import Turns


@dataclass(frozen=True)
class TracedCalls:
    """Data requests of one kind, wherever the files lie.

    Attributes:
        writing: Otherwise reading.
        processes / nodes: How many make them, and on how many nodes.
        count: Requests of each process, in the mean.
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
    processes: int
    nodes: int
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
class Stretch:
    """Some time of a program in which it does the same things over and over.

    Attributes:
        name: For people.
        calls: Of all ranks, one for each kind.
        turns: What ranks of different classes do, each with its number of all `calls`.
        first: It begins before any file of MPI-IO is touched.
    """

    name: str
    calls: tuple[TracedCalls, ...]
    turns: tuple[Turns, ...]
    first: bool = True

    @property
    def bytes(self) -> float:
        """Bytes that all processes move."""
        return sum(call.processes * call.count * call.size for call in self.calls)
