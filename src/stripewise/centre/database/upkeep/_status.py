# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports the content of the database, its coverage of what ran, and its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import DBAPIError

from stripewise.centre.database._engine import (
    check_known,
    database_errors,
    need_file,
    newest,
    shown,
    sqlite_file,
    url_text,
)
from stripewise.centre.database._schema import current
from stripewise.centre.database.store._samples import DAY, KEPT_DAYS, RESOLUTIONS
from stripewise.centre.database.tables._access import Ledger
from stripewise.centre.database.tables._jobs import (
    Job,
    JobFile,
    JobSource,
    PairedRun,
    Person,
    Program,
)
from stripewise.centre.database.tables._storage import CampaignRow, JobLoad, Rollup, Sample, Series
from stripewise.centre.database.upkeep._backup import KEPT_LOAD_DAYS
from stripewise.core.errors import StorageError

# Size of tables, and of one target of a storage system in a year.

YEAR_DAYS = 365
_LEAST_DAYS = 0.25
_MOST_READ_BYTES = 2 << 30
_POSTGRES = """
SELECT coalesce(parent.relname, own.relname) AS name, sum(pg_total_relation_size(own.oid)) AS size
FROM pg_class own
LEFT JOIN pg_inherits ON inhrelid = own.oid
LEFT JOIN pg_class parent ON parent.oid = inhparent
WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace
GROUP BY 1
"""
_SQLITE = """
SELECT m.tbl_name AS name, sum(s.pgsize) AS size
FROM dbstat s JOIN sqlite_schema m ON m.name = s.name WHERE s.aggregate = 1 GROUP BY 1
"""


def table_sizes(connection: Connection) -> dict[str, int]:
    """Return the bytes of tables with their indexes, largest first.

    {} if SQLite was built without the table that reports sizes, or the database is too large to
    scan.
    """
    if _is_large(connection):
        return {}
    query = _POSTGRES if connection.dialect.name == "postgresql" else _SQLITE
    try:
        with connection.begin_nested():
            rows = connection.execute(text(query)).all()
    except DBAPIError:
        return {}
    found = {str(row.name): int(row.size) for row in rows}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _is_large(connection: Connection) -> bool:
    file = sqlite_file(connection.engine)
    return file is not None and file.exists() and file.stat().st_size > _MOST_READ_BYTES


def target_year_bytes(connection: Connection, tables: Mapping[str, int]) -> int | None:
    """Return the yearly growth of one target of the storage in bytes, or None for too few data.

    Each kind of rows is assumed to grow as it has so far, until it reaches its age limit.
    """
    targets = connection.scalar(
        select(func.count()).select_from(
            select(Series.file_system_id, Series.target).where(Series.target != "").distinct()
            .subquery()
        )
    )  # fmt: skip
    span = connection.execute(select(func.min(Sample.at), func.max(Sample.at))).one()
    days = 0.0 if span[0] is None else (span[1] - span[0]) / DAY
    if not targets or days < _LEAST_DAYS or not tables:
        return None
    size = _kept(tables.get("sample", 0), days, KEPT_DAYS[0])
    size += _yearly_rollup_bytes(connection, tables.get("rollup", 0), days)
    size += _kept(tables.get("job_load", 0) + tables.get("job_tag", 0), _days_of_loads(connection),
                  KEPT_LOAD_DAYS)  # fmt: skip
    return int(size / targets)


def _kept(size_bytes: float, days: float, kept_days: float) -> float:
    """Return the size of rows after a year, from the size of those of so many days."""
    seen = max(min(days, kept_days), _LEAST_DAYS)
    return size_bytes / seen * min(kept_days, YEAR_DAYS)


def _yearly_rollup_bytes(connection: Connection, size_bytes: int, days: float) -> float:
    query = select(Rollup.resolution_seconds, func.count()).group_by(Rollup.resolution_seconds)
    counts: dict[int, int] = defaultdict(int)
    counts.update((row[0], row[1]) for row in connection.execute(query))
    every = sum(counts.values()) or 1
    return sum(
        _kept(size_bytes * counts[one] / every, days, KEPT_DAYS.get(one, YEAR_DAYS))
        for one in RESOLUTIONS
    )


def _days_of_loads(connection: Connection) -> float:
    first, last = connection.execute(select(func.min(JobLoad.at), func.max(JobLoad.at))).one()
    return 0.0 if first is None else float(last - first) / DAY


# Content of the database, its coverage of what ran, and what was refused.

