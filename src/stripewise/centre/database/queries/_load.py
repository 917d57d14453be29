# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports what the storage moved for everybody during a job, and how long operations took.

Besides the job's own data, only sums over all users are read; nothing reveals whose they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from stripewise.centre.database._records import known_amount
from stripewise.centre.database.queries._job import JobView
from stripewise.centre.database.queries._patterns import briefly
from stripewise.centre.database.queries._series import (
    ENOUGH,
    KINDS,
    METADATA,
    MOST_READ,
    READ,
    WRITE,
    curve,
    for_whole,
    parts_of,
    width_for,
)
from stripewise.centre.database.queries._service import (
    Service,
    SlowTarget,
    finest_times,
    is_slow,
    kind_of,
    services,
    slow_among,
)
from stripewise.centre.database.store._samples import DAY, RESOLUTIONS
from stripewise.centre.database.tables._storage import FileSystem, JobLoad, JobServed
from stripewise.core import Amount, total

# Load of a run by the servers' counters, and how long their operations took.

_HOUR = 3600
_DAYS_BEFORE = 28


@dataclass(frozen=True)
class KindService:
    """Operation times of targets of one kind during a run.

    Attributes:
        kind: "OST" or "MDT".
        seconds: Mean time of an operation; None if there were too few.
        usual_seconds: The same in these hours of the 28 days before; None if unknown.
    """

    kind: str
    seconds: float | None
    usual_seconds: float | None


@dataclass(frozen=True)
class ServiceBeside:
    """How long operations took at the servers during a run.

    Attributes:
        kinds: All targets of each kind together.
        slow: Targets far slower than usual, or than the others of their kind, slowest first.
    """

    kinds: Sequence[KindService]
    slow: Sequence[SlowTarget]


def bytes_served(connection: Connection, view: JobView) -> dict[str, int | None]:
    """Return the bytes that servers moved for a job, by file system that counted any operation.

    None means only metadata operations: whether there was data that nobody counted is unknown.
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
    """Return the end of what servers counted for a job, or None if they counted nothing."""
    query = select(func.max(JobServed.last_at)).where(JobServed.job_id == view.row["id"])
    return connection.scalar(query)


def job_rates(
    connection: Connection, job_id: int, file_system_id: int, at: Sequence[int], width: int
) -> dict[int, float]:
    """Return the bytes per second of a job in the intervals in which servers counted any.

    Args:
        connection: Connection to the database.
        job_id: Key of the job.
        file_system_id: Key of the file system.
        at: Starts of consecutive intervals.
        width: Width of the intervals, in seconds.
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
    """Return how long operations took in a time span, or None if nothing reports it."""
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


# What the storage moved for everybody while a job ran: was it the job or the others?

HOUR = 3600
DAYS_BEFORE = 28
"""Days before a run with which it is compared: four of each day of the week."""
LEAST_HOURS = 24
"""Minimum number of hours from which the usual load is determined."""
_MOST_POINTS = 1500
_LEAST_MARGIN, _LEAST_AROUND = 1800, 12
"""Minimum seconds, and minimum number of intervals, that are returned before and after a run."""
_MOST_HOURS = 24
_COVERED = 0.4
"""Minimum sampled share of an interval with a known rate: one of two samples (chosen)."""

Rates = Mapping[int, float]
"""Bytes per second of all parts of a storage together, by start of the interval."""


@dataclass(frozen=True)
class StorageLoad:
    """Load of a storage system around a job that used it.

    Attributes:
        file_system: Name of the file system.
        begin / end: Start and end of the job.
        job_bytes: Bytes that the job moved there, by the servers' counters of jobs if they report
            it, otherwise by its profile; None if the servers counted only metadata operations.
        is_served: Whether that figure comes from the servers.
        resolution_seconds: Width of the intervals.
        at: Starts of the intervals, before, during and after the run.
        read / write: Bytes per second in each interval; None if unknown.
        storage_bytes: Bytes moved for everybody in the intervals that cover the run, as far as
            they are known; None if none is.
        covered_share: Share of these intervals that are known.
        busier_than: Share of the hours of the days before in which less was moved than in the
            hours of the run; None if unknown.
        compared_hours: Number of those hours.
        job: Bytes per second of the job in each interval of its run, by the servers' counters; ()
            if they do not report it. An item is None if it is unknown or the job did not run.
        service: How long operations took at the servers; None if not reported.
        job_operations_share: Share of the job in the metadata operations of all, by the servers'
            counters; None if unknown, or if the job made none.
    """

    file_system: str
    begin: int
    end: int
    job_bytes: int | None
    resolution_seconds: int
    at: Sequence[int]
    read: Sequence[float | None]
    write: Sequence[float | None]
    storage_bytes: float | None
    covered_share: float
    busier_than: float | None
    compared_hours: int
    is_served: bool = False
    job: Sequence[float | None] = ()
    service: ServiceBeside | None = None
    job_operations_share: float | None = None

    @property
    def job_share(self) -> float | None:
        """Share of the job in what the storage moved; None if unknown."""
        if self.job_bytes is None or not self.storage_bytes or self.covered_share < ENOUGH:
            return None
        return min(self.job_bytes * self.covered_share / self.storage_bytes, 1.0)

    @property
    def covering_seconds(self) -> int:
        """Total length of the intervals that cover the run."""
        covering = _covering(self.begin, self.end, self.resolution_seconds)
        return len(covering) * self.resolution_seconds

    @property
    def job_bytes_per_second(self) -> float | None:
        """Average rate of the job over its run; None if unknown."""
        if self.job_bytes is None:
            return None
        return self.job_bytes / max(self.end - self.begin, 1)

    @property
    def storage_bytes_per_second(self) -> float | None:
        """Average rate of the storage in the intervals that cover the run."""
        if self.storage_bytes is None:
            return None
        return self.storage_bytes / (self.covering_seconds * self.covered_share)


