# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Marks the jobs whose I/O took longer than that of earlier runs of the same program and user."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, select, update

from stripewise.centre.database.store._jobs import portions
from stripewise.centre.database.tables._jobs import Job
from stripewise.core.regression import MOST_RUNS, PastRun, slowdown

_COLUMNS = (
    *(Job.id, Job.start_at, Job.io_seconds, Job.read_bytes, Job.write_bytes, Job.rank_count),
    *(Job.slower_factor, Job.usual_io_seconds, Job.earlier_count, Job.missing),
)
_SEEN = 2 * MOST_RUNS
"""Number of runs before and after a job that are looked at, as not all of them are alike."""


def mark_slower(connection: Connection, job_ids: Iterable[int]) -> None:
    """Compare jobs, and the runs after them, with their history.

    Args:
        connection: Connection within a transaction.
        job_ids: Jobs whose figures have changed.
    """
    spans: dict[_Whose, list[int]] = {}
    for ids in portions(sorted(job_ids)):
        query = select(Job.person_id, Job.uid, Job.cluster_id, Job.program_id, Job.start_at).where(
            Job.id.in_(ids), Job.program_id.is_not(None), Job.start_at.is_not(None)
        )
        for row in connection.execute(query):
            one = _Whose(row.person_id, row.uid, row.cluster_id, row.program_id or 0)
            key = one if one.person_id is None else one._replace(uid=None, cluster_id=0)
            spans.setdefault(key, []).append(row.start_at)
    for one, starts in spans.items():
        if one.person_id is not None or one.uid is not None:
            _mark(connection, _runs(connection, one, min(starts), max(starts)), min(starts))


class _Whose(NamedTuple):
    """User and program; a user without a name is known by number on a cluster."""

    person_id: int | None
    uid: int | None
    cluster_id: int
    program_id: int

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on their jobs, for which the index of the user's jobs is used."""
        of_program = Job.program_id + 0 == self.program_id
        if self.person_id is not None:
            return [Job.person_id == self.person_id, of_program]
        same = [Job.person_id.is_(None), Job.uid == self.uid, Job.cluster_id == self.cluster_id]
        return [*same, of_program]


def _runs(connection: Connection, whose: _Whose, first: int, last: int) -> Sequence[Any]:
    """Return the runs in a span of time, with those around it, oldest first."""
    query = select(*_COLUMNS).where(*whose.conditions(), Job.io_seconds.is_not(None))
    before = connection.execute(
        query.where(Job.start_at < first).order_by(Job.start_at.desc(), Job.id.desc()).limit(_SEEN)
    ).all()
    within = connection.execute(
        query.where(Job.start_at >= first, Job.start_at <= last).order_by(Job.start_at, Job.id)
    ).all()
    after = connection.execute(
        query.where(Job.start_at > last).order_by(Job.start_at, Job.id).limit(_SEEN)
    ).all()
    return [*reversed(before), *within, *after]


def _mark(connection: Connection, rows: Sequence[Any], since: int) -> None:
    """Store the comparison of each run from `since` on that differs from the stored one."""
    runs = [_run(row) for row in rows]
    for place, row in enumerate(rows):
        if row.start_at < since:
            continue
        found = slowdown(runs[place], runs[max(place - _SEEN, 0) : place])
        values = {
            "slower_factor": None if found is None else found.factor,
            "usual_io_seconds": None if found is None else found.usual_seconds,
            "earlier_count": None if found is None else found.run_count,
        }
        if any(getattr(row, name) != value for name, value in values.items()):
            line = update(Job).where(Job.id == row.id)
            connection.execute(line.values(**values, changed_at=int(time.time())))


def _run(row: Any) -> PastRun:
    """Return a run; an amount that is known in part is not compared."""
    missing = row.missing or {}
    amounts = [
        None if name in missing else getattr(row, name) for name in ("read_bytes", "write_bytes")
    ]
    moved = None if None in amounts else float(sum(one or 0 for one in amounts))
    seconds = None if "io_seconds" in missing else row.io_seconds
    return PastRun(seconds, moved, row.rank_count)
