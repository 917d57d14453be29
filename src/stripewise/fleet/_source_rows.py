# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A profile into its tables: at first with a job of its own."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, insert, select

from stripewise.fleet._fitting import fitted, key_text
from stripewise.fleet._job_rows import JobRows
from stripewise.fleet._names import LONGEST_NAME, Names
from stripewise.fleet._records import SourceRecord
from stripewise.fleet.tables import (
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    SettingRow,
)

_PARTS = ((JobIo, "io"), (JobFile, "files"), (JobPattern, "patterns"), (FindingRow, "findings"),
          (SettingRow, "settings"))  # fmt: skip
NO_JOB_ID = "no job id"


def store_source(
    connection: Connection, names: Names, jobs: JobRows, record: SourceRecord
) -> None:
    """Store a profile that is not there yet.

    Args:
        connection: Within a transaction.
        names: Keys of names.
        jobs: Is told which jobs are to be looked at again.
        record: The profile.
    """
    query = select(JobSource.id).where(JobSource.digest == record.digest)
    if connection.scalar(query) is not None:
        return
    cluster_id = names.cluster(record.cluster)
    raw_id = record.raw_id if record.raw_id and 0 < record.raw_id < 1 << 63 else None
    job_id = jobs.add({"cluster_id": cluster_id, "raw_id": raw_id})
    values = _values(record, names, job_id, cluster_id if record.cluster else None)
    key = connection.execute(insert(JobSource).values(**values)).inserted_primary_key
    assert key is not None
    _store_parts(connection, record, int(key[0]))
    jobs.to_total.add(job_id)
    if raw_id is not None:
        jobs.to_assign.add(raw_id)


def drop_source(connection: Connection, jobs: JobRows, digest: str) -> None:
    """Delete a profile with its rows.

    Args:
        connection: Within a transaction.
        jobs: Is told which jobs are to be looked at again.
        digest: Of its content.
    """
    query = select(JobSource.id, JobSource.job_id, Job.raw_id).join(
        Job, Job.id == JobSource.job_id
    )
    row = connection.execute(query.where(JobSource.digest == digest)).one_or_none()
    if row is None:
        return
    for table, _ in _PARTS:
        connection.execute(delete(table).where(table.source_id == row.id))
    connection.execute(delete(JobSource).where(JobSource.id == row.id))
    jobs.to_total.add(row.job_id)
    if row.raw_id is not None:
        jobs.to_assign.add(row.raw_id)


def _values(
    record: SourceRecord, names: Names, job_id: int, cluster_id: int | None
) -> dict[str, Any]:
    return fitted(JobSource, {
        "job_id": job_id,
        "cluster_id": cluster_id,
        "kind": record.kind,
        "digest": record.digest,
        "name": record.name,
        "program_id": names.program(record.program),
        "match_rule": NO_JOB_ID,
        "confidence": 0.0,
        "start_at": record.start_at,
        "end_at": record.end_at,
        "uid": record.uid,
        "user": key_text(record.user, LONGEST_NAME) if record.user else None,
        "rank_count": record.figures.get("n_ranks") or None,
        "is_partial": record.is_partial,
        "is_vouched": record.is_vouched,
        "io_seconds": record.figures.get("io_seconds"),
        "document": record.document,
        "rows": record.rows,
    })  # fmt: skip


def _store_parts(connection: Connection, record: SourceRecord, source_id: int) -> None:
    for table, name in _PARTS:
        rows = [
            fitted(
                table,
                {
                    "source_id": source_id,
                    **({} if table is JobIo else {"number": number}),
                    **row,
                },
            )
            for number, row in enumerate(getattr(record, name))
        ]
        if rows:
            connection.execute(insert(table), rows)
