# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database as a sink: what is kept, what is refused, what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, event, func, select, text, update

from stripewise.fleet import create_engine, initialise, served, str_of
from stripewise.fleet._records import JobRecord
from stripewise.fleet._store import Writer
from stripewise.fleet.tables import (
    Event,
    FileSystem,
    Job,
    JobLoad,
    JobTag,
    MonitorState,
    Sample,
    Series,
)
from stripewise.monitor.metrics import Reading, health, lustre
from stripewise.monitor.sinks import SinkError
from stripewise.monitor.sinks._store import StoreSettings, StoreSink
from support.monitor_targets import T0, Reader, Target

DAY = 86400.0


class Agent:
    """A sink and what it is given."""

    def __init__(self, engine: Engine | str, name: str = "oss1", **given: Any) -> None:
        database = engine if isinstance(engine, str) else str_of(engine)
        self.sink = StoreSink(StoreSettings(database=database, **given), name)
        self.sink.start()
        self.reader = Reader()

    def run(self, targets: list[Target], *moments: float) -> None:
        for moment in moments:
            self.sink.take(self.reader.round(targets, T0 + moment))
            self.sink.deliver()

    def reading(self, metric: Any) -> Any:
        return next(one.value for one in self.sink.health() if one.metric is metric)


def started(engine: Engine | str, **given: Any) -> Agent:
    agent = Agent(engine, **given)
    agent.sink.deliver()
    return agent


def rows(engine: Engine, query: Any) -> list[Any]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def samples(engine: Engine, metric: str) -> list[Any]:
    query = (
        select(FileSystem.name, Series.server, Series.target, Sample.at, Sample.seconds,
               Sample.value)
        .join(Series, Series.id == Sample.series_id)
        .join(FileSystem, FileSystem.id == Series.file_system_id)
        .where(Series.metric == metric)
        .order_by(FileSystem.name, Series.target, Sample.at)
    )  # fmt: skip
    return rows(engine, query)


def loads(engine: Engine) -> list[Any]:
    query = (
        select(JobTag.text, JobLoad.kind, JobLoad.at, JobLoad.seconds, JobLoad.operations,
               JobLoad.moved_bytes)
        .join(JobTag, JobTag.id == JobLoad.tag_id)
        .order_by(JobTag.text, JobLoad.kind, JobLoad.at)
    )  # fmt: skip
    return rows(engine, query)


def test_growth_goes_into_series_and_levels_are_means(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine, file_systems={"scratch": "work"})
    agent.run([target], 0.0)
    target.work("7", "write", 500)
    agent.run([target], 30.0, 60.0, 120.0)
    at = int(T0)
    assert samples(engine, "write_bytes") == [
        ("work", "oss1", "OST0000", at, 60.0, 500.0),
        ("work", "oss1", "OST0000", at + 60, 60.0, 0.0),
    ]
    assert [row[:5] for row in samples(engine, "load")] == [
        ("work", "oss1", "", at, 60.0), ("work", "oss1", "", at + 60, 60.0),
    ]  # fmt: skip
    assert {row[5] for row in samples(engine, "load")} == {0.5}


def test_a_host_that_serves_nothing_has_no_load(engine: Engine) -> None:
    started(engine).run([], 0.0, 60.0, 120.0)
    assert samples(engine, "load") == []


def test_a_counter_that_began_anew(engine: Engine) -> None:
    target = Target("OST0000")
    target.totals["read"] = 1000
    agent = started(engine)
    agent.run([target], 0.0)
    target.totals["read"] = 30
    agent.run([target], 60.0)
    assert [row[5] for row in samples(engine, "read_bytes")] == [30.0]


def test_a_pause_is_one_long_sample_and_a_gap_of_the_levels(engine: Engine) -> None:
    target = Target("OST0000")
    started(engine).run([target], 0.0, 60.0)
    target.totals["read"] = 77
    started(engine).run([target], 7260.0, 7320.0)
    at = int(T0)
    assert [row[3:] for row in samples(engine, "read_bytes")] == [
        (at, 60.0, 0.0),
        (at + 60, 7260.0, 77.0),
    ]
    assert [row[3:] for row in samples(engine, "load")][-1] == (at + 7260, 60.0, 0.5)


def test_growth_of_over_a_day_has_no_date_and_an_event_says_so(engine: Engine) -> None:
    target = Target("OST0000")
    started(engine).run([target], 0.0, 60.0)
    target.work("7", "read", 1 << 40)
    started(engine).run([target], 2 * DAY, 2 * DAY + 60.0, 2 * DAY + 400.0)
    assert sum(row[5] for row in samples(engine, "read_bytes")) == 0.0
    assert loads(engine) == []
    found = rows(engine, select(Event.kind, Event.at, Event.until, Event.text))
    assert {row[0] for row in found} == {"monitoring-gap"}
    assert "oss1 was not monitored for 2.0 days" in found[0][3]


