# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores what an agent delivers exactly once, and detects agents that report the same targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, column, delete, event, inspect, select, table
from sqlalchemy.engine import make_url

from stripewise.centre.database._engine import (
    check_revision,
    create_engine,
    database_errors,
    database_url,
    need_file,
    shown,
    to_initialise,
    url_text,
    write_alone,
)
from stripewise.centre.database._records import EventRecord, SampleRecord
from stripewise.centre.database.store._jobs import key_text, put_all
from stripewise.centre.database.store._loads import Load, Template, store_job_loads
from stripewise.centre.database.store._samples import store_event, store_growth
from stripewise.centre.database.store._settle import settle
from stripewise.centre.database.tables._jobs import Cluster
from stripewise.centre.database.tables._storage import (
    FileSystem,
    JobLoad,
    MonitorState,
    Sample,
    Series,
)
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.inputs import KEY, read_input

MARK = "agent"
"""Part of an agent's state that identifies its last delivery."""
_WAIT_SECONDS = 20.0
_LEAN = ("cache_size = -2048", "mmap_size = 0")


class TakenError(StorageError):
    """Another agent delivers under the same name."""


@dataclass(frozen=True)
class Delivery:
    """Content of one delivery, which is stored in one transaction.

    Attributes:
        agent: Name of the server that counted, under which its state is kept.
        cluster: Cluster of the clients; "" if not reported.
        at: Time of the delivery, in seconds since 1970.
        mark: Unique mark of this delivery.
        last_mark: Mark of the previous delivery; None if there was none.
        parts: Parts of the agent's state after this delivery.
        samples / events / loads: New data.
        templates: Templates of the names that clients give to jobs.
    """

    agent: str
    cluster: str
    at: float
    mark: bytes
    last_mark: bytes | None
    parts: Mapping[str, bytes]
    samples: Sequence[SampleRecord] = ()
    events: Sequence[EventRecord] = ()
    loads: Sequence[Load] = ()
    templates: Sequence[Template] = field(default_factory=tuple)


def open_store(database: str, password_file: str = "") -> Engine:
    """Return the engine of the database for an agent, configured to need little memory.

    Args:
        database: A URL, the path of an SQLite file, or "" as for `stripewise centre`.
        password_file: File whose first line is the password; "" if the URL, ~/.pgpass or
            PGPASSWORD has it, or none is needed.

    Raises:
        UsageError: It is not a URL, or the file cannot be read.
    """
    url = database_url(database)
    if password_file:
        try:
            lines = read_input(Path(password_file), KEY).decode("utf-8").splitlines()
        except OSError as error:
            raise UsageError(
                f"{password_file} cannot be read ({error.strerror}): check its path"
            ) from error
        except ValueError as error:
            raise UsageError(f"{password_file} is not UTF-8: write one line into it") from error
        made = make_url(url).set(password=lines[0] if lines else "")
        url = made.render_as_string(hide_password=False)
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _make_lean)
    return engine


def deliver(engine: Engine, delivery: Delivery) -> bool:
    """Store a delivery with the state after it, and return whether it was new.

    Raises:
        TakenError: Another agent has delivered under this name; nothing is stored.
        StorageError: The database refuses. It may have stored everything nevertheless, if the
            connection broke at the end: the same delivery can be made again.
    """
    with database_errors(engine), engine.execution_options(writing=True).begin() as connection:
        write_alone(connection, _WAIT_SECONDS)
        found = read_part(connection, delivery.agent, MARK)
        if found == delivery.mark:
            return False
        if found != delivery.last_mark:
            raise TakenError(
                f"another agent delivers as {delivery.agent!r}: end it, or give each of both a "
                "name of its own (`server` in the configuration) and start this one again"
            )
        store_growth(connection, delivery.samples)
        for one in delivery.events:
            store_event(connection, one)
        if delivery.loads:
            found_ids = store_job_loads(
                connection, delivery.cluster, delivery.agent, delivery.loads, delivery.templates
            )
            settle(connection, found_ids, min(one.at for one in delivery.loads))
        parts = {**delivery.parts, MARK: delivery.mark}
        write_parts(connection, delivery.agent, delivery.at, parts)
    return True


