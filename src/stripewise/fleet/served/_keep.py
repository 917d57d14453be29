# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Old rows of servers' counters: dropped; their jobs keep the sums."""

from __future__ import annotations

from sqlalchemy import Connection, delete, exists, or_, select

from stripewise.fleet._samples import DAY
from stripewise.fleet.tables import FileSystem, Job, JobLoad, JobTag

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
