# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Drops what is past its age limit: samples, job counters, rows of single files, logins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, exists, or_, select

from stripewise.centre.database._engine import refusals_said
from stripewise.centre.database._schema import check
from stripewise.centre.database.store._samples import DAY, KEPT_DAYS, prune_samples
from stripewise.centre.database.tables._access import LoginAttempt, Session, Token
from stripewise.centre.database.tables._jobs import Job, JobFile, JobSource
from stripewise.centre.database.tables._storage import FileSystem, JobLoad, JobTag


@dataclass(frozen=True)
class Pruned:
    """How many rows are gone.

    Attributes:
        samples: Samples and roll-ups.
        loads: Rows of what servers counted for jobs over time; the sums of the jobs stay.
        files: Rows of single files; their jobs' figures and profiles stay.
        logins: Sessions, tokens and attempts to log in that have expired.
    """

    samples: int
    loads: int
    files: int
    logins: int


def prune(engine: Engine, now: int, files_older_days: int | None = None) -> Pruned:
    """Drop what is older than it is kept, all in one transaction.

    Args:
        engine: Of the database.
        now: Seconds since 1970.
        files_older_days: Rows of files of runs that began earlier go; None: they stay.

    Raises:
        StorageError: The database refuses; nothing is dropped.
    """
    check(engine)
    with refusals_said(engine), engine.execution_options(writing=True).begin() as connection:
        samples = prune_samples(connection, now, KEPT_DAYS)
        loads = prune_loads(connection, now)
        files = 0
        if files_older_days is not None:
            old = select(JobSource.id).where(JobSource.start_at < now - files_older_days * DAY)
            files = _gone(connection, JobFile, JobFile.source_id.in_(old))
        logins = sum(
            _gone(connection, table, table.expires_at < now)
            for table in (Session, Token, LoginAttempt)
        )
        return Pruned(samples, loads, files, logins)


def _gone(connection: Connection, table: Any, where: Any) -> int:
    return int(connection.execute(delete(table).where(where)).rowcount)


# Old rows of servers' counters: dropped; their jobs keep the sums.

KEPT_LOAD_DAYS = 90


def prune_loads(connection: Connection, now: int, kept_days: int = KEPT_LOAD_DAYS) -> int:
    """Delete rows that are older than they are kept; return how many.

    Rows of a job go together, when it ended before; so do rows of no known job, and names that
    have no rows any more.

    Args:
        connection: Within a transaction.
        now: Seconds since 1970.
        kept_days: Age in days.
    """
    before = now - kept_days * DAY
    over = exists(select(Job.id).where(Job.id == JobLoad.job_id, Job.end_at < before))
    gone = 0
    for key in connection.scalars(select(FileSystem.id)).all():
        line = delete(JobLoad).where(
            JobLoad.file_system_id == key,
            JobLoad.at < before,
            or_(JobLoad.job_id.is_(None), over),
        )
        gone += connection.execute(line).rowcount
    if gone:
        used = exists(select(JobLoad.tag_id).where(JobLoad.tag_id == JobTag.id))
        connection.execute(delete(JobTag).where(~used))
    return gone
