# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The laws of a described storage request by request: what the emulator does, in virtual time.

`docs/design/machines.md` has the laws, `native/runtime/emulate/laws.c` the same on real clocks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.storage.machines import Storage
from stripewise.storage.simulation._rates import AHEAD, EXTENT, Rates, chance
from stripewise.storage.stacks import Layout
from stripewise.storage.stacks._workload import Requests

SHARED = -1
"""In place of a node: readers of several nodes hold the lock."""


class Played(NamedTuple):
    """How requests went.

    Attributes:
        ends: (n,) float64, seconds from the begin of the first phase; as `requests` are ordered.
        handovers: Parts of requests for which the lock of an object went to another node.
    """

    ends: NDArray[np.float64]
    handovers: int


def play(
    requests: Requests,
    storage: Storage,
    layouts: Layout | Mapping[int, Layout],
    nodes: NDArray[Any],
    *,
    lock_mode: int = 0,
    exchange: NDArray[Any] | None = None,
    places: NDArray[Any] | None = None,
) -> Played:
    """Return when each request ends; some 100,000 of them take seconds.

    A rank makes its next request when the one before has ended; the ranks of a phase begin when
    all requests of the phase before have ended.

    Args:
        requests: As a stack tells them.
        storage: That serves them.
        layouts: Of all files, or of each by its number.
        nodes: (n_ranks,) int, the node of each rank.
        lock_mode: 0 extent locks, 1 one lock for all writers, 2 lock-ahead.
        exchange: (n,) float, seconds that each request first waits for an exchange.
        places: (n_ranks,) int, in which order ranks come that come at the same moment; by default
            in that of their numbers, those of a node together.
    """
    clocks = _Clocks(Rates.of(storage), _numbered(requests, layouts), nodes.tolist(), lock_mode)
    ends = np.zeros(requests.size)
    columns = [requests[name].tolist() for name in ("rank", "file", "offset", "size", "writing")]
    rows = list(zip(*columns, strict=True))
    waits = np.zeros(requests.size) if exchange is None else exchange
    own = (waits + clocks.rates.request).tolist()
    begin = 0.0
    phases = requests["phase"]
    clocks.opened_by(requests)
    turns = list(range(len(clocks.nodes))) if places is None else places.tolist()
    for phase in np.unique(phases):
        numbers = np.flatnonzero(phases == phase)
        for number, end in _phase(numbers, rows, own, clocks, begin, turns):
            ends[number] = end
        begin = float(ends[phases == phase].max())
    return Played(ends, clocks.handovers)


def _phase(
    numbers: NDArray[Any],
    rows: list[Any],
    own: list[float],
    clocks: _Clocks,
    begin: float,
    turns: list[int],
) -> Iterator[tuple[int, float]]:
    """Play what ranks do at the same time, in the order in which their requests come."""
    waiting: dict[int, list[int]] = {}
    for number in reversed(numbers.tolist()):
        waiting.setdefault(rows[number][0], []).append(number)
    heap = sorted((begin, turns[rank], rank) for rank in waiting)
    while heap:
        now, turn, rank = heap[0]
        number = waiting[rank].pop()
        end = clocks.request(now + own[number], *rows[number])
        yield number, end
        if waiting[rank]:
            heapq.heapreplace(heap, (end, turn, rank))
        else:
            heapq.heappop(heap)


class _Placed(NamedTuple):
    layout: Layout
    first: int


def _numbered(requests: Requests, layouts: Layout | Mapping[int, Layout]) -> dict[int, _Placed]:
    """Lay files out: the first target of each follows the last of the one before."""
    found, first = {}, 0
    for file in np.unique(requests["file"]).tolist():
        layout = layouts if isinstance(layouts, Layout) else layouts[file]
        found[file] = _Placed(layout, first % layout.targets)
        first += layout.stripe_count
    return found


@dataclass
class _Object:
    """An object's lock: its clock, who holds it and how."""

    clock: float = 0.0
    holder: int | None = None
    to_write: bool = False