def loads_beside(connection: Connection, view: JobView, most: int = 3) -> list[StorageLoad]:
    """Return the load of a job's storage systems that are sampled, the most used one first.

    Args:
        connection: Connection to the database.
        view: The job as its viewer sees it.
        most: Maximum number of storage systems.
    """
    span = _span(view, last_served(connection, view))
    if span is None:
        return []
    found: list[StorageLoad] = []
    for one in _used(connection, view):
        if len(found) < most:
            load = _load(connection, one, span, view.row["id"])
            found += [load] if load is not None else []
    return found


class _Use(NamedTuple):
    """A sampled storage that a job used, with bytes by the servers, otherwise by the profile.

    `moved` is None if the servers counted only metadata operations and no profile reports all of
    the data. `operations` are metadata operations counted by the servers.
    """

    sampled: _Sampled
    moved: int | None
    is_served: bool
    operations: int = 0


def _used(connection: Connection, view: JobView) -> list[_Use]:
    """Return the sampled storage systems that a job used, the one with most bytes first."""
    amounts_by_name: dict[str, list[Amount]] = defaultdict(list)
    storages: dict[str, _Sampled] = {}
    for source in view.counted:
        for row in source.io:
            sampled = _sampled(connection, row["file_system"])
            if sampled is not None:
                storages[sampled.name] = sampled
                amounts_by_name[sampled.name] += [known_amount(row, "read_bytes"),
                                       known_amount(row, "write_bytes")]  # fmt: skip
    found: dict[str, _Use] = {}
    for name, amounts in amounts_by_name.items():
        moved = total(amounts)
        found[name] = _Use(storages[name], int(moved.least) if moved.is_exact else None, False)
    for name, counted in bytes_served(connection, view).items():
        sampled = _sampled(connection, name)
        if sampled is None:
            continue
        by_profile = found.get(sampled.name)
        if counted is not None or by_profile is None or not by_profile.moved:
            found[sampled.name] = _Use(sampled, counted, True)
    operations = operations_served(connection, view)
    used = [
        one._replace(operations=operations.get(one.sampled.name, 0))
        for one in found.values()
        if one.moved is None or one.moved > 0
    ]
    return sorted(used, key=lambda one: -(one.moved or 0))


def rates_in_hours(
    connection: Connection, name: str, spans: Mapping[int, tuple[int, int]]
) -> dict[int, float]:
    """Return the mean rate of a storage in the hours of some spans; unknown ones are left out.

    Args:
        connection: Connection to the database.
        name: Name of the storage, or mount point of its files.
        spans: Start and end by key; of long spans the first `_MOST_HOURS` hours count.
    """
    hours = {
        key: list(_covering(begin, end, HOUR))[:_MOST_HOURS] for key, (begin, end) in spans.items()
    }
    wanted = sorted({at for some in hours.values() for at in some})
    sampled = _sampled(connection, name)
    if sampled is None or not wanted:
        return {}
    times = (wanted[0], wanted[-1] + HOUR)
    rates = _sum(_rates(connection, sampled.series, times, HOUR, moments=wanted).values())
    return {
        key: sum(rates[at] for at in some) / len(some)
        for key, some in hours.items()
        if all(at in rates for at in some)
    }


def _span(view: JobView, last: float | None) -> tuple[int, int] | None:
    """Return when a job ran; for one that still runs, up to its last record or server sample."""
    row = view.row
    begin, end = row["start_at"], row["end_at"]
    if begin is None:
        return None
    if end is None:
        seconds = row["run_seconds"]
        known = [] if seconds is None else [begin + seconds]
        end = max([*known, *([] if last is None else [last])], default=None)
    return None if end is None or end < begin else (int(begin), int(end))


