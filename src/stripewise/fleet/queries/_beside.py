# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Beside a run: its own load by the servers' counters, and how long their operations took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._job import JobView
from stripewise.fleet.queries._service import (
    Service,
    SlowTarget,
    finest_times,
    is_slow,
    kind_of,
    services,
    slow_among,
)
from stripewise.fleet.tables import FileSystem, JobLoad, JobServed

_HOUR = 3600
_DAYS_BEFORE = 28


@dataclass(frozen=True)
class KindService:
    """Targets of one kind during a run.

    Attributes:
        kind: "OST", "MDT".
        seconds: Mean time of an operation; None: there were too few.
        usual_seconds: The same in these hours of the 28 days before; None: not known.
    """

    kind: str
    seconds: float | None
    usual_seconds: float | None


@dataclass(frozen=True)
class ServiceBeside:
    """How long operations took at the servers during a run.

    Attributes:
        kinds: Of all targets of each kind together.
        slow: Targets far slower than usual for them, or than the others; the slowest first.
    """

    kinds: Sequence[KindService]
    slow: Sequence[SlowTarget]


def bytes_served(connection: Connection, view: JobView) -> dict[str, int | None]:
    """Return the bytes that servers moved for a job, by file system that counted anything of it.

    None: metadata operations alone; whether there was data that nobody counted is not known.
    """
    query = (
        select(FileSystem.name, func.sum(JobServed.moved_bytes))
        .join(FileSystem, FileSystem.id == JobServed.file_system_id)
        .where(JobServed.job_id == view.row["id"])
        .group_by(FileSystem.name)
    )
    rows = connection.execute(query)
    return {name: None if moved is None else int(moved) for name, moved in rows}


def operations_served(connection: Connection, view: JobView) -> dict[str, int]:
    """Return the metadata operations that servers counted for a job, by file system."""
    query = (
        select(FileSystem.name, func.sum(JobServed.operations))
        .join(FileSystem, FileSystem.id == JobServed.file_system_id)
        .where(JobServed.job_id == view.row["id"], JobServed.kind == "metadata")
        .group_by(FileSystem.name)
    )
    return {name: int(number) for name, number in connection.execute(query)}


def last_served(connection: Connection, view: JobView) -> float | None:
    """Return until when servers have counted anything of a job; None: they did not."""
    query = select(func.max(JobServed.last_at)).where(JobServed.job_id == view.row["id"])
    return connection.scalar(query)


def job_rates(
    connection: Connection, job_id: int, file_system_id: int, at: Sequence[int], width: int
) -> dict[int, float]:
    """Return the bytes per second of a job in intervals in which servers counted any.

    Args:
        connection: To the database.
        job_id: Key of the job.
        file_system_id: Key of the file system.
        at: Begins of the intervals, one after the other.
        width: Of the intervals, in seconds.
    """
    query = select(JobLoad.at, JobLoad.seconds, func.sum(JobLoad.moved_bytes)).where(
        JobLoad.job_id == job_id,
        JobLoad.file_system_id == file_system_id,
        JobLoad.moved_bytes.is_not(None),
    )
    moved: dict[int, float] = defaultdict(float)
    for begin, seconds, amount in connection.execute(query.group_by(JobLoad.at, JobLoad.seconds)):
        end = begin + max(seconds, 1.0)
        first = begin - (begin - at[0]) % width
        for one in range(first, int(end) + 1, width):
            shared = min(end, one + width) - max(begin, one)
            if shared > 0:
                moved[one] += int(amount or 0) * shared / (end - begin)
    return {one: moved[one] / width for one in at if one in moved}


def service_beside(
    connection: Connection, file_system_id: int, begin: int, end: int
) -> ServiceBeside | None:
    """Return how long operations took in a time; None: nobody tells."""
    resolution = finest_times(connection, file_system_id, begin, end + 1)
    first = begin - begin % resolution
    during = services(connection, file_system_id, first, max(end, first + 1), resolution)
    if not during:
        return None
    hour = begin - begin % _HOUR
    hours = sorted({at % DAY // _HOUR for at in range(hour, max(end, hour + 1), _HOUR)[:24]})
    before = services(connection, file_system_id, hour - _DAYS_BEFORE * DAY, hour, _HOUR, hours)
    kinds = [
        KindService(kind, one.mean, _usual(before, kind))
        for kind, one in sorted(_by_kind(during).items())
    ]
    return ServiceBeside(kinds, _slow(during, before))


def _usual(before: Mapping[str, Service], kind: str) -> float | None:
    return _by_kind(before).get(kind, Service()).mean


def _by_kind(found: Mapping[str, Service]) -> dict[str, Service]:
    kinds: dict[str, Service] = {}
    for target, one in found.items():
        kind = kind_of(target)
        kinds[kind] = kinds.get(kind, Service()) + one
    return kinds


def _slow(during: Mapping[str, Service], before: Mapping[str, Service]) -> list[SlowTarget]:
    """Return targets that were slower than before, or than the others of their kind."""
    found = {one.target: one for one in slow_among(during)}
    for target, one in during.items():
        usual = before.get(target, Service()).mean
        if one.mean is not None and usual is not None and is_slow(one.mean, usual):
            found[target] = SlowTarget(target, one.mean, usual, is_own=True)
    return sorted(found.values(), key=lambda one: (-one.seconds, one.target))
