# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums what a job did by kind of operation, until it becomes a row of the database.

Times are seconds since 1970 by `SinkClock`.
"""

from __future__ import annotations

import heapq
import marshal
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from stripewise.centre.monitor._records import OperationCount
from stripewise.centre.monitor.collectors.lustre._stats import METADATA_KINDS

# Kinds of work, computed from the operations that Lustre counts.

_MICROSECONDS = 1e-6


class Work:
    """Work of one kind; `moved_bytes` and `busy` (microseconds) are None if not reported."""

    __slots__ = ("busy", "moved_bytes", "operations", "parts")

    def __init__(
        self, operations: int | None = 0, moved_bytes: int | None = None, busy: int | None = None,
        parts: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.operations = operations
        self.moved_bytes = moved_bytes
        self.busy = busy
        self.parts = dict(parts or {})

    def add(self, other: Work) -> None:
        """Add more work of the same kind."""
        self.operations = _sum_of_known(self.operations, other.operations)
        self.moved_bytes = _sum_of_known(self.moved_bytes, other.moved_bytes)
        self.busy = _sum_of_known(self.busy, other.busy)
        for name, number in other.parts.items():
            self.parts[name] = self.parts.get(name, 0) + number

    @property
    def size(self) -> tuple[int, int]:
        """Key by which jobs are compared: bytes, then operations."""
        return self.moved_bytes or 0, self.operations or 0

    @property
    def busy_seconds(self) -> float | None:
        """Time that the servers spent, in seconds."""
        return None if self.busy is None else self.busy * _MICROSECONDS

    def as_list(self) -> list[Any]:
        """Return plain data from which `Work(*list)` is restored."""
        return [self.operations, self.moved_bytes, self.busy, self.parts]


def works_of(target: str, operations: Mapping[str, OperationCount]) -> dict[str, Work]:
    """Return the operations on a target as work by kind.

    Args:
        target: Name of the target; "MDT..." denotes a metadata target.
        operations: Counts by Lustre's name; "read_bytes" on a metadata target concerns files
            stored there.
    """
    found: dict[str, Work] = {}
    for kind in ("read", "write"):
        moved, took = operations.get(f"{kind}_bytes"), operations.get(kind)
        work = _moving(moved, took)
        if work is not None:
            found[kind] = work
    if target.startswith("MDT"):
        metadata = {name: one for name, one in operations.items() if name in METADATA_KINDS}
        if metadata:
            found["metadata"] = _metadata(metadata)
    return found


def _moving(moved: OperationCount | None, took: OperationCount | None) -> Work | None:
    busy = took.total if took is not None and took.unit in ("usec", "usecs") else None
    if moved is None:
        return Work(0, None, busy) if busy else None
    sizes = {str(size): number for size, number in moved.sizes or ()}
    return Work(moved.samples, moved.total, busy, sizes)


def _metadata(metadata: Mapping[str, OperationCount]) -> Work:
    times = [one.total for one in metadata.values() if one.unit in ("usec", "usecs")]
    return Work(
        sum(one.samples for one in metadata.values()),
        None,
        sum(times) if times else None,
        {name: one.samples for name, one in metadata.items()},
    )


def _sum_of_known(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


# Work of jobs that is not in a row yet, and the choice of what becomes a row.

PAUSE_SECONDS = 60.0
"""Maximum pause of a job within a row, so that runs of a requeued job do not share one."""
PENDING_SECONDS = 1800.0
"""Maximum time that a job with little work waits for its row; it waits at least two thirds of it:
jobs that began together would otherwise all get their rows in one delivery."""
TagKey = tuple[str, str]
"""File system and name of the job."""


class JobRow(NamedTuple):
    """Work of one job in an interval, over all targets of a file system."""

    key: TagKey
    kind: str
    at: int
    seconds: float
    work: Work


class _Pending(NamedTuple):
    """Work of one job since its last row, in few objects, since there are very many.

    Attributes:
        since / changed: From the reading before it began to the last one that saw more of it.
        is_over: Whether its counters are gone from a target.
        packed: Work by kind, packed into bytes.
    """

    since: float
    changed: float
    is_over: bool
    packed: bytes

    @property
    def works(self) -> dict[str, Work]:
        """Work by kind."""
        return _works(self.packed)


class _Held(NamedTuple):
    """Work of a job on one target, between two readings."""

    since: float
    until: float
    key: TagKey
    packed: bytes


class PendingWork:
    """Work of all jobs that is not in a row yet.

    Work on one target may be reported before earlier work on another: everything is held until all
    targets have reported, and then sorted.
    """

    def __init__(self, top_jobs: int) -> None:
        """Start without any work; at every cut, so many jobs of each kind get rows."""
        self._top = top_jobs
        self._open: dict[TagKey, _Pending] = {}
        self._over: list[tuple[TagKey, _Pending]] = []
        self._held: list[_Held] = []
        self._ended: list[TagKey] = []

    def __len__(self) -> int:
        return len(self._open)

    def add(self, key: TagKey, works: Mapping[str, Work], since: float, until: float) -> None:
        """Add the work of a job on a target between two readings."""
        self._held.append(_Held(since, until, key, _packed(works)))

    def end(self, key: TagKey) -> None:
        """Record that a job's counters are gone from a target."""
        self._ended.append(key)

    def settle(self) -> None:
        """Sort the reported work, because nothing earlier can follow."""
        for one in sorted(self._held, key=attrgetter("since")):
            self._join(*one)
        self._held.clear()
        for key in self._ended:
            if (open_ := self._open.get(key)) is not None:
                self._open[key] = open_._replace(is_over=True)
        self._ended.clear()

    def _join(self, since: float, until: float, key: TagKey, packed: bytes) -> None:
        one = self._open.get(key)
        if one is not None and since - one.changed >= PAUSE_SECONDS:
            self._over.append((key, self._open.pop(key)))
            one = None
        if one is None:
            self._open[key] = _Pending(since, until, False, packed)
            return
        sums = one.works
        for kind, work in _works(packed).items():
            if kind in sums:
                sums[kind].add(work)
            else:
                sums[kind] = work
        self._open[key] = _Pending(
            min(one.since, since), max(one.changed, until), one.is_over, _packed(sums)
        )

    def cut(self, now: float) -> list[JobRow]:
        """Return rows of the jobs that did most, that paused or are gone, or that waited long.

        What is held is kept.

        Args:
            now: Time of the last reading.
        """
        due = self._over
        self._over = []
        most = self._most()
        for key, one in list(self._open.items()):
            idle = now - one.changed >= PAUSE_SECONDS
            waited = now - one.since >= _wait_seconds(key)
            if idle or waited or one.is_over or key in most:
                due.append((key, self._open.pop(key)))
        return [row for key, one in due for row in _rows(key, one)]

    def _most(self) -> set[TagKey]:
        """Return the jobs that did most, for each kind."""
        best: dict[str, list[tuple[tuple[int, int], TagKey]]] = {}
        for key, one in self._open.items():
            for kind, (operations, moved_bytes, *_) in marshal.loads(one.packed).items():
                place = (moved_bytes or 0, operations or 0), key  # as in `Work.size`
                some = best.setdefault(kind, [])
                if len(some) < self._top:
                    heapq.heappush(some, place)
                elif some and place > some[0]:
                    heapq.heapreplace(some, place)
        return {key for some in best.values() for _, key in some}

    def rows(self) -> Iterator[list[Any]]:
        """Yield the state as plain data."""
        for key, one in chain(self._over, self._open.items()):
            yield [*key, one.since, one.changed, one.is_over, marshal.loads(one.packed)]
        for held in self._held:
            yield [*held.key, held.since, held.until, False, marshal.loads(held.packed)]

    def restore(self, rows: Iterable[Any]) -> None:
        """Continue from plain data.

        Raises:
            ValueError: The rows are not such data.
        """
        try:
            for file_system, tag, since, changed, is_over, works in rows:
                sums = {str(kind): Work(*work) for kind, work in works.items()}
                one = _Pending(float(since), float(changed), bool(is_over), _packed(sums))
                key = (str(file_system), str(tag))
                if key in self._open:
                    self._over.append((key, self._open.pop(key)))
                self._open[key] = one
        except (TypeError, AttributeError) as error:
            raise ValueError(f"the stored work of jobs is damaged: {error}") from error


def _wait_seconds(key: TagKey) -> float:
    """Return how long a job waits for its row, derived from its name."""
    early = zlib.crc32(key[1].encode("utf-8", "surrogatepass")) % 1000 / 3000
    return PENDING_SECONDS * (1 - early)


def _packed(works: Mapping[str, Work]) -> bytes:
    return marshal.dumps({kind: work.as_list() for kind, work in works.items()})


def _works(packed: bytes) -> dict[str, Work]:
    return {kind: Work(*work) for kind, work in marshal.loads(packed).items()}


def _rows(key: TagKey, one: _Pending) -> list[JobRow]:
    begin, end = int(one.since), int(one.changed)
    return [
        JobRow(key, kind, begin, float(max(end - begin, 0)), work)
        for kind, work in one.works.items()
        if any(work.size)
    ]
