# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a software stack, and on which objects and locks requests meet."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Value
from stripewise.evidence.patterns import Pattern
from stripewise.storage.stacks._workload import Phase, Requests, Workload

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Layout of a file on the targets.

    Attributes:
        stripe_count: Number of objects of a file, at least 1.
        stripe_size: Size in bytes.
        targets: Number of targets of the storage, at least `stripe_count`.
        private: Whether each node has its own target: a burst buffer with private access.
    """

    stripe_count: int
    stripe_size: int
    targets: int
    private: bool = False


@dataclass(frozen=True)
class Setup:
    """Properties besides the workload that determine the requests.

    Attributes:
        settings: Values by tunable name, as listed by `stripewise settings tunables`.
        layout: Layout of new files, with `striping_factor` and `striping_unit` already applied.
        hosts: Number of hosts of the ranks as MPI sees them (OMPIO sees emulated nodes as one).
    """

    layout: Layout
    settings: Mapping[str, Value] = field(default_factory=dict)
    hosts: int = 1


class Stack(ABC):
    """A library between the program and the storage.

    Attributes:
        name: "romio", "romio-lustre", "cray", "ompio", "pnetcdf", "adios2", "posix", ...
        summary: One line for people.
        tunables: Names of the settings that it uses.
    """

    name: str
    summary: str
    tunables: frozenset[str] = frozenset()

    def layout_defaults(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return the library's own defaults for a new file's layout, given the settings."""
        del settings
        return {}

    @abstractmethod
    def phases(self, work: Workload, setup: Setup) -> tuple[Phase, ...]:
        """Return the requests in classes; the cost does not grow with the number of ranks.

        Raises:
            UsageError: This stack does not support the workload.
        """

    @abstractmethod
    def requests(self, work: Workload, setup: Setup) -> Requests:
        """Return every single request, as in a capture; for up to a few thousand ranks.

        Raises:
            UsageError: This stack cannot list its requests one by one.
        """


def opens(files: int, ranks: int, *, writing: bool) -> dict[str, int]:
    """Return the metadata operations of an open: one rank creates each new file."""
    made = files if writing else 0
    return {name: n for name, n in (("create", made), ("open", ranks - made)) if n}


# Objects of simultaneous requests. Processes go through their parts of a file side by side. If the
# distances of these parts are a multiple of all stripes, all processes are at the same object at
# once, however many objects the file has.

MOST_SAMPLED = 1024
"""Maximum number of processes that are examined; of more, this number evenly spread over all."""


@dataclass(frozen=True)
class AtOnce:
    """Requests of all processes at one moment.

    Attributes:
        objects: Objects in use; fewer if one of them has more requests than others.
        writers: Mean number of processes at one of these objects.
        nodes: Number of nodes of these processes.
    """

    objects: float
    writers: float
    nodes: float


def sampled_processes(processes: int) -> Ints:
    """Return the numbers of the processes that are examined."""
    if processes <= MOST_SAMPLED:
        return np.arange(processes, dtype=np.int64)
    return np.linspace(0, processes - 1, MOST_SAMPLED).astype(np.int64)


def at_once(begins: Ints, size: float, node: Ints, processes: int, layout: Layout) -> AtOnce:
    """Return where requests meet.

    Args:
        begins: (n,) int64, offset of each examined process.
        size: Bytes of each request.
        node: (n,) int64, node of each of them.
        processes: Number of all processes.
        layout: Layout of the file.
    """
    first = begins // layout.stripe_size
    last = (begins + max(int(size), 1) - 1) // layout.stripe_size
    more = processes / begins.size
    if int((last - first).min()) + 1 >= layout.stripe_count:
        all_nodes = min(np.unique(node).size * more, processes, int(node.max()) + 1.0)
        return AtOnce(float(layout.stripe_count), float(processes), all_nodes)
    width = min(int((last - first).max()) + 1, layout.stripe_count)
    stripe = first[:, None] + np.arange(width)
    used = stripe <= last[:, None]
    target = (stripe % layout.stripe_count)[used]
    nodes = np.broadcast_to(node[:, None], used.shape)[used]
    busiest = np.bincount(target).max()
    objects = target.size / float(busiest)
    pairs = int(np.unique(target * (int(node.max()) + 1) + nodes).size)
    different = np.unique(target).size
    writers = target.size / different * more
    # Between two examined processes there are others, on their own nodes if they are far apart.
    on_nodes = min(pairs / different * more, writers, int(nodes.max()) + 1.0)
    return AtOnce(objects, writers, on_nodes)


