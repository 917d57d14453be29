# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far agents got: read at their start, written together with what they deliver."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, Engine, delete, inspect, select

from stripewise.errors import StorageError
from stripewise.fleet._engine import need_file, refusals_said, shown, str_of
from stripewise.fleet._fitting import key_text
from stripewise.fleet._names import put_all
from stripewise.fleet.tables import Cluster, FileSystem, JobLoad, MonitorState, Series

_NEEDED = (MonitorState, JobLoad, Series, FileSystem, Cluster)


def ready(engine: Engine) -> None:
    """Refuse a database without the tables that agents write to.

    The revision is not looked at: to know it takes memory that an agent does not have.

    Raises:
        StorageError: It has none, or those of an older version.
    """
    need_file(engine)
    there = set(inspect(engine).get_table_names())
    absent = [table.__tablename__ for table in _NEEDED if table.__tablename__ not in there]
    if absent:
        raise StorageError(
            f"{shown(str_of(engine))} has no table {absent[0]}: run `stripewise db init`"
        )


def read_state(engine: Engine, agent: str) -> dict[str, bytes]:
    """Return the state of an agent, part by part; {}: it has never delivered.

    Raises:
        StorageError: The database has no tables for it, cannot be reached, or not be written: that
            would show at the first delivery alone.
    """
    with refusals_said(engine):
        ready(engine)
        with engine.execution_options(writing=True).begin() as connection:
            of_none = MonitorState.agent == _key(agent), MonitorState.part == ""
            connection.execute(delete(MonitorState).where(*of_none))
            query = select(MonitorState.part, MonitorState.state)
            rows = connection.execute(query.where(MonitorState.agent == _key(agent)))
            return {row.part: bytes(row.state) for row in rows}


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