class _Clocks:
    """All clocks of a storage, and the laws that move them."""

    def __init__(
        self, rates: Rates, files: Mapping[int, _Placed], nodes: list[int], lock_mode: int
    ) -> None:
        self.rates, self.files, self.nodes, self.lock_mode = rates, files, nodes, lock_mode
        self.handovers = 0
        self._whole = 0.0
        self._of_node: dict[int, float] = {}
        self._of_target: dict[int, float] = {}
        self._of_file: dict[tuple[int, int], float] = {}
        self._objects: dict[tuple[int, int], _Object] = {}
        self._ahead: dict[int, float] = {}
        self._ends: dict[int, int] = {}
        self._contended: dict[int, float] = {}
        self._costs = {
            writing: tuple(
                1 / speed[name] for name in ("process", "file", "node", "target", "whole")
            )
            for writing, speed in ((True, rates.write), (False, rates.read))
        }

    def opened_by(self, requests: Requests) -> None:
        """See which files are new, and who writes each: what a lock asked for ahead costs."""
        written, nodes = requests[requests["writing"]], np.asarray(self.nodes)
        for file in np.unique(written["file"]).tolist():
            first = requests["phase"][requests["file"] == file].min()
            if (written["phase"][written["file"] == file] == first).any():
                self._ends[file] = 0
        for file in np.unique(written["file"]).tolist():
            writers = np.unique(written["rank"][written["file"] == file])
            on = np.unique(nodes[writers]).size
            self._contended[file] = self.rates.contended(writers.size, on)
            if writers.size > 1 and self.lock_mode == AHEAD:
                meeting = writers.size / self.files[file].layout.stripe_count
                extents = self.rates.extent * meeting * (1 - 1 / on)
                self._ahead[file] = self.rates.hold + extents

    def request(
        self, asked: float, rank: int, file: int, offset: int, size: int, writing: bool
    ) -> float:
        """Return when a request ends whose own time is over at `asked`."""
        ahead = writing and file in self._ahead
        latest, process = asked, asked + (self.rates.ahead if ahead else 0.0)
        placed, node = self.files[file], self.nodes[rank]
        costs = self._costs[writing]
        size = self._there(file, offset, size, writing)
        for index, moved, ragged in _parts(placed.layout, offset, size, self.rates.page_size):
            lock, cost = asked, self._ahead.get(file, 0.0)
            if not ahead:
                lock, cost = self._lock(node, (file, index), writing, ragged, asked)
            first = node if placed.layout.private else placed.first + index
            target = first % placed.layout.targets
            own = [cost_of_byte * moved for cost_of_byte in costs]
            own[1] *= self._contended[file] if writing else 1.0
            own[3] += self.rates.target_request if moved else 0.0
            if target == self.rates.slow_target:
                own[3] /= self.rates.slow_share
            if self.rates.jitter:
                own[3] *= 1 + self.rates.jitter * (chance(target, offset, rank) - 1)
            if writing:
                own[1] = max(own[1], self.rates.turns * max(own))
            process = max(process, asked) + own[0]
            latest = max(
                latest,
                process,
                _use(self._of_file, (file, node), asked, own[1] + cost),
                _use(self._of_node, node, asked, own[2]),
                _use(self._of_target, target, asked, own[3]),
                self._use_whole(asked, own[4]),
                lock + max(own),
            )
        return latest

    def _there(self, file: int, offset: int, size: int, writing: bool) -> int:
        """Return the bytes that are moved: of a new file, a read gets what is there already."""
        end = self._ends.get(file)
        if end is None or not size:
            return size
        if writing:
            self._ends[file] = max(end, offset + size)
            return size
        return min(size, max(end - offset, 0))

    def _use_whole(self, asked: float, seconds: float) -> float:
        end = max(self._whole, asked) + seconds
        if seconds:
            self._whole = end
        return end

    def _lock(
        self, node: int, key: tuple[int, int], writing: bool, ragged: bool, asked: float
    ) -> tuple[float, float]:
        """Return when the use of an object's lock ends, and how long it takes."""
        found = self._objects.get(key)
        if found is None:
            found = self._objects[key] = _Object()
        moved = self._hand_over(found, node, writing)
        cost = 0.0
        if moved and (not writing or self.lock_mode == EXTENT):
            cost = self.rates.revoke + self.rates.page * ragged
        end = max(found.clock, asked) + cost
        if cost:
            found.clock = end
        return end, cost

    def _hand_over(self, found: _Object, node: int, writing: bool) -> bool:
        """Give the lock to a node; whether another one must give it back first."""
        other = found.holder is not None and found.holder != node
        moved = other and (writing or found.to_write)
        self.handovers += moved
        if writing or moved or found.holder is None:
            found.holder, found.to_write = node, writing
        elif other:
            found.holder = SHARED
        return moved


def _use(clocks: dict[Any, float], key: object, asked: float, seconds: float) -> float:
    """Use a clock from a moment on, and return when that ends."""
    end = max(clocks.get(key, 0.0), asked) + seconds
    if seconds:
        clocks[key] = end
    return end


def _parts(layout: Layout, offset: int, size: int, page: float) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts of a request: object, bytes, whether it begins or ends within a page."""
    length, count, end = layout.stripe_size, layout.stripe_count, offset + size
    first, last = offset // length, (end - (size > 0)) // length
    for j in range(min(last - first + 1, count)):
        moved = ((last - first - j) // count + 1) * length
        ragged = False
        if j == 0:
            moved -= offset - first * length
            ragged = offset % page != 0
        if (last - first) % count == j:
            moved -= (last + 1) * length - end
            ragged = ragged or end % page != 0
        yield (first + j) % count, moved, ragged and moved > 0