def spread(
    meet: AtOnce, count: float, size: float, reach: float, everywhere: float, stripe_size: int
) -> float:
    """Return how many objects serve processes that begin as in `meet` and then continue freely.

    The first process that has completed its `q` requests at an object moves to the next one, where
    it is the only one: processes that began together drift apart, by one q-th of a stripe at the
    first stripe, and as leads add up, by a whole one after sqrt(q). A line of K processes that
    passes n objects one after another, with one request each, takes K + n - 1 turns.

    Args:
        meet: Requests at the beginning.
        count: Requests of a process until all wait for each other again.
        size: Bytes of each request.
        reach: Bytes from the first to the last of them.
        everywhere: Number of objects that all of them are on.
        stripe_size: Size in bytes.
    """
    width = max(1.0, size / stripe_size)
    visits = max(1.0, min(count * width, reach / stripe_size) / width)
    turns = max(1.0, visits / max(1.0, count / visits) ** 0.5)
    objects: float = turns / (1 / meet.objects + (turns - 1) / max(everywhere, meet.objects))
    return objects


def begins_of(pattern: Pattern, base: int) -> tuple[Ints, Ints]:
    """Return where ranks begin, and their numbers, for the examined ranks.

    Args:
        pattern: Pattern of all ranks.
        base: Offset of the dataset.
    """
    grid = pattern.grid
    places = int(np.prod(grid))
    chosen = sampled_processes(places)
    coordinates = np.unravel_index(chosen, grid)
    begin = np.full(chosen.size, base, np.int64)
    pitch = pattern.element_bytes
    for d in reversed(range(len(grid))):
        how, (low, high) = pattern.distributions[d], pattern.spans[d]
        step = (how.width or 1) if how.kind == "CYCLIC" else -(-(high - low) // grid[d])
        begin += (low + np.minimum(coordinates[d] * step, high - low - 1)) * pitch
        pitch *= pattern.sizes[d]
    strides = pattern.rank_strides
    ranks = chosen
    if strides:
        ranks = pattern.first_rank + sum(
            n * at for n, at in zip(strides, coordinates, strict=True)
        )  # type: ignore[assignment]
    return begin, ranks


# Sharing of a file's objects: shares of requests that find its lock elsewhere.

PAGE = 4096
"""Size of a page of the client's cache in bytes; assumed, as a stack does not know the machine."""


def handovers(writers: float, nodes: float) -> float:
    """Return the share of requests that find an object's lock at another node.

    The requests of all writers of the object arrive in any order, one of each in turn: the
    previous one is of another process, which is on another node with the probability of any
    process.

    Args:
        writers: Number of processes that use the object.
        nodes: Number of nodes of these processes.
    """
    if nodes <= 1 or writers <= 1:
        return 0.0
    return min((1 - 1 / nodes) * writers / (writers - 1), 1.0)


def unaligned(*sizes: int) -> float:
    """Return the share of unaligned places in a page, for places that are these sizes apart."""
    step = math.gcd(PAGE, *sizes)
    return 1 - step / PAGE


def crossing(distance: int, ranks_per_node: int, ranks: int) -> float:
    """Return the share of pairs of ranks, `distance` apart, that are on two nodes."""
    if ranks <= ranks_per_node:
        return 0.0
    return min(distance / ranks_per_node, 1.0)


def stripes_touched(first: int, end: int, stripe_size: int) -> int:
    """Return how many stripes a range of bytes touches."""
    return -(-end // stripe_size) - first // stripe_size if end > first else 0
