# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Assigns rows of servers' counters to the runs of jobs, and keeps the sums of each job.

Ids wrap around, clusters have their own, and a requeued job keeps its id: a row belongs to the run
whose time contains it. A row that lies in two runs stays one row, of the run that it overlaps
most.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, bindparam, delete, func, select, update

from stripewise.centre.database.store._jobs import fitted, portions, put_all
from stripewise.centre.database.store._match import CLOCKS_SECONDS
from stripewise.centre.database.tables._jobs import Cluster, Job
from stripewise.centre.database.tables._storage import JobLoad, JobServed, JobTag

KEY = (JobLoad.file_system_id, JobLoad.at, JobLoad.tag_id, JobLoad.kind, JobLoad.server)
_LOADS, _JOBS = cast(Table, JobLoad.__table__), cast(Table, Job.__table__)
Place = tuple[int, int, str]
"""Job, file system, kind."""


class Ran(NamedTuple):
    """Time of a run of a job; `until` is None if it still runs, or its end is unknown."""

    job_id: int
    cluster_id: int
    start: float
    until: float | None


def settle(connection: Connection, raw_ids: Iterable[int], since: int | None = None) -> None:
    """Assign rows to the runs of jobs that they belong to, and update the sums of these jobs.

    Args:
        connection: Connection within a transaction in which `write_alone` was called.
        raw_ids: Job ids with new rows, or new records of the scheduler.
        since: Rows that begin earlier, in seconds since 1970, are unchanged; None to look at all.
    """
    for ids in portions(sorted(set(raw_ids))):
        tags = _tags(connection, ids)
        if tags:
            _settle(connection, tags, _runs(connection, ids), since)


def hand_over(connection: Connection, old: int, new: int) -> None:
    """Assign everything of one job to another one, before its row is deleted."""
    for table in (JobLoad, JobServed):
        line = update(table).where(table.job_id == old)
        connection.execute(line.values(job_id=new))


def run_of(at: float, until: float, runs: Sequence[Ran]) -> int | None:
    """Return the run that contains an interval, or None if none does or the cluster is ambiguous.

    Args:
        at: Start of the interval.
        until: End of the interval.
        runs: Runs with the job id in its name, on clusters that it may belong to.
    """
    near = [one for one in runs if _distance(at, until, one) <= CLOCKS_SECONDS]
    within = [one for one in near if _distance(at, until, one) == 0.0] or near
    if not within or len({one.cluster_id for one in within}) > 1:
        return None
    return max(within, key=lambda one: _nearness(at, until, one)).job_id


def _distance(at: float, until: float, one: Ran) -> float:
    after = 0.0 if one.until is None else at - one.until
    return max(one.start - until, after, 0.0)


def _nearness(at: float, until: float, one: Ran) -> tuple[float, float, float, int]:
    end = until if one.until is None else min(until, one.until)
    overlap = max(end - max(at, one.start), 0.0)
    return overlap, -_distance(at, until, one), one.start, one.job_id


def _tags(connection: Connection, raw_ids: Sequence[int]) -> dict[int, tuple[int | None, int]]:
    """Return the cluster (None if not reported) and job id of each name, by its key."""
    query = (
        select(JobTag.id, JobTag.cluster_id, JobTag.raw_id, Cluster.name)
        .join(Cluster, Cluster.id == JobTag.cluster_id)
        .where(JobTag.raw_id.in_(raw_ids))
    )
    return {
        row.id: (row.cluster_id if row.name else None, row.raw_id)
        for row in connection.execute(query)
    }


def _runs(connection: Connection, raw_ids: Sequence[int]) -> dict[int, list[Ran]]:
    query = select(Job.id, Job.cluster_id, Job.raw_id, Job.start_at, Job.end_at).where(
        Job.raw_id.in_(raw_ids), Job.is_recorded.is_(True), Job.start_at.is_not(None)
    )
    found = defaultdict(list)
    for row in connection.execute(query):
        found[row.raw_id].append(Ran(row.id, row.cluster_id, row.start_at, row.end_at))
    return found


def _settle(
    connection: Connection,
    tags: Mapping[int, tuple[int | None, int]],
    runs: Mapping[int, Sequence[Ran]],
    since: int | None,
) -> None:
    moved: list[dict[str, Any]] = []
    gains: dict[Place, WorkSums] = {}
    losers: set[int] = set()
    for row in _rows(connection, list(tags), since):
        cluster_id, raw_id = tags[row.tag_id]
        near = [one for one in runs.get(raw_id, ()) if cluster_id in (None, one.cluster_id)]
        goal = run_of(row.at, row.at + row.seconds, near)
        if goal == row.job_id:
            continue
        moved.append({f"k_{column.name}": row[i] for i, column in enumerate(KEY)} | {"goal": goal})
        if row.job_id is not None:
            losers.add(row.job_id)
        if goal is not None:
            place, one = (goal, row.file_system_id, row.kind), WorkSums.of_row(row)
            gains[place] = gains[place] + one if place in gains else one
    if moved:
        _move(connection, moved)
        _add(connection, {place: one for place, one in gains.items() if place[0] not in losers})
        resum(connection, losers)
        _tell_jobs(connection, {place[0] for place in gains} - losers)


