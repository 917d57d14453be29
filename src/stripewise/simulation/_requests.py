# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a library asks of the storage: in classes of equal requests, or one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import NDArray

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
    metadata: Mapping[str, float] = field(default_factory=dict)


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
    metadata: Mapping[str, float] = field(default_factory=dict)
    turns: tuple[Turns, ...] = ()
