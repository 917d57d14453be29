# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A user's own jobs of the last weeks in a few figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select

from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._jobs import COLUMNS, with_names
from stripewise.fleet.queries._viewer import Viewer, is_not_all_known, jobs_of
from stripewise.fleet.tables import FindingRow, Job, JobSource, Person

OWN_DAYS = 30
BEFORE_DAYS = 150
"""A finding is new if no job of so many days before has it."""


@dataclass(frozen=True)
class OwnSummary:
    """A user's own jobs of the last `OWN_DAYS` days.

    Attributes:
        user: Name of the user.
        jobs: How many started.
        profiled: Of how many I/O is known.
        io_seconds / avoidable_seconds: Sums over those; None: none is known.
        not_estimated: Of these, of how many what can be avoided is not known, or not all.
        worst: The job that loses most, as in lists of jobs; None: none loses anything.
        new_findings: (code, number of jobs) of findings that no job of `BEFORE_DAYS` days before
            has; the most frequent first.
        served: Of how many the storage's servers counted bytes.
    """

    user: str
    jobs: int
    profiled: int
    io_seconds: float | None
    avoidable_seconds: float | None
    worst: Mapping[str, Any] | None
    new_findings: Sequence[tuple[str, int]]
    served: int = 0
    not_estimated: int = 0


def own_summary(connection: Connection, viewer: Viewer, now: float) -> OwnSummary | None:
    """Sum up a viewer's own jobs; None: no jobs can be theirs."""
    if viewer.role is None or viewer.person_id is None:
        return None
    since = int(now) - OWN_DAYS * DAY
    own = (Job.person_id == viewer.person_id, Job.start_at >= since)
    figures = jobs_of(
        viewer,
        *(func.count(), func.count(Job.io_seconds), func.sum(Job.io_seconds)),
        *(func.sum(Job.avoidable_seconds), func.count(Job.server_write_bytes)),
        func.count(case((is_not_all_known(Job.avoidable_seconds), 1))),
    ).where(*own)
    sums = connection.execute(figures).one()
    worst = with_names(jobs_of(viewer, *COLUMNS)).where(*own, Job.avoidable_seconds > 0)
    worst = worst.order_by(Job.avoidable_seconds.desc(), Job.id.desc()).limit(1)
    found = connection.execute(worst).one_or_none()
    user = select(Person.name).where(Person.id == viewer.person_id)
    return OwnSummary(
        connection.scalar(user) or "",
        *(sums[0], sums[1], sums[2], sums[3]),
        None if found is None else dict(found._mapping),
        _new_findings(connection, viewer, since),
        *(sums[4], sums[5]),
    )


def _new_findings(connection: Connection, viewer: Viewer, since: int) -> list[tuple[str, int]]:
    number = func.count(Job.id.distinct())
    query = (
        jobs_of(viewer, FindingRow.code, number)
        .join(JobSource, JobSource.job_id == Job.id)
        .join(FindingRow, FindingRow.source_id == JobSource.id)
        .where(Job.person_id == viewer.person_id)
        .group_by(FindingRow.code)
        .order_by(number.desc(), FindingRow.code)
    )
    fresh = connection.execute(query.where(Job.start_at >= since)).all()
    before = query.where(
        Job.start_at < since,
        Job.start_at >= since - BEFORE_DAYS * DAY,
        FindingRow.code.in_([row[0] for row in fresh]),
    )
    known = {row[0] for row in connection.execute(before)} if fresh else set()
    return [(row[0], row[1]) for row in fresh if row[0] not in known]