def _load(
    connection: Connection, use: _Use, span: tuple[int, int], job_id: int
) -> StorageLoad | None:
    sampled, (begin, end) = use.sampled, span
    series = sampled.series
    every = [key for keys in series.values() for key in keys]
    for resolution in RESOLUTIONS:
        width = width_for(connection, every, resolution)
        margin = max(end - begin, _LEAST_MARGIN, _LEAST_AROUND * width)
        at = _covering(begin - margin, end + margin, width)
        if len(at) > _MOST_POINTS or len(at) * width / resolution * len(every) > MOST_READ:
            continue
        rates = _rates(connection, series, (at[0], at[-1] + width), resolution, width)
        during, total = _covering(begin, end, width), _sum(rates.values())
        if any(one in total for one in during):
            break
    else:
        return None
    known = [total[one] * width for one in during if one in total]
    usual, hours = _compared(connection, series, span)
    mine = job_rates(connection, job_id, sampled.id, at, width) if use.is_served else {}
    return StorageLoad(
        sampled.name, begin, end, use.moved, width, at,
        [rates[READ].get(one) for one in at],
        [rates[WRITE].get(one) for one in at],
        sum(known) if known else None, len(known) / len(during), usual, hours, use.is_served,
        [_of_job(mine, total, one, during) for one in at] if mine else (),
        service_beside(connection, sampled.id, begin, end),
        _operations_share(connection, use, resolution, during),
    )  # fmt: skip


def _operations_share(
    connection: Connection, use: _Use, resolution: int, during: range
) -> float | None:
    """Return the share of a job in all metadata operations while it ran; None if unknown."""
    series = use.sampled.metadata
    if not use.operations or not series:
        return None
    times = (during[0], during[-1] + during.step)
    rates = _rates(connection, {METADATA: series}, times, resolution, during.step)[METADATA]
    known = [rates[one] * during.step for one in during if one in rates]
    if not sum(known) or len(known) < ENOUGH * len(during):
        return None
    return min(use.operations * len(known) / len(during) / sum(known), 1.0)


def _of_job(mine: Rates, total: Rates, at: int, during: range) -> float | None:
    """Return the rate of a job in an interval; 0 if servers counted, but nothing for the job."""
    if at in mine:
        return mine[at]
    return 0.0 if at in during and at in total else None


def _compared(
    connection: Connection, series: Mapping[str, Sequence[int]], span: tuple[int, int]
) -> tuple[float | None, int]:
    """Return the share of earlier hours in which less was moved, and the number of those hours."""
    begin, end = span
    hours = list(_covering(begin, end, HOUR))
    first = hours[0] - DAYS_BEFORE * 24 * HOUR
    rates = _sum(_rates(connection, series, (first, hours[-1] + HOUR), HOUR).values())
    before = [rate for at, rate in rates.items() if at < hours[0]]
    during = [rates[at] for at in hours if at in rates]
    if len(before) < LEAST_HOURS or not during:
        return None, len(before)
    mean = sum(during) / len(during)
    return sum(rate < mean for rate in before) / len(before), len(before)


def _covering(begin: float, end: float, resolution: int) -> range:
    """Return the starts of the intervals that cover a span, at least one."""
    first = int(begin) - int(begin) % resolution
    return range(first, max(int(end), first + 1), resolution)


class _Sampled(NamedTuple):
    """A storage that is sampled: its name, and the series of each metric that form its total.

    `metadata` are those of metadata operations; () if they are not sampled.
    """

    id: int
    name: str
    series: Mapping[str, Sequence[int]]
    metadata: Sequence[int]


def _sampled(connection: Connection, name: str) -> _Sampled | None:
    """Return the sampled storage of the name that a profile uses, or None if it is not sampled."""
    return briefly(connection, ("sampled", name), lambda: _find_sampled(connection, name))


def _find_sampled(connection: Connection, name: str) -> _Sampled | None:
    systems = connection.execute(select(FileSystem.id, FileSystem.name, FileSystem.mount)).all()
    for key, known, mount in systems:
        if name in (known, f"/{known}", *mount.splitlines()):
            parts = parts_of(connection, key, (READ, WRITE, METADATA, *KINDS))
            found = {metric: for_whole(parts, metric) for metric in (READ, WRITE)}
            operations = for_whole(parts, METADATA)
            return _Sampled(key, known, found, operations) if all(found.values()) else None
    return None


def _rates(
    connection: Connection,
    series: Mapping[str, Sequence[int]],
    times: tuple[int, int],
    resolution: int,
    width: int = 0,
    moments: Sequence[int] = (),
) -> dict[str, Rates]:
    """Return the rate of each metric in a time span, by moment; for arguments see `curve`."""
    return {
        metric: curve(connection, keys, *times, resolution, width=width, moments=moments,
                      covered=_COVERED).values
        for metric, keys in series.items()
    }  # fmt: skip


def _sum(rates: Iterable[Rates]) -> Rates:
    """Sum rates at the moments at which all of them are known."""
    first, *others = rates
    return {
        at: rate + sum(other[at] for other in others)
        for at, rate in sorted(first.items())
        if all(at in other for other in others)
    }
