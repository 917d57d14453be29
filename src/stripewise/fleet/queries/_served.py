# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the servers counted for a job, and the sizes that its programs asked for.

Whoever sees the job sees this: there are no names of files in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select

from stripewise.fleet._documents import unpack
from stripewise.fleet.queries._job import JobView
from stripewise.fleet.served import parts_of
from stripewise.fleet.tables import FileSystem, JobLoad, JobServed, JobSource
from stripewise.model import SIZE_EDGES

LARGEST_LISTS_BYTES = 1 << 20
"""Compressed lists of files of a source that are read for a page (chosen: some 10^4 files)."""


@dataclass(frozen=True)
class Served:
    """What the servers of a file system did for a job, of one kind.

    Attributes:
        file_system: Its name.
        kind: "read", "write" or "metadata".
        first_at / last_at: Begin of the first and end of the last interval with any.
        operations: How many; of reads and writes, requests of clients; None: not told.
        moved_bytes: None for metadata, or not told.
        operation_seconds: Mean time of an operation at the servers, of those whose time was told;
            None: of none.
        parts: Size of requests in bytes, or name of an operation -> how many; {}: not told.
    """

    file_system: str
    kind: str
    first_at: float
    last_at: float
    operations: int | None
    moved_bytes: int | None
    operation_seconds: float | None
    parts: Mapping[str, int]

    @property
    def request_bytes(self) -> float | None:
        """Mean size of a request."""
        if self.moved_bytes is None or not self.operations:
            return None
        return self.moved_bytes / self.operations

    @property
    def sizes(self) -> dict[int, int]:
        """Upper bound of the size of requests, in bytes -> how many, ascending."""
        known = {int(name): number for name, number in self.parts.items() if _is_size(name)}
        return dict(sorted(known.items()))


def _is_size(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 20


@dataclass(frozen=True)
class AskedSizes:
    """Calls of a job's programs in one direction, by size.

    Attributes:
        direction: "read" or "write".
        calls: How many.
        moved_bytes: By all of them.
        edges: Lower bounds of the sizes, in bytes.
        counts: Calls from each of them on; (): not told, or there are too many files to read.
    """

    direction: str
    calls: int
    moved_bytes: int
    edges: Sequence[int] = ()
    counts: Sequence[int] = ()

    @property
    def call_bytes(self) -> float | None:
        """Mean size of a call."""
        return self.moved_bytes / self.calls if self.calls else None


def served_of(connection: Connection, view: JobView) -> list[Served]:
    """Return what servers did for a job, by file system: read, write, metadata."""
    key = view.row["id"]
    times = _times(connection, key)
    query = (
        select(FileSystem.name, *JobServed.__table__.c)
        .join(FileSystem, FileSystem.id == JobServed.file_system_id)
        .where(JobServed.job_id == key)
    )
    found = [_served(row, times) for row in connection.execute(query)]
    order = {"read": 0, "write": 1, "metadata": 2}
    return sorted(found, key=lambda one: (one.file_system, order.get(one.kind, 3), one.kind))


def _served(row: Any, times: Mapping[tuple[int, str], tuple[float, int]]) -> Served:
    told = row.operations > 0 or not row.moved_bytes
    seconds, timed = times.get((row.file_system_id, row.kind), (None, None))
    if timed is None:  # the rows are no longer kept
        seconds, timed = row.busy_seconds, row.operations
    return Served(
        row.name, row.kind, row.first_at, row.last_at,
        row.operations if told else None, row.moved_bytes,
        seconds / timed if seconds is not None and timed else None,
        parts_of(row.parts),
    )  # fmt: skip


def _times(connection: Connection, key: int) -> dict[tuple[int, str], tuple[float, int]]:
    """Return seconds, and operations that took them: servers that tell no times do not count."""
    timed = case((JobLoad.busy_seconds.is_not(None), JobLoad.operations))
    query = (
        select(
            *(JobLoad.file_system_id, JobLoad.kind),
            *(func.sum(JobLoad.busy_seconds), func.sum(timed), func.count()),
        )
        .where(JobLoad.job_id == key)
        .group_by(JobLoad.file_system_id, JobLoad.kind)
    )
    return {
        (row[0], row[1]): (row[2], int(row[3] or 0)) for row in connection.execute(query) if row[4]
    }


def asked_of(connection: Connection, view: JobView) -> dict[str, AskedSizes]:
    """Return the calls of a job's programs by direction, where profiles tell all of them.

    Their sizes are summed over all files, as the programs asked for them at the highest interface
    that is known.
    """
    keys = [one.about["id"] for one in view.counted]
    if not keys:
        return {}
    size = func.length(JobSource.rows)
    query = select(JobSource.id, case((size <= LARGEST_LISTS_BYTES, JobSource.rows)), size)
    rows = connection.execute(query.where(JobSource.id.in_(keys))).all()
    if any(row[1] is None for row in rows):
        return {}
    files = [one for row in rows for one in unpack(row[1]).get("files", ())]
    return {
        direction: _asked(direction, files)
        for direction in ("read", "write")
        if any(one.get(f"{direction}_calls") for one in files)
        and not any(f"{direction}_bytes" in one.get("missing", {}) for one in files)
    }


def _asked(direction: str, files: Sequence[Mapping[str, Any]]) -> AskedSizes:
    lists = [one.get(f"{direction}_sizes") or () for one in files]
    width = max((len(one) for one in lists), default=0)
    counts = [sum(one[place] for one in lists if len(one) > place) for place in range(width)]
    fits = width == len(SIZE_EDGES) and any(counts)
    return AskedSizes(
        direction,
        sum(one.get(f"{direction}_calls") or 0 for one in files),
        sum(one.get(f"{direction}_bytes") or 0 for one in files),
        SIZE_EDGES if fits else (),
        tuple(counts) if fits else (),
    )
