# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles to the jobs that they belong to, as the matching of `_match` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from stripewise.fleet._job_rows import JobRows
from stripewise.fleet._match import Assignment, Candidate, Run, Span, assign
from stripewise.fleet._names import only_uid
from stripewise.fleet.served import hand_over
from stripewise.fleet.tables import Job, JobSource, Person


def assign_sources(connection: Connection, raw_id: int, jobs: JobRows) -> set[int]:
    """Assign all profiles with a job id anew; return the jobs whose profiles are others now.

    Args:
        connection: Within a transaction.
        raw_id: The job id.
        jobs: Makes jobs that only profiles tell of.
    """
    sources = _sources(connection, raw_id)
    if not sources:
        return set()
    recorded = _recorded(connection, raw_id)
    found = assign([_run(row) for row in sources.values()], [one for one, _ in recorded])
    goals = {
        digest: match.job_id for digest, match in found.matches.items() if match.job_id is not None
    }
    goals |= _goals_of_groups(found, sources, raw_id, jobs)
    fresh = {one.job_id for one, key in recorded if key in jobs.made}
    taken = _take_over(connection, sources, goals, fresh)
    changed = set(taken.values())
    for digest, row in sources.items():
        job_id = taken.get(goals[digest], goals[digest])
        if job_id != row.job_id:
            changed |= {row.job_id, job_id}
        _keep(connection, row, job_id, found.matches[digest])
    return changed


def _sources(connection: Connection, raw_id: int) -> dict[str, Any]:
    query = (
        select(
            *(JobSource.id, JobSource.digest, JobSource.job_id, JobSource.cluster_id),
            *(JobSource.start_at, JobSource.end_at, JobSource.uid, JobSource.user),
            *(JobSource.is_vouched, JobSource.match_rule, JobSource.confidence, Job.is_recorded),
            Job.cluster_id.label("job_cluster_id"),
        )
        .join(Job, Job.id == JobSource.job_id)
        .where(Job.raw_id == raw_id)
        .order_by(JobSource.digest)
    )
    return {row.digest: row for row in connection.execute(query)}


def _recorded(connection: Connection, raw_id: int) -> list[tuple[Candidate, tuple[int, ...]]]:
    query = (
        select(
            *(Job.id, Job.cluster_id, Job.submit_at, Job.start_at, Job.end_at, Person.name),
            func.coalesce(Job.uid, only_uid(Job.cluster_id, Job.person_id)).label("uid"),
        )
        .outerjoin(Person, Person.id == Job.person_id)
        .where(Job.raw_id == raw_id, Job.is_recorded.is_(True))
    )
    return [
        (
            Candidate(row.id, row.cluster_id, row.submit_at,
                      Span(row.start_at, row.end_at, row.uid, row.name or "")),
            (row.cluster_id, raw_id, row.submit_at),
        )
        for row in connection.execute(query)
    ]  # fmt: skip


def _run(row: Any) -> Run:
    span = Span(row.start_at, row.end_at, row.uid, row.user or "", row.is_vouched)
    return Run(row.digest, row.cluster_id, span)


def _goals_of_groups(
    found: Assignment, sources: Mapping[str, Any], raw_id: int, jobs: JobRows
) -> dict[str, int]:
    """Return the jobs of profiles without a record: one for each group, kept if there is one."""
    goals: dict[str, int] = {}
    taken: set[int] = set()
    unknown = jobs.names.cluster("")
    for group in found.groups:
        held = {sources[run.digest].job_id for run in group
                if not sources[run.digest].is_recorded}  # fmt: skip
        job_id = min(held - taken, default=None)
        if job_id is None:
            job_id = jobs.add({"cluster_id": group[0].cluster_id or unknown, "raw_id": raw_id})
        taken.add(job_id)
        goals |= {run.digest: job_id for run in group}
    return goals


def _take_over(
    connection: Connection, sources: Mapping[str, Any], goals: Mapping[str, int], fresh: set[int]
) -> dict[int, int]:
    """Let jobs of which only profiles told become those whose records have just come.

    So the pages of a job stay where they are.  Returns new jobs -> those that they now are.
    """
    kept = set(goals.values())
    taken: dict[int, int] = {}
    for digest, row in sources.items():
        goal, old = goals[digest], row.job_id
        if goal not in fresh or goal in taken or row.is_recorded or old in kept:
            continue
        if old in taken.values():
            continue
        columns = connection.execute(select(Job.__table__).where(Job.id == goal)).mappings().one()
        hand_over(connection, goal, old)
        connection.execute(delete(Job).where(Job.id == goal))
        values = {name: value for name, value in columns.items() if name != "id"}
        connection.execute(update(Job).where(Job.id == old).values(**values))
        taken[goal] = old
    return taken


def _keep(connection: Connection, row: Any, job_id: int, match: Sequence[Any]) -> None:
    _, rule, confidence = match
    if (row.job_id, row.match_rule, row.confidence) != (job_id, rule, confidence):
        line = update(JobSource).where(JobSource.id == row.id)
        values = {"job_id": job_id, "match_rule": rule, "confidence": confidence}
        connection.execute(line.values(**values))
