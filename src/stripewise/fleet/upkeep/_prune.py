# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is dropped when it is old: samples, counters of jobs, rows of single files, logins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, select

from stripewise.fleet._engine import refusals_said
from stripewise.fleet._samples import DAY, KEPT_DAYS, prune_samples
from stripewise.fleet._schema import check
from stripewise.fleet.served import prune_loads
from stripewise.fleet.tables import JobFile, JobSource, LoginAttempt, Session, Token


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
