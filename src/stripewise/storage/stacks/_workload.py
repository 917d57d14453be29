# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes what a program asks for, and the requests that reach the storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import Pattern, PatternKind

# What a library asks of the storage: in classes of equal requests, or one by one.

REQUEST_DTYPE = np.dtype(
    [
        ("rank", np.int32),
        ("order", np.int32),  # of the rank's own requests, from 0
        ("phase", np.int32),  # requests of one phase run at the same time; phases follow
        ("file", np.int32),
        ("offset", np.int64),
        ("size", np.int64),
        ("writing", np.bool_),
    ]
)
"""One request each, as it reaches the file system."""

Requests = NDArray[np.void]
"""Shape (n,), `REQUEST_DTYPE`, ordered by rank and order."""


@dataclass(frozen=True)
class Flow:
    """Equal requests of equal processes that run at the same time.

    Attributes:
        writing: Otherwise reading.
        processes: That issue them.
        nodes: Over which these are spread evenly.
        count: Requests of each process in one repetition of the phase.
        size: Bytes of each.
        files: Files that they go to together; 1: one shared file.
        objects: Stripes of each file that are in use.
        objects_per_process: Of them, those that one process uses in one repetition.
        writers: Processes that use the same object.
        writer_nodes: Nodes that these are on.
        handovers: Share of the requests that find the object's lock at another node, 0 to 1; of
            reads, share of the turns in which the readers of an object take it from a writer.
        shared_pages: Share of the requests that share a page with one of another node, 0 to 1.
        lock_mode: 0 extent locks, 1 one lock for all writers, 2 lock-ahead.
        parts: Objects that one request touches; 0: as many as its size has stripes,
            or as it takes to reach all objects of the process.
        absent: Share of the processes that ask for what is not there: they read beyond the end of
            a new file, and get a lock and no data.
    """

    writing: bool
    processes: int
    nodes: int
    count: float
    size: float
    files: int = 1
    objects: int = 1
    objects_per_process: float = 1.0
    writers: float = 1.0
    writer_nodes: float = 1.0
    handovers: float = 0.0
    shared_pages: float = 0.0
    lock_mode: int = 0
    parts: float = 0.0
    absent: float = 0.0

    def parts_per_request(self, stripe_size: int) -> float:
        """Return the parts, one for each object, into which the stripes cut a request."""
        least = max(1.0, self.objects_per_process / max(self.count, 1.0))
        return self.parts or max(least, min(self.size / stripe_size, self.objects_per_process))


@dataclass(frozen=True)
class Turns:
    """What each of some equal processes does in turn.

    Attributes:
        processes: How many there are.
        counts: Requests of each process in each flow of the phase.
        metadata: Operations of each process: those of a phase, and "sync".
    """

    processes: int
    counts: tuple[float, ...] = ()
    metadata: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Phase:
    """What happens at the same time; the next phase begins when all of it is done.

    Attributes:
        name: For people: "two-phase write", "independent read", "open".
        repeats: How often it happens (rounds of collective buffering); 1: once.
        flows: Of requests; different flows are of different processes.
        exchange_bytes: That each aggregator receives or sends before (after) its requests.
        ranks: That take part in the exchange; 0: there is none.
        nodes: Over which the processes of all flows spread; 0: those of the flow that has most.
        copied_bytes: That the processes of each node copy to one another first.
        metadata: "open", "create", "stat", "remove" -> number of such operations.
        turns: Of different processes, which take part in several flows one after another and do
            not wait for each other between requests; empty: each process is of one flow.
    """

    name: str
    repeats: float = 1.0
    flows: tuple[Flow, ...] = ()
    exchange_bytes: float = 0.0
    ranks: int = 0
    _: KW_ONLY
    copied_bytes: float = 0.0
    nodes: int = 0
    metadata: Mapping[str, float] = field(default_factory=dict, hash=False)
    turns: tuple[Turns, ...] = ()


# What a traced program asks of the storage by itself, below or without any library of MPI-IO.


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


# What a program asks for, before any library has had its way with it.


@dataclass(frozen=True)
class Workload:
    """Datasets that all ranks write or read, one after another.

    Attributes:
        patterns: One for each dataset or step, in order; `steps` of one repeats it.
        nodes: Of the job.
        ranks_per_node: Ranks lie on nodes in blocks: rank r is on node r // ranks_per_node.
        memory_run: Bytes of a row of the buffer, where there are gaps between rows (ghost cells in
            memory); 0: buffers have no gaps.
        own: What the program asks of the storage by itself, whatever the stack, as traced.
        opened: Files, which names in `patterns` tell apart, and how often each is opened to be
            written (True) or read; once, where nothing is said.
        flowing: Independent calls of a rank follow each other without waiting for other ranks;
            otherwise all of them wait for each other after each step.
    """

    patterns: tuple[Pattern, ...]
    nodes: int
    ranks_per_node: int
    memory_run: int = 0
    own: tuple[Stretch, ...] = ()
    opened: tuple[tuple[str, bool, int], ...] = ()
    flowing: bool = False

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.nodes * self.ranks_per_node

    def opens(self, file: str, writing: bool) -> int:
        """Return the times that a file is opened in one direction."""
        return {(name, way): n for name, way, n in self.opened}.get((file, writing), 1)

    @property
    def bytes(self) -> int:
        """Bytes that the program asks to move."""
        own = round(sum(one.bytes for one in self.own))
        return sum(_bytes(one) * one.steps for one in self.patterns) + own


def _bytes(pattern: Pattern) -> int:
    """Bytes of one step: of the array once, or once for each rank that moves all of a part."""
    if pattern.kind == PatternKind.EMPTY:
        return 0
    places = prod(pattern.grid)
    copies = max(pattern.active_ranks // places, 1)
    if pattern.kind == PatternKind.MULTIPARTITION:
        copies = 1
    plain = all(not one.lattice and one.ghost == (0, 0) for one in pattern.distributions)
    spans = pattern.spans
    if plain and spans and all(end > first for first, end in spans):
        return prod(end - first for first, end in spans) * pattern.element_bytes * copies
    return prod(pattern.block) * max(places, pattern.active_ranks) * pattern.element_bytes
