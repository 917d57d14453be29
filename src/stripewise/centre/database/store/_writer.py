# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes all records of an input in one transaction, and assigns profiles to their jobs.

Storing a record twice changes nothing; records may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from stripewise.centre.database._engine import write_alone
from stripewise.centre.database._records import (
    CampaignRecord,
    EventRecord,
    JobRecord,
    PairRecord,
    Record,
    SampleRecord,
    SourceRecord,
)
from stripewise.centre.database.store._figures import store_figures
from stripewise.centre.database.store._jobs import (
    LONGEST_NAME,
    JobRows,
    NameKeys,
    fitted,
    key_text,
    only_uid,
    put,
    unnumbered_of,
    unrecorded_of_uids,
)
from stripewise.centre.database.store._match import Assignment, Candidate, ProfileRun, Span, assign
from stripewise.centre.database.store._regressions import mark_slower
from stripewise.centre.database.store._samples import store_event, store_samples
from stripewise.centre.database.store._settle import hand_over, settle
from stripewise.centre.database.tables._jobs import (
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    PairedRun,
    Person,
    SettingRow,
)
from stripewise.centre.database.tables._storage import CampaignFigure, CampaignRow

_BATCH = 500
"""Number of job records that are looked up at a time."""


class Writer:
    """Stores records through one connection.

    On PostgreSQL only one writer is active at a time, as on SQLite: what is looked up stays true
    until the end of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        """Store a connection, which is within a transaction."""
        self.connection = connection
        self.names = NameKeys(connection)
        self._jobs: list[JobRecord] = []
        self._rows = JobRows(connection, self.names)
        write_alone(connection)

    def store(self, records: Iterable[Record]) -> None:
        """Store records, then update the figures of their jobs."""
        for record in records:
            self._store(record)
        self.finish()

    def finish(self) -> None:
        """Assign profiles and counters to jobs again, and update the figures of these jobs."""
        self._flush()
        rows = self._rows
        rows.to_assign |= unnumbered_of(self.connection, self.names.renumbered)
        self.names.renumbered.clear()
        for raw_id in sorted(rows.to_assign):
            rows.to_total |= assign_sources(self.connection, raw_id, rows)
        rows.to_assign.clear()
        rows.to_total |= unrecorded_of_uids(self.connection, self.names.remapped)
        self.names.remapped.clear()
        for job_id in sorted(rows.to_total):
            store_figures(self.connection, self.names, job_id)
        mark_slower(self.connection, rows.to_total)
        rows.to_total.clear()
        settle(self.connection, rows.to_settle)
        rows.to_settle.clear()

    def _store(self, record: Record) -> None:
        if isinstance(record, JobRecord):
            self._jobs.append(record)
            if len(self._jobs) >= _BATCH:
                self._flush()
        elif isinstance(record, SourceRecord):
            store_source(self.connection, self.names, self._rows, record)
        elif isinstance(record, PairRecord):
            self._pair(record)
        elif isinstance(record, CampaignRecord):
            self._campaign(record)
        elif isinstance(record, SampleRecord):
            store_samples(self.connection, record)
        else:
            assert isinstance(record, EventRecord)
            store_event(self.connection, record)

    def _flush(self) -> None:
        self._rows.store(self._jobs)
        self._jobs = []

    def forget(self, digest: str) -> None:
        """Remove a profile or a campaign that its file does not contain any more."""
        drop_source(self.connection, self._rows, digest)
        self._drop_campaign(digest)

    def _pair(self, record: PairRecord) -> None:
        """Store the result of a study, which replaces or revokes its former result."""
        if not record.columns:
            self.connection.execute(delete(PairedRun).where(PairedRun.digest == record.digest))
            return
        values = {
            **record.columns,
            "program_id": self.names.program(record.program),
            "person_id": self.names.person(record.user),
        }
        key = {"digest": record.digest}
        put(self.connection, PairedRun, key, fitted(PairedRun, values))

    def _drop_campaign(self, digest: str) -> None:
        query = select(CampaignRow.id).where(CampaignRow.digest == digest)
        keys = self.connection.scalars(query).all()
        self.connection.execute(delete(CampaignFigure).where(CampaignFigure.campaign_id.in_(keys)))
        self.connection.execute(delete(CampaignRow).where(CampaignRow.id.in_(keys)))

    def _campaign(self, record: CampaignRecord) -> None:
        """Store a campaign; one that continued replaces its former figures."""
        values = fitted(CampaignRow, dict(record.columns))
        put(self.connection, CampaignRow, {"digest": record.digest}, values)
        query = select(CampaignRow.id).where(CampaignRow.digest == record.digest)
        key = self.connection.scalar(query)
        own = CampaignFigure.campaign_id == key
        self.connection.execute(delete(CampaignFigure).where(own))
        rows = [
            fitted(CampaignFigure, {"campaign_id": key, "number": number, **row})
            for number, row in enumerate(record.figures)
        ]
        if rows:
            self.connection.execute(insert(CampaignFigure), rows)


# Stores a profile in its tables, at first with a job of its own.

_PARTS = ((JobIo, "io"), (JobFile, "files"), (JobPattern, "patterns"), (FindingRow, "findings"),
          (SettingRow, "settings"))  # fmt: skip
NO_JOB_ID = "no job id"


def store_source(
    connection: Connection, names: NameKeys, jobs: JobRows, record: SourceRecord
) -> None:
    """Store a profile that is not there yet.

    Args:
        connection: Connection within a transaction.
        names: Resolves names to keys.
        jobs: Collects the jobs that must be updated.
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
        connection: Connection within a transaction.
        jobs: Collects the jobs that must be updated.
        digest: Digest of its content.
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
    record: SourceRecord, names: NameKeys, job_id: int, cluster_id: int | None
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


# Assigns profiles to the jobs that they belong to, by the rules in `_match`.


def assign_sources(connection: Connection, raw_id: int, jobs: JobRows) -> set[int]:
    """Assign all profiles with a job id again, and return the jobs whose profiles have changed.

    Args:
        connection: Connection within a transaction.
        raw_id: The job id.
        jobs: Creates jobs that only profiles report.
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


def _run(row: Any) -> ProfileRun:
    span = Span(row.start_at, row.end_at, row.uid, row.user or "", row.is_vouched)
    return ProfileRun(row.digest, row.cluster_id, span)


def _goals_of_groups(
    found: Assignment, sources: Mapping[str, Any], raw_id: int, jobs: JobRows
) -> dict[str, int]:
    """Return the jobs of profiles without a record: one for each group, existing if possible."""
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
    """Replace jobs that only profiles reported by those whose records have just arrived.

    The pages of a job keep their addresses. Returns the final key for each new job.
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
