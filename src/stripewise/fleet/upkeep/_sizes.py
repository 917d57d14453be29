# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How much room tables take, and a target of a storage in a year."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from stripewise.fleet._engine import sqlite_file
from stripewise.fleet._samples import DAY, KEPT_DAYS, RESOLUTIONS
from stripewise.fleet.served import KEPT_LOAD_DAYS
from stripewise.fleet.tables import JobLoad, Rollup, Sample, Series

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

    {}: SQLite was built without the table that tells them, or would read too much for it: all.
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
    """Return what one target of the storage will take in a year; None: too little is there.

    Each kind of rows grows as it did in the time that is there, until it is old enough to go.
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
    size += _of_rollups(connection, tables.get("rollup", 0), days)
    size += _kept(tables.get("job_load", 0) + tables.get("job_tag", 0), _days_of_loads(connection),
                  KEPT_LOAD_DAYS)  # fmt: skip
    return int(size / targets)


def _kept(size_bytes: float, days: float, kept_days: float) -> float:
    """Return the room of rows after a year, from what those of so many days take."""
    seen = max(min(days, kept_days), _LEAST_DAYS)
    return size_bytes / seen * min(kept_days, YEAR_DAYS)


def _of_rollups(connection: Connection, size_bytes: int, days: float) -> float:
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