def _rows(connection: Connection, tags: Sequence[int], since: int | None) -> Iterable[Any]:
    for ids in portions(tags):
        query = select(*JobLoad.__table__.c).where(JobLoad.tag_id.in_(ids))
        if since is not None:
            query = query.where(JobLoad.at >= since)
        yield from connection.execute(query).all()


def _move(connection: Connection, moved: Sequence[dict[str, Any]]) -> None:
    line = update(_LOADS).where(*(column == bindparam(f"k_{column.name}") for column in KEY))
    connection.execute(line.values(job_id=bindparam("goal")), list(moved))


def _add(connection: Connection, gains: Mapping[Place, WorkSums]) -> None:
    """Add to the sums of jobs."""
    total = dict(gains)
    for ids in portions(sorted({place[0] for place in gains})):
        query = select(*JobServed.__table__.c).where(JobServed.job_id.in_(ids))
        for row in connection.execute(query):
            place = (row.job_id, row.file_system_id, row.kind)
            if place in gains:
                total[place] = _kept(row) + gains[place]
    _put(connection, total)


def resum(connection: Connection, job_ids: Iterable[int]) -> None:
    """Compute the sums of jobs again from all their rows."""
    for ids in portions(sorted(job_ids)):
        total: dict[Place, WorkSums] = {}
        query = select(*JobLoad.__table__.c).where(JobLoad.job_id.in_(ids)).order_by(JobLoad.at)
        for row in connection.execute(query):
            place, one = (row.job_id, row.file_system_id, row.kind), WorkSums.of_row(row)
            total[place] = total[place] + one if place in total else one
        connection.execute(delete(JobServed).where(JobServed.job_id.in_(ids)))
        _put(connection, total)
        _tell_jobs(connection, set(ids))


def _kept(row: Any) -> WorkSums:
    return WorkSums(
        row.first_at, row.last_at, row.operations, row.moved_bytes, row.busy_seconds,
        parts_of(row.parts),
    )  # fmt: skip


def _put(connection: Connection, total: Mapping[Place, WorkSums]) -> None:
    rows = [
        fitted(JobServed, {
            "job_id": job_id, "file_system_id": file_system_id, "kind": kind,
            "first_at": one.at, "last_at": one.until, "operations": one.operations or 0,
            "moved_bytes": one.moved_bytes, "busy_seconds": one.busy_seconds,
            "parts": text_of(one.parts),
        })
        for (job_id, file_system_id, kind), one in sorted(total.items())
    ]  # fmt: skip
    put_all(connection, JobServed, ("job_id", "file_system_id", "kind"), rows)


def text_of(parts: Mapping[str, int]) -> str | None:
    """Return parts as text for a row."""
    return json.dumps(parts, separators=(",", ":"), sort_keys=True) if parts else None


def _tell_jobs(connection: Connection, job_ids: set[int]) -> None:
    """Set what servers counted for jobs; a counted direction that did not occur is zero."""
    now = int(time.time())
    for ids in portions(sorted(job_ids)):
        query = (
            select(JobServed.job_id, JobServed.kind, func.sum(JobServed.moved_bytes))
            .where(JobServed.job_id.in_(ids), JobServed.moved_bytes.is_not(None))
            .group_by(JobServed.job_id, JobServed.kind)
        )
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for job_id, kind, amount in connection.execute(query):
            found[job_id][kind] = int(amount or 0)
        rows = [
            {"k_id": job_id, "changed": now, **_amounts(found.get(job_id, {}))} for job_id in ids
        ]
        line = update(_JOBS).where(Job.id == bindparam("k_id"))
        connection.execute(line.values(
            server_read_bytes=bindparam("read"), server_write_bytes=bindparam("write"),
            changed_at=bindparam("changed"),
        ), rows)  # fmt: skip


def _amounts(found: Mapping[str, int]) -> dict[str, int | None]:
    least = 0 if found else None
    return {kind: found.get(kind, least) for kind in ("read", "write")}


# Sums of what jobs did to file systems.

LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class WorkSums:
    """Sum of what was done between two moments; None if not reported."""

    at: float
    until: float
    operations: int | None
    moved_bytes: int | None
    busy_seconds: float | None
    parts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_row(cls, row: Any) -> WorkSums:
        """Return the sums in a row of `tables.JobLoad`."""
        return cls(
            row.at, row.at + row.seconds, row.operations, row.moved_bytes, row.busy_seconds,
            parts_of(row.parts),
        )  # fmt: skip

    def __add__(self, other: WorkSums) -> WorkSums:
        """Return the sum of both; what one of them does not report is taken from the other."""
        parts = dict(self.parts)
        for name, number in other.parts.items():
            parts[name] = min(parts.get(name, 0) + number, LARGEST)
        return WorkSums(
            min(self.at, other.at),
            max(self.until, other.until),
            _whole(self.operations, other.operations),
            _whole(self.moved_bytes, other.moved_bytes),
            _sum(self.busy_seconds, other.busy_seconds),
            parts,
        )


def parts_of(text: str | None) -> dict[str, int]:
    """Return parts from the text in a row; {} if not reported or not readable."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: number for name, number in found.items() if isinstance(number, int)}


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def _whole(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one + other, LARGEST)