def test_a_clock_that_is_set_back_makes_no_samples_overlap(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    for number in range(30):
        target.totals["read"] += 60
        shift = -3600.0 if number > 10 else 0.0
        agent.sink.take(agent.reader.round([target], T0 + 60.0 * number, shift=shift))
        agent.sink.deliver()
    found = samples(engine, "read_bytes")
    ends = [row[3] + row[4] for row in found]
    assert all(row[3] >= end for row, end in zip(found[1:], ends, strict=False))
    assert sum(row[5] for row in found) == 29 * 60


def test_a_clock_that_is_set_forward_is_followed(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    for number in range(6):
        shift = 7200.0 if number > 2 else 0.0
        agent.sink.take(agent.reader.round([target], T0 + 60.0 * number, shift=shift))
        agent.sink.deliver()
    found = samples(engine, "read_bytes")
    assert {row[4] for row in found} == {60.0}
    assert found[-1][3] == int(T0) + 7200 + 240


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
    assert "stripewise db init" in str(told.value)
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
    with pytest.raises(SinkError, match="run `stripewise db init`"):
        Agent(str(path)).sink.deliver()


@pytest.mark.parametrize(("revision", "remedy"), [
    ("0001", "older version .0001; .*run `stripewise db init`"),
    ("9999", "newer Stripewise .*update Stripewise"),
])  # fmt: skip
def test_tables_of_another_version_are_refused(engine: Engine, revision: str, remedy: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    with pytest.raises(SinkError, match=remedy):
        started(engine)


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
    ({"database": "mysql://x/y"}, "mysql is no database"),
    ({"jobid_name": "plain"}, "has no code"),
    ({"password_file": "/nowhere/secret"}, "^/nowhere/secret cannot be read .No such file or di"),
])  # fmt: skip
def test_settings_that_cannot_be(tmp_path: Path, given: dict[str, str], what: str) -> None:
    settings = {"database": str(tmp_path / "x.sqlite"), **given}
    with pytest.raises(SinkError, match=what) as told:
        StoreSink(StoreSettings(**settings), "oss1").start()
    assert "\n" not in str(told.value)


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


def test_jobs_that_did_most_get_rows_and_others_wait(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine, top_jobs=1)
    for number in range(40):
        target.work("7", "write", 1000)
        target.work("8", "write", 1)
        agent.run([target], 60.0 * number)
    found = loads(engine)
    large = [row for row in found if row[0] == "7"]
    small = [row for row in found if row[0] == "8"]
    assert [row[3] for row in large][:3] == [60.0, 300.0, 300.0]
    assert [row[3] for row in small] == [1860.0]
    ends = [row[2] + row[3] for row in large]
    assert [row[2] for row in large[1:]] == ends[:-1]


def test_a_row_holds_no_pause_of_a_minute(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    agent.run([target], 0.0, 60.0)
    target.work("7", "write", 1)
    agent.run([target], 90.0, 120.0, 180.0)
    target.work("7", "write", 2)
    agent.run([target], 210.0, 500.0)
    at = int(T0)
    assert [row[2:4] + row[5:] for row in loads(engine)] == [
        (at + 60, 30.0, 1), (at + 180, 30.0, 2),
    ]  # fmt: skip


def test_what_is_gone_is_told_and_may_come_again(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    agent.run([target], 0.0, 60.0)
    target.work("7", "write", 5)
    agent.run([target], 90.0)
    del target.jobs["7"]
    agent.run([target], 120.0)
    target.work("7", "write", 3)
    agent.run([target], 150.0, 400.0, 1000.0)
    assert sum(row[5] for row in loads(engine)) == 8


def test_targets_of_a_file_system_share_a_row_and_kinds_do_not(engine: Engine) -> None:
    targets = [Target("OST0000"), Target("OST0001"), Target("MDT0000"), Target("OST0000", "home")]
    agent = started(engine)
    agent.run(targets, 0.0, 60.0)
    for one in targets:
        one.work("7", "metadata" if one.name == "MDT0000" else "write", 4)
    agent.run(targets, 120.0, 400.0)
    assert {(row[1], row[4], row[5]) for row in loads(engine)} == {
        ("metadata", 4, None), ("write", 1, 4), ("write", 2, 8),
    }  # fmt: skip


@pytest.mark.parametrize("starts", [True, False])
def test_jobs_beyond_the_limit_are_the_rest(engine: Engine, starts: bool) -> None:
    target = Target("OST0000")
    agent = started(engine, most_jobs=2)
    agent.reader = Reader(starts=starts)
    agent.run([target], 0.0, 60.0)
    now = 60.0
    for number in range(12):
        now += 61.0
        for tag in ("1", "2", "3", "4"):
            target.work(tag, "write", 1 << 50, at=T0 + now - 5)
        agent.run([target], now)
        if number == 5:
            agent = started(engine, most_jobs=2)
            agent.reader = Reader(starts=starts)
    del target.jobs["1"]
    for _ in range(12):
        now += 61.0
        for tag in ("3", "4"):
            target.work(tag, "write", 3)
        agent.run([target], now)
    for _ in range(32):
        now += 61.0
        agent.run([target], now)
    assert sum(row[5] for row in loads(engine)) == target.totals["write"]
    assert "" in {row[0] for row in loads(engine)}
    assert agent.reading(health.JOBS_TRACKED) <= 2
    assert agent.reading(health.JOBS_UNTRACKED) > 0


def test_jobs_find_their_runs(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine, cluster="alpha")
    agent.run([target], 0.0, 60.0)
    target.work("7", "write", 5)
    agent.run([target], 90.0)
    with engine.execution_options(writing=True).begin() as connection:
        record = JobRecord("alpha", 7, int(T0), start_at=int(T0) + 50, end_at=int(T0) + 100)
        Writer(connection).store([record])
    target.work("7", "write", 6)
    agent.run([target], 100.0, 400.0, 800.0)
    assert rows(engine, select(Job.server_read_bytes, Job.server_write_bytes)) == [(0, 11)]


def test_a_long_outage_costs_resolution_only(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target("OST0000")
    agent = started(engine, queue_rounds=4, top_jobs=3)
    agent.run([target], 0.0, 60.0)
    monkeypatch.setattr("stripewise.monitor.sinks._store._MOST_ROWS", 10)
    agent.sink._waiting._most_rows = 10
    whole = agent.sink.deliver
    with monkeypatch.context() as patch:
        patch.setattr(agent.sink, "_send", lambda: None)
        for number in range(60):
            target.work(str(number), "write", 1 + number)
            agent.run([target], 120.0 + 61.0 * number)
    assert len(agent.sink._waiting) <= 4
    assert sum(len(one.rows) for one in agent.sink._waiting._every) <= 10
    assert agent.reading(health.SINK_LOST) > 50
    assert agent.reading(health.SINK_QUEUED) <= 4
    whole()
    agent.run([target], 5000.0, 7000.0, 9000.0)
    assert sum(row[5] for row in samples(engine, "write_bytes")) == target.totals["write"]
    assert sum(row[5] for row in loads(engine)) == target.totals["write"]
    assert "" in {row[0] for row in loads(engine)}


def test_what_is_no_number_is_left_out(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    agent.run([target], 0.0)
    for number, bad in enumerate((float("nan"), float("inf"), 1e300)):
        found = agent.reader.round([target], T0 + 61.0 * (number + 1))
        bent = tuple(one._replace(value=bad) for one in found.readings)
        agent.sink.take(replace(found, readings=bent))
        agent.sink.deliver()
    agent.run([target], 300.0)
    assert {row[5] for row in samples(engine, "read_bytes")} == {0.0}


def test_the_end_delivers_what_is_due(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    agent.run([target], 0.0)
    agent.sink.take(agent.reader.round([target], T0 + 61.0))
    agent.sink.stop()
    query = select(func.count()).select_from(Sample)
    assert rows(engine, query) != [(0,)]


def test_numbers_beyond_all_floats_do_not_keep_the_others_back(engine: Engine) -> None:
    agent = started(engine)
    for moment in (0, 60, 120):
        found = agent.reader.round([Target("OST0000")], T0 + moment)
        huge = Reading(lustre.TARGET_WRITE_BYTES, ("scratch", "OST0001"), 10**400)
        agent.sink.take(replace(found, readings=(huge, *found.readings)))
        agent.sink.deliver()
    assert len(samples(engine, "read_bytes")) == 2
    assert {row[2] for row in samples(engine, "write_bytes")} == {"OST0000"}


def test_a_password_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("right\n")
    secret.chmod(0o644)
    with pytest.raises(SinkError, match="chmod o-rw"):
        Agent("postgresql://a@b/c", password_file=str(secret))


def test_a_database_that_cannot_be_written_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the first interval is over: `monitor check` would call it good."""

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
