# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of jobs from their profiles, into their rows."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, select, update

from stripewise.fleet._documents import unpack
from stripewise.fleet._fitting import fitted
from stripewise.fleet._job_rows import reason
from stripewise.fleet._names import Names
from stripewise.fleet._totals import Told, totals
from stripewise.fleet.tables import FindingRow, Job, JobPattern, JobSource
from stripewise.model import Amount

_OF_TOTALS = (
    *("io_seconds", "io_share", "read_bytes", "write_bytes", "read_seconds", "write_seconds"),
    *("meta_seconds", "meta_operations", "file_count", "shared_file_count", "bytes_per_second"),
    *("finding_count", "top_finding", "avoidable_seconds", "avoidable_node_seconds", "pattern"),
    *("rank_count", "program_id", "read_only_count", "write_only_count"),
    *("cumulated_read_seconds", "cumulated_write_seconds", "cumulated_meta_seconds"),
    "missing",
)
_NO_NODES = "the number of nodes is not known"


def store_figures(connection: Connection, names: Names, job_id: int) -> None:
    """Bring the figures of a job up to date; one that nothing tells of any more goes.

    Args:
        connection: Within a transaction.
        names: Tell whose a number is.
        job_id: Key of the job.
    """
    job = connection.execute(select(Job.__table__).where(Job.id == job_id)).mappings().first()
    if job is None:
        return
    sources = _sources(connection, job_id)
    if not sources and not job["is_recorded"]:
        connection.execute(delete(Job).where(Job.id == job_id))
        return
    told = _told(connection, job_id, sources)
    row: dict[str, Any] = {**dict.fromkeys(_OF_TOTALS), "missing": {}, **totals(told)}
    profiled = row.pop("profiled_seconds", None)
    if not job["is_recorded"]:
        row |= _of_unrecorded(names, job["cluster_id"], sources, told)
        row["run_seconds"] = profiled
    node_count = row.get("node_count", job["node_count"])
    if told:
        row |= _avoidable_on_nodes(row, node_count)
    row["source_count"] = len(told)
    row["no_data_reason"] = None if told else reason(dict(job))
    changes = {name: value for name, value in fitted(Job, row).items() if job[name] != value}
    if changes:
        line = update(Job).where(Job.id == job_id)
        connection.execute(line.values(**changes, changed_at=int(time.time())))


def _avoidable_on_nodes(row: Mapping[str, Any], node_count: int | None) -> dict[str, Any]:
    seconds, missing = row["avoidable_seconds"], row["missing"]
    why = missing.get("avoidable_seconds", "") or ("" if node_count else _NO_NODES)
    amount = Amount.of(None if seconds is None or not node_count else seconds * node_count, why)
    name = "avoidable_node_seconds"
    return {name: amount.value, "missing": {**missing, name: why} if why else missing}


def _sources(connection: Connection, job_id: int) -> Sequence[Any]:
    query = select(
        *(JobSource.id, JobSource.kind, JobSource.program_id, JobSource.start_at),
        *(JobSource.end_at, JobSource.document, JobSource.uid, JobSource.user),
    )
    return connection.execute(
        query.where(JobSource.job_id == job_id).order_by(JobSource.digest)
    ).all()


def _told(connection: Connection, job_id: int, sources: Sequence[Any]) -> list[Told]:
    if not sources:
        return []
    of_job = (JobSource.job_id == job_id,)
    findings: dict[int, list[tuple[str, float | None]]] = defaultdict(list)
    query = select(FindingRow.source_id, FindingRow.code, FindingRow.cost_seconds)
    query = query.join(JobSource, JobSource.id == FindingRow.source_id).where(*of_job)
    for source_id, code, seconds in connection.execute(query.order_by(FindingRow.number)):
        findings[source_id].append((code, seconds))
    columns = (JobPattern.source_id, JobPattern.form, JobPattern.moved_bytes, JobPattern.missing)
    patterns: dict[int, list[tuple[str, Amount]]] = defaultdict(list)
    every = select(*columns).join(JobSource, JobSource.id == JobPattern.source_id).where(*of_job)
    for source_id, form, moved, missing in connection.execute(every.order_by(JobPattern.number)):
        patterns[source_id].append(
            (form, Amount.of(moved, (missing or {}).get("moved_bytes", "")))
        )
    return [
        Told(row.kind, row.program_id, row.start_at, row.end_at, _figures(unpack(row.document)),
             findings[row.id], _largest(patterns[row.id]))
        for row in sources
    ]  # fmt: skip


def _largest(patterns: Sequence[tuple[str, Amount]]) -> str:
    """Return the form that moved most; "" where it is not known which one did."""
    for form, amount in patterns:
        others = (other.most for name, other in patterns if name != form)
        if amount.least >= max(others, default=0.0):
            return form
    return ""


def _figures(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a profile; zeros of one of earlier versions that is partial go."""
    figures: dict[str, Any] = document["figures"]
    if "missing" in figures or not document.get("partial"):
        return figures
    zeros = [name for name, value in figures.items() if value == 0 and name in _AMOUNTS]
    return {**figures, "missing": dict.fromkeys(zeros, "a profile is not complete")}


_AMOUNTS = ("read_bytes", "write_bytes", "io_seconds", "meta_operations", "n_files")


def _of_unrecorded(
    names: Names, cluster_id: int, sources: Sequence[Any], told: Sequence[Told]
) -> dict[str, Any]:
    """Return what the profiles tell of a job without a record."""
    users = [row.user for row in sources if row.user]
    uid = next((row.uid for row in sources if row.uid is not None), None)
    starts = [row.start_at for row in sources if row.start_at is not None]
    ends = [row.end_at for row in sources if row.end_at is not None]
    hosts = [one.figures.get("n_hosts") or 0 for one in told]
    return {
        "person_id": names.person(users[0]) if users else names.owner(cluster_id, uid),
        "uid": uid,
        "start_at": int(min(starts)) if starts else None,
        "end_at": int(max(ends)) if ends else None,
        "node_count": max(hosts, default=0) or None,
    }
