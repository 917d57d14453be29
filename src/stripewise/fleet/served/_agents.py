# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far agents got: read at their start, written together with what they deliver."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from sqlalchemy import Connection, Engine, column, delete, inspect, select, table

from stripewise.errors import StorageError
from stripewise.fleet._engine import need_file, refusals_said, shown, str_of, to_initialise
from stripewise.fleet._fitting import key_text
from stripewise.fleet._names import put_all
from stripewise.fleet.tables import Cluster, FileSystem, JobLoad, MonitorState, Series

_NEEDED = (MonitorState, JobLoad, Series, FileSystem, Cluster)
_REVISION = table("alembic_version", column("version_num"))


def ready(engine: Engine) -> None:
    """Refuse a database without the tables that agents write to.

    Raises:
        StorageError: It has none, or those of an older or newer version.
    """
    need_file(engine)
    name = shown(str_of(engine))
    there = set(inspect(engine).get_table_names())
    needed = [_REVISION.name, *(one.__tablename__ for one in _NEEDED)]
    absent = [one for one in needed if one not in there]
    if absent:
        raise StorageError(f"{name} has no table {absent[0]}: run {to_initialise(engine)}")
    with engine.connect() as connection:
        found = connection.scalar(select(_REVISION.c.version_num)) or ""
    _check_revision(engine, name, str(found))


def _check_revision(engine: Engine, name: str, found: str) -> None:
    """Refuse another revision than this version's, by the names of the migrations.

    `stripewise.fleet.check` asks Alembic, which takes memory that an agent does not have.
    """
    versions = files("stripewise.fleet") / "migrations" / "versions"
    known = {file.name.partition("_")[0] for file in versions.iterdir() if file.name[0].isdigit()}
    if found not in known:
        raise StorageError(
            f"{name} was made by a newer Stripewise (its tables have revision {found}): update "
            "Stripewise on this host"
        )
    if found != max(known):
        raise StorageError(
            f"{name} has tables of an older version ({found}; {max(known)} is needed): make a "
            f"backup (`stripewise db backup`), then run {to_initialise(engine)}"
        )


def read_state(engine: Engine, agent: str) -> dict[str, bytes]:
    """Return the state of an agent, part by part; {}: it has never delivered.

    Raises:
        StorageError: The database has no tables for it, cannot be reached, or not be written to.
    """
    with refusals_said(engine):
        ready(engine)
        _try_to_write(engine, agent)
        with engine.connect() as connection:
            query = select(MonitorState.part, MonitorState.state)
            rows = connection.execute(query.where(MonitorState.agent == _key(agent)))
            return {row.part: bytes(row.state) for row in rows}


def _try_to_write(engine: Engine, agent: str) -> None:
    """Write and take it back: who may read only would learn it with the first delivery."""
    with engine.execution_options(writing=True).connect() as connection:
        write_parts(connection, agent, 0.0, {"attempt": b"0"})
        connection.rollback()


def read_part(connection: Connection, agent: str, part: str) -> bytes | None:
    """Return one part of the state of an agent; None: there is none."""
    query = select(MonitorState.state).where(
        MonitorState.agent == _key(agent), MonitorState.part == part
    )
    found = connection.scalar(query)
    return None if found is None else bytes(found)


def write_parts(connection: Connection, agent: str, at: float, parts: Mapping[str, bytes]) -> None:
    """Write parts of the state of an agent; empty ones are removed."""
    key = _key(agent)
    rows = [
        {"agent": key, "part": part, "at": at, "state": state}
        for part, state in sorted(parts.items())
        if state
    ]
    put_all(connection, MonitorState, ("agent", "part"), rows)
    gone = [part for part, state in parts.items() if not state]
    if gone:
        connection.execute(
            delete(MonitorState).where(MonitorState.agent == key, MonitorState.part.in_(gone))
        )


def _key(agent: str) -> str:
    return key_text(agent, 255)
