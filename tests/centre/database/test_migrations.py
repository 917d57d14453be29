# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A database of the first form of the tables, with data in all of them, becomes one of today's."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, Engine, LargeBinary, MetaData, Table, func, select, text

from stripewise.centre.database._engine import newest
from stripewise.centre.database._schema import _configuration, check, current, initialise
from stripewise.centre.database.store._samples import make_months
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Base, Job, JobPattern
from support.fleet_records import job, jobs_of, source

FIRST = json.loads((Path(__file__).parent / "data" / "tables-0001.json").read_text())
"""Rows by table; what is compressed is in base 64."""


def test_the_first_form_has_rows_in_all_its_tables() -> None:
    assert all(FIRST.values())
    assert len(FIRST) >= 25


@pytest.mark.extended
def test_data_of_the_first_form_stay(empty_engine: Engine) -> None:
    before = _filled(empty_engine)
    assert initialise(empty_engine) == newest()
    check(empty_engine)
    with empty_engine.connect() as connection:
        for name, rows in before.items():
            assert _rows(connection, name) == _kept(connection, name, rows), name
        _check_references(connection)


@pytest.mark.extended
def test_zeros_that_stood_for_unknown_are_unknown(empty_engine: Engine) -> None:
    _filled(empty_engine)
    with empty_engine.execution_options(writing=True).begin() as connection:
        connection.execute(text(
            "UPDATE job SET avoidable_seconds = 0, avoidable_node_seconds = 0 WHERE id = 1"
        ))  # fmt: skip
        connection.execute(text("UPDATE job SET read_bytes = 0 WHERE id IN (1, 2)"))
        connection.execute(text("UPDATE job_source SET is_partial = true WHERE job_id = 1"))
        connection.execute(text("UPDATE job_pattern SET moved_bytes = 0"))
    initialise(empty_engine)
    with empty_engine.connect() as connection:
        for pattern in connection.execute(select(JobPattern.__table__)):
            assert pattern.moved_bytes is None
            assert "does not tell" in pattern.missing["moved_bytes"]
        rows = {row.id: row for row in connection.execute(select(Job.__table__))}
    assert (rows[1].avoidable_seconds, rows[1].avoidable_node_seconds) == (None, None)
    assert rows[1].missing["avoidable_seconds"] == "no finding has an estimate"
    assert (rows[1].read_bytes, rows[1].write_bytes) == (None, 2000)
    assert "not complete" in rows[1].missing["read_bytes"]
    assert (rows[2].avoidable_seconds, rows[2].read_bytes, rows[2].missing) == (0.0, 0, {})


def test_a_brought_up_database_takes_more(empty_engine: Engine) -> None:
    _filled(empty_engine)
    initialise(empty_engine)
    with empty_engine.execution_options(writing=True).begin() as connection:
        before = jobs_of(connection)
        Writer(connection).store([job(4711, 9000), source("new", 4711, start_at=9020.0)])
        assert len(jobs_of(connection)) == len(before) + 1


@pytest.mark.extended(keep=1)
def test_a_migration_that_fails_changes_nothing(
    empty_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _filled(empty_engine)
    monkeypatch.setattr("stripewise.centre.database._schema.current", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        initialise(empty_engine)
    monkeypatch.undo()
    with empty_engine.connect() as connection:
        assert current(connection) == "0001"
        assert {name: _rows(connection, name) for name in before} == before


def _filled(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Make the first form, and fill it; return its rows."""
    with engine.execution_options(writing=True).begin() as connection:
        configuration = _configuration()
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "0001")
        make_months(connection, [row["at"] for row in FIRST["sample"]])
        tables = MetaData()
        tables.reflect(connection, only=list(FIRST))
        for table in tables.sorted_tables:
            if table.name in FIRST:
                connection.execute(
                    table.insert(), [_read(table, row) for row in FIRST[table.name]]
                )
                _advance(connection, table)
        return {name: _rows(connection, name) for name in FIRST}


def _read(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    blobs = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    return {
        name: base64.b64decode(value) if name in blobs else value for name, value in row.items()
    }


def _advance(connection: Connection, table: Table) -> None:
    """Let PostgreSQL count on behind the keys that were given."""
    if connection.dialect.name == "postgresql" and "id" in table.columns:
        most = connection.scalar(select(func.max(table.c.id)))
        connection.execute(text(f"SELECT setval('{table.name}_id_seq', {most})"))


def _rows(connection: Connection, name: str) -> list[dict[str, Any]]:
    table = Table(name, MetaData(), autoload_with=connection)
    found = [dict(row) for row in connection.execute(select(table)).mappings()]
    return sorted(found, key=lambda row: repr(sorted(row.items())))


def _kept(connection: Connection, name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return old rows as they should be now: a new column has what its migration says."""
    now = {tuple(row[key] for key in _key(name)): row for row in _rows(connection, name)}
    kept = []
    for row in rows:
        after = now[tuple(row[key] for key in _key(name))]
        kept.append({column: row.get(column, after[column]) for column in after})
    return sorted(kept, key=lambda row: repr(sorted(row.items())))


def _key(name: str) -> list[str]:
    return [column.name for column in Base.metadata.tables[name].primary_key]


def _check_references(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    (told,) = connection.scalars(text("SELECT count(*) FROM job_source WHERE cluster_id > 0"))
    assert told == 1
