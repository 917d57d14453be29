# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the database holds, how much of what ran it has seen, and what was refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, func, select, text

from stripewise.errors import StorageError
from stripewise.fleet._engine import need_file, refusals_said, shown, sqlite_file, str_of
from stripewise.fleet._schema import check_known, current, newest
from stripewise.fleet.tables import (
    CampaignRow,
    Job,
    JobFile,
    JobLoad,
    JobSource,
    Ledger,
    PairedRun,
    Person,
    Program,
    Sample,
)
from stripewise.fleet.upkeep._sizes import table_sizes, target_year_bytes

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
        database: Its URL, without a password.
        revision / newest_revision: Of its tables, and of those that this version makes.
        size_bytes: Of all of it.
        table_bytes: Of tables with their indexes, largest first; {}: the database does not tell.
        target_year_bytes: What samples, roll-ups and counters of jobs of one target take in a
            year, by what is there, as long as each is kept; None: too little is there.
        counts: Rows by what they are.
        sources: By kind.
        recorded_jobs: Of which the scheduler's record is there, and which ran.
        seen_jobs: Those of them of which a profile is there as well.
        last_ingest_at: Seconds since 1970; None: nothing was taken in yet.
        outcomes: Inputs by what became of them.
        refused / with_problems: The latest inputs that were not, or not wholly, taken in.
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
        """Share of the jobs that ran of which a profile is there; None: no job is recorded."""
        return self.seen_jobs / self.recorded_jobs if self.recorded_jobs else None

    @property
    def largest_tables(self) -> list[tuple[str, int]]:
        """The tables that take most."""
        return list(self.table_bytes.items())[:_MOST_TABLES]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "coverage": self.coverage}


def status(engine: Engine) -> Status:
    """Return the state of a database; of one with older tables only which those are.

    Raises:
        StorageError: It has no tables or newer ones, or cannot be reached.
    """
    need_file(engine)
    with refusals_said(engine), engine.connect() as connection:
        revision = current(connection)
        name = shown(str_of(engine))
        if not revision:
            raise StorageError(f"{name} holds no statistics: run `stripewise db init`")
        check_known(connection)
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
