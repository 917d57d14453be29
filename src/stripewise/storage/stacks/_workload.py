# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the requests of a program, and the requests that reach the storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.patterns import Pattern, PatternKind

# Requests of a library to the storage: in classes of equal requests, or one by one.

REQUEST_DTYPE = np.dtype(
    [
        ("rank", np.int32),
        ("order", np.int32),  # in the order of the rank's own requests, from 0
        (
            "phase",
            np.int32,
        ),  # of a phase: its requests run at the same time
        ("file", np.int32),
        ("offset", np.int64),
        ("size", np.int64),
        ("writing", np.bool_),
    ]
)
"""One request, as it reaches the file system."""

Requests = NDArray[np.void]
"""Shape (n,), `REQUEST_DTYPE`, ordered by rank and order."""


@dataclass(frozen=True)
class Flow:
    """Equal requests of equal processes that run at the same time.

    Attributes:
        writing: Whether data is written; otherwise it is read.
        processes: Number of processes that issue the requests.
        nodes: Number of nodes over which these are spread evenly.
        count: Requests of each process in one repetition of the phase.
        size: Bytes of each request.
        files: Number of files that they access together; 1 for one shared file.
        objects: Stripes of each file that are in use.
        objects_per_process: Number of these that one process uses in one repetition.
        writers: Number of processes that use the same object.
        writer_nodes: Number of nodes of these processes.
        handovers: Share of the requests that find the object's lock at another node, 0 to 1; for
            reads, share of the turns in which the readers of an object take it from a writer.
        shared_pages: Share of the requests that share a page with one of another node, 0 to 1.
        lock_mode: 0 extent locks, 1 one lock for all writers, 2 lock-ahead.
        parts: Number of objects that one request touches; 0: as many as its size has stripes, or
            as it takes to reach all objects of the process.
        absent: Share of the processes that request data that does not exist: they read beyond the
            end of a new file, and get a lock and no data.
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
        """Return the number of objects to which the stripes divide a request."""
        least = max(1.0, self.objects_per_process / max(self.count, 1.0))
        return self.parts or max(least, min(self.size / stripe_size, self.objects_per_process))


@dataclass(frozen=True)
class Turns:
    """Activities of each of some equal processes, one after another.

    Attributes:
        processes: Number of processes.
        counts: Requests of each process in each flow of the phase.
        metadata: Operations of each process: those of a phase, and "sync".
    """

    processes: int
    counts: tuple[float, ...] = ()
    metadata: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Phase:
    """Simultaneous activities; the next phase begins when all of them are done.

    Attributes:
        name: Name for people: "two-phase write", "independent read", "open".
        repeats: How often it happens (rounds of collective buffering), at least 1.
        flows: Flows of requests; different flows belong to different processes.
        exchange_bytes: Bytes that each aggregator receives or sends before (after) its requests.
        ranks: Number of ranks that take part in the exchange; 0 without one.
        nodes: Nodes of the processes of all flows; 0 for those of the largest flow.
        copied_bytes: Bytes that the processes of each node copy to one another first.
        metadata: Number of operations by name: "open", "create", "stat", "remove".
        turns: Turns of different processes, which take part in several flows one after another and
            do not wait for each other between requests; empty if each process has one flow.
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


# Requests of a traced program itself to the storage, below or without MPI-IO.


@dataclass(frozen=True)
class TracedCalls:
    """Data requests of one kind, to whatever files.

    Attributes:
        writing: Whether data is written; otherwise it is read.
        processes / nodes: Number of processes that make them, and of their nodes.
        count: Mean number of requests of each process.
        size: Mean bytes of each request.
        files: Number of files that one process uses, one after another.
        different: Number of files that all of them use at the same time.
        reach_bytes: From the first to the last byte that a process moves in one of them.
        granule: Divisor of all offsets and sizes, in bytes.
        sharers: Number of processes that use one file together; 1 if each has its own files.
        begins: Offsets at which these processes begin in a file that they share, in bytes; at most
            as many as are examined.
        on_nodes: Numbers of their nodes.
        span_bytes: From the first to the last byte that they move in that file.
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
    """A period of a program in which it repeats the same calls.

    Attributes:
        name: Name for people.
        calls: Calls of all ranks, one entry for each kind.
        turns: Turns of the classes of ranks, each with its number of all `calls`.
        first: Whether it begins before any file of MPI-IO is touched.
    """

    name: str
    calls: tuple[TracedCalls, ...]
    turns: tuple[Turns, ...]
    first: bool = True

    @property
    def bytes(self) -> float:
        """Bytes that all processes move."""
        return sum(call.processes * call.count * call.size for call in self.calls)


# Requests of a program, before any library has transformed them.


@dataclass(frozen=True)
class Workload:
    """Datasets that all ranks write or read, one after another.

    Attributes:
        patterns: One for each dataset or step, in order; `steps` of one repeats it.
        nodes: Number of nodes of the job.
        ranks_per_node: Ranks per node, in blocks: rank r is on node r // ranks_per_node.
        memory_run: Bytes of a row of the buffer, if there are gaps between rows (ghost cells in
            memory); 0 if buffers have no gaps.
        own: Traced requests that the program makes itself, whatever the stack.
        opened: Number of opens by file, as named in `patterns`, and direction (True: writing); 1
            for files that are not listed.
        flowing: Whether independent calls of a rank follow each other without waiting for other
            ranks; otherwise all ranks wait for each other after each step.
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
        """Number of ranks of the job."""
        return self.nodes * self.ranks_per_node

    def opens(self, file: str, writing: bool) -> int:
        """Return the number of times that a file is opened in one direction."""
        return {(name, way): n for name, way, n in self.opened}.get((file, writing), 1)

    @property
    def bytes(self) -> int:
        """Bytes that the program requests to move."""
        own = round(sum(one.bytes for one in self.own))
        return sum(_bytes(one) * one.steps for one in self.patterns) + own


def _bytes(pattern: Pattern) -> int:
    """Return the bytes of one step: of the array once, or once for each rank that moves a part."""
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