def _make_lean(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for line in _LEAN:
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


# State of agents: read at their start, written together with what they deliver.

_NEEDED = (MonitorState, JobLoad, Series, FileSystem, Cluster)
_REVISION = table("alembic_version", column("version_num"))


def ready(engine: Engine) -> None:
    """Refuse a database without the tables that agents write to.

    Raises:
        StorageError: It has no tables, or those of an older or newer version.
    """
    need_file(engine)
    name = shown(url_text(engine))
    there = set(inspect(engine).get_table_names())
    needed = [_REVISION.name, *(one.__tablename__ for one in _NEEDED)]
    absent = [one for one in needed if one not in there]
    if absent:
        raise StorageError(f"{name} has no table {absent[0]}: run {to_initialise(engine)}")
    with engine.connect() as connection:
        found = connection.scalar(select(_REVISION.c.version_num)) or ""
    check_revision(engine, str(found))


def read_state(engine: Engine, agent: str) -> dict[str, bytes]:
    """Return the state of an agent, part by part; {} if it has never delivered.

    Raises:
        StorageError: The database has no tables for it, or cannot be reached or written to.
    """
    with database_errors(engine):
        ready(engine)
        _try_to_write(engine, agent)
        with engine.connect() as connection:
            query = select(MonitorState.part, MonitorState.state)
            rows = connection.execute(query.where(MonitorState.agent == _key(agent)))
            return {row.part: bytes(row.state) for row in rows}


def _try_to_write(engine: Engine, agent: str) -> None:
    """Write and roll back, to notice missing write permission before the first delivery."""
    with engine.execution_options(writing=True).connect() as connection:
        write_parts(connection, agent, 0.0, {"attempt": b"0"})
        connection.rollback()


def read_part(connection: Connection, agent: str, part: str) -> bytes | None:
    """Return one part of the state of an agent, or None if there is none."""
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


# Targets that two agents report at the same time, so that their sums are twice the true amount.

LOOK_BACK_SECONDS = 900.0
_LEAST_SAMPLES = 3
_LEAST_SECONDS = 240.0
"""More than the accepted difference of clocks (120 s): a target that fails over is reported by one
agent, then by the other."""
_Key = tuple[str, str, str]
_Spans = list[tuple[float, float]]


class OtherAgent(NamedTuple):
    """Another agent, and the targets that it also reports.

    Attributes:
        file_system: File system of the targets.
        server: Name of the other agent's server.
        targets: Names of the targets, sorted.
    """

    file_system: str
    server: str
    targets: tuple[str, ...]


def other_agents(engine: Engine, server: str, samples: Iterable[SampleRecord]) -> list[OtherAgent]:
    """Return which other agents reported the same targets for the same minutes.

    Args:
        engine: Engine of the database.
        server: Name of the server whose agent asks.
        samples: What it has just delivered, with the targets and the times.

    Raises:
        StorageError: The database refuses.
    """
    counters = [one for one in samples if one.is_counter and one.target and one.values]
    if not counters:
        return []
    one_of_each: dict[tuple[str, str], str] = {}  # one counter of a target is enough
    for one in counters:
        place = (one.file_system, one.target)
        one_of_each[place] = min(one.metric, one_of_each.get(place, one.metric))
    since = max(at for one in counters for at, _, _ in one.values) - LOOK_BACK_SECONDS
    with database_errors(engine):
        series = _series(engine, one_of_each)
        wanted = {key for key in series if key[1] == server or _has(series, key, server)}
        spans = _spans(engine, [series[key] for key in wanted], since)
    found: dict[tuple[str, str], list[str]] = {}
    for key in sorted(wanted):
        file_system, other, target = key
        own = spans.get(series.get((file_system, server, target), -1), [])
        if other != server and _is_twice(own, spans.get(series[key], [])):
            found.setdefault((file_system, other), []).append(target)
    return [OtherAgent(*place, tuple(targets)) for place, targets in found.items()]


def _has(series: Mapping[_Key, int], key: _Key, server: str) -> bool:
    return (key[0], server, key[2]) in series


def _series(engine: Engine, wanted: Mapping[tuple[str, str], str]) -> dict[_Key, int]:
    """Return the series of some counters at all servers, by file system, server and target."""
    found = {}
    query = (
        select(Series.id, FileSystem.name, Series.server, Series.target, Series.metric)
        .join(FileSystem, FileSystem.id == Series.file_system_id)
        .where(
            FileSystem.name.in_({name for name, _ in wanted}),
            Series.target.in_({target for _, target in wanted}),
            Series.metric.in_(set(wanted.values())),
        )
    )
    with engine.connect() as connection:
        for key, file_system, server, target, metric in connection.execute(query):
            if wanted.get((file_system, target)) == metric:
                found[file_system, server, target] = key
    return found


def _spans(engine: Engine, keys: Sequence[int], since: float) -> dict[int, _Spans]:
    found: dict[int, _Spans] = {}
    query = select(Sample.series_id, Sample.at, Sample.seconds).where(
        Sample.series_id.in_(keys), Sample.at >= since
    )
    with engine.connect() as connection:
        for key, at, seconds in connection.execute(query):
            found.setdefault(key, []).append((at, at + seconds))
    return found


def _is_twice(own: _Spans, others: _Spans) -> bool:
    """Return whether two agents reported the same minutes, repeatedly and in separate samples.

    A target that was away has one long sample, over a time in which another agent reported it.
    """
    mine, theirs = _shared(own, others), _shared(others, own)
    return min(len(mine), len(theirs)) >= _LEAST_SAMPLES and sum(theirs) >= _LEAST_SECONDS


def _shared(spans: _Spans, others: _Spans) -> list[float]:
    """Return, for each span that others cover by more than half, how many seconds they cover."""
    seconds = [
        sum(max(min(end, until) - max(begin, start), 0.0) for start, until in others)
        for begin, end in spans
    ]
    return [
        shared for shared, (begin, end) in zip(seconds, spans, strict=True)
        if shared > 0.5 * (end - begin)
    ]  # fmt: skip
