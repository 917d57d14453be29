# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database as a sink: what is refused, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, event, select, text, update

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database import store as served
from stripewise.centre.database.tables import MonitorState
from stripewise.centre.monitor.sinks._base import SinkError
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from stripewise.core.errors import ConfigurationError
from support.monitor_targets import T0, Target
from support.store_agents import Agent, loads, rows, samples, started


def test_another_agent_of_this_name_is_refused(engine: Engine) -> None:
    target = Target("OST0000")
    first, second = started(engine), started(engine)
    first.run([target], 0.0, 60.0)
    with pytest.raises(SinkError, match="another agent delivers as 'oss1'") as told:
        second.run([target], 0.0, 61.0)
    assert "\n" not in str(told.value)
    with pytest.raises(SinkError, match="another agent"):
        second.run([target], 200.0)
    first.run([target], 120.0)
    assert len(samples(engine, "read_bytes")) == 2


def test_a_database_that_is_not_there_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "fleet.sqlite"
    agent = Agent(str(path))
    target = Target("OST0000")
    with pytest.raises(SinkError, match="nothing is counted until") as told:
        agent.sink.deliver()
    assert "stripewise centre init" in str(told.value)
    agent.sink.take(agent.reader.round([target], T0))
    engine = create_engine(str(path))
    initialise(engine)
    target.work("7", "read", 500)
    agent.run([target], 60.0, 120.0)
    assert samples(engine, "read_bytes") == []
    target.work("8", "read", 5, at=T0 + 170.0)
    agent.run([target], 180.0, 240.0, 600.0, 660.0)
    assert sum(row[5] for row in samples(engine, "read_bytes")) == 5.0
    assert [(row[0], row[5]) for row in loads(engine)] == [("8", 5)]


def test_old_tables_are_named(tmp_path: Path) -> None:
    path = tmp_path / "fleet.sqlite"
    path.touch()
    with pytest.raises(SinkError, match="run `stripewise centre init --db"):
        Agent(str(path)).sink.deliver()


@pytest.mark.parametrize(("revision", "remedy"), [
    ("0001", "before the first release .*revision 0001.*`stripewise centre init --db"),
    ("9999", "newer Stripewise .*update Stripewise"),
])  # fmt: skip
def test_tables_of_another_version_are_refused(engine: Engine, revision: str, remedy: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    with pytest.raises(SinkError, match=remedy):
        started(engine)


@pytest.mark.extended(keep=1)
def test_who_may_read_only_learns_it_at_once(empty_engine: Engine) -> None:
    initialise(empty_engine)
    line = "SET default_transaction_read_only = on"
    if empty_engine.dialect.name == "sqlite":
        line = "PRAGMA query_only = ON"
    agent = Agent(empty_engine)
    agent.sink._state = None
    event.listen(agent.sink._connect().pool, "connect", lambda one, _: _run(one, line))
    agent.sink._connect().dispose()
    with pytest.raises(SinkError, match="write"):
        agent.sink.deliver()


def _run(connection: Any, line: str) -> None:
    connection.cursor().execute(line)
    connection.commit()


def test_an_attempt_to_write_leaves_nothing(engine: Engine) -> None:
    started(engine)
    assert rows(engine, select(MonitorState.part)) == []


def test_state_that_is_damaged_is_not_counted_from(engine: Engine) -> None:
    target = Target("OST0000")
    started(engine).run([target], 0.0, 60.0)
    with engine.begin() as connection:
        where = MonitorState.part == "series"
        connection.execute(update(MonitorState).where(where).values(state=b"\x00damaged"))
    agent = started(engine)
    with pytest.raises(SinkError, match="delete its rows of the table monitor_state"):
        agent.run([target], 120.0)


@pytest.mark.parametrize(("given", "what"), [
    ({"database": "mysql://x/y"}, "^.sinks.store.: mysql is not a database"),
    ({"jobid_name": "plain"}, "^.sinks.store.: the jobid_name 'plain' has no code"),
    ({"file_systems": {"a": "/a"}}, "^.sinks.store.: file_systems: '/a': give a name of one line"),
    ({"file_systems": {"a": ""}}, "^.sinks.store.: file_systems: '': give a name of one line"),
])  # fmt: skip
def test_settings_that_cannot_be(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigurationError, match=what) as told:
        StoreSink(StoreSettings(**given), "oss1")
    assert "\n" not in str(told.value)


def test_a_password_file_that_is_not_there(tmp_path: Path) -> None:
    settings = StoreSettings(database=str(tmp_path / "x.sqlite"), password_file="/nowhere/secret")
    with pytest.raises(SinkError, match=r"^/nowhere/secret cannot be read .No such file or dir"):
        StoreSink(settings, "oss1").start()


def test_settings_have_bounds() -> None:
    with pytest.raises(ValidationError):
        StoreSettings(top_jobs=-1)
    with pytest.raises(ValidationError):
        StoreSettings(unknown=1)
    assert StoreSink(StoreSettings(), "x").missing() == ""


def test_a_password_never_shows(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t\n")
    secret.chmod(0o600)
    url = "postgresql://me@127.0.0.1:1/none"
    agent = Agent(url, password_file=str(secret))
    with pytest.raises(SinkError) as told:
        agent.sink.deliver()
    assert agent.sink._engine is not None
    assert agent.sink._engine.url.password == "s3cr3t"
    assert "s3cr3t" not in str(told.value)


def test_a_password_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("right\n")
    secret.chmod(0o644)
    with pytest.raises(SinkError, match="chmod o-rw"):
        Agent("postgresql://a@b/c", password_file=str(secret))


def test_a_database_that_cannot_be_written_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the first interval is over: `doctor monitor` would call it good."""

    def opened(database: str, password_file: str = "") -> Engine:
        engine = create_engine(database)
        event.listen(engine, "connect", lambda one, _: one.execute("PRAGMA query_only = ON"))
        return engine

    path = str(tmp_path / "x.sqlite")
    initialise(create_engine(path))
    monkeypatch.setattr(served, "open_store", opened)
    agent = Agent(path)
    with pytest.raises(SinkError, match="readonly database: check that"):
        agent.sink.deliver()