_MOST_NAMED = 50
_MOST_TABLES = 5
_COUNTED: dict[str, Any] = {
    "jobs": Job, "sources": JobSource, "files": JobFile, "pairs": PairedRun,
    "campaigns": CampaignRow, "samples": Sample, "loads": JobLoad,
    "users": Person, "programs": Program,
}  # fmt: skip


@dataclass(frozen=True)
class Status:
    """State of a database.

    Attributes:
        database: URL of the database, without a password.
        revision / newest_revision: Revision of its tables, and that which this version creates.
        size_bytes: Size of the whole database.
        table_bytes: Size of tables with their indexes, largest first; {} if the database does not
            report it.
        target_year_bytes: Yearly size of samples, roll-ups and counters of jobs of one target,
            from the present rows and their age limits; None for too few data.
        counts: Number of rows by kind.
        sources: Number of sources by kind.
        recorded_jobs: Number of jobs that ran and have a scheduler record.
        seen_jobs: Number of these that also have a profile.
        last_ingest_at: Seconds since 1970; None if nothing has been ingested yet.
        outcomes: Number of inputs by outcome.
        refused / with_problems: The latest inputs that were refused, or read only in part.
    """

    database: str
    revision: str
    newest_revision: str
    size_bytes: int
    table_bytes: dict[str, int] = field(default_factory=dict)
    target_year_bytes: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    recorded_jobs: int = 0
    seen_jobs: int = 0
    last_ingest_at: int | None = None
    outcomes: dict[str, int] = field(default_factory=dict)
    refused: list[dict[str, Any]] = field(default_factory=list)
    with_problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def coverage(self) -> float | None:
        """Share of the jobs that ran for which there is a profile; None if no job is recorded."""
        return self.seen_jobs / self.recorded_jobs if self.recorded_jobs else None

    @property
    def largest_tables(self) -> list[tuple[str, int]]:
        """The largest tables."""
        return list(self.table_bytes.items())[:_MOST_TABLES]

    def as_json(self) -> dict[str, Any]:
        """Return the status as plain data."""
        return {**asdict(self), "coverage": self.coverage}


def status(engine: Engine) -> Status:
    """Return the state of a database; if its tables are older, only their revision.

    Raises:
        StorageError: It has no tables or newer ones, or cannot be reached.
    """
    need_file(engine)
    with database_errors(engine), engine.connect() as connection:
        revision = current(connection)
        name = shown(url_text(engine))
        if not revision:
            raise StorageError(f"{name} holds no statistics: run `stripewise centre init`")
        check_known(engine, revision)
        size = _size_bytes(connection)
        if revision != newest():
            return Status(name, revision, newest(), size)
        ran = (Job.is_recorded, Job.start_at.is_not(None))
        return Status(
            name,
            revision,
            newest(),
            size,
            table_bytes=(tables := table_sizes(connection)),
            target_year_bytes=target_year_bytes(connection, tables),
            counts={what: _count(connection, table) for what, table in _COUNTED.items()},
            sources=_groups(connection, JobSource.kind),
            recorded_jobs=_count(connection, Job, *ran),
            seen_jobs=_count(connection, Job, *ran, Job.source_count > 0),
            last_ingest_at=connection.scalar(select(func.max(Ledger.at))),
            outcomes=_groups(connection, Ledger.outcome),
            refused=_named(connection, Ledger.outcome == "refused"),
            with_problems=_named(connection, Ledger.outcome == "stored", Ledger.reason != ""),
        )


def _count(connection: Connection, table: Any, *where: Any) -> int:
    query = select(func.count()).select_from(table).where(*where)
    return int(connection.execute(query).scalar_one())


def _groups(connection: Connection, column: Any) -> dict[str, int]:
    query = select(column, func.count()).group_by(column).order_by(column)
    return {str(row[0]): int(row[1]) for row in connection.execute(query)}


def _named(connection: Connection, *where: Any) -> list[dict[str, Any]]:
    query = select(Ledger.name, Ledger.kind, Ledger.reason, Ledger.at).where(*where)
    query = query.order_by(Ledger.at.desc(), Ledger.name).limit(_MOST_NAMED)
    return [dict(row._mapping) for row in connection.execute(query)]


def _size_bytes(connection: Connection) -> int:
    file = sqlite_file(connection.engine)
    if file is None:
        query = "SELECT pg_database_size(current_database())"
        return int(connection.execute(text(query)).scalar_one())
    parts = (file.with_name(file.name + end) for end in ("", "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
