# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database as a sink: what is kept, what is refused, what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, select

from stripewise.centre.database._records import JobRecord
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Event, Job, Sample
from stripewise.centre.monitor import Reading, metrics
from support.monitor_targets import T0, Reader, Target
from support.store_agents import loads, rows, samples, started

DAY = 86400.0


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


@pytest.mark.extended(keep=1)
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


@pytest.mark.extended(keep=1)
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


@pytest.mark.extended(keep=1)
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


@pytest.mark.extended(keep=1)
def test_a_clock_that_is_set_forward_is_followed(engine: Engine) -> None:
    target = Target("OST0000")
    agent = started(engine)
    for number in range(6):
        shift = 1800.0 if number > 2 else 0.0
        agent.sink.take(agent.reader.round([target], T0 + 60.0 * number, shift=shift))
        agent.sink.deliver()
    found = samples(engine, "read_bytes")
    assert {row[4] for row in found} == {60.0}
    assert found[-1][3] == int(T0) + 1800 + 240


@pytest.mark.extended
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
    assert [row[3] for row in large][:3] == [300.0, 300.0, 300.0]
    assert [row[3] for row in small] == [1800.0]  # 20 to 30 minutes, by the job's name
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


@pytest.mark.extended
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
    assert agent.reading(metrics.JOBS_TRACKED) <= 2
    assert agent.reading(metrics.JOBS_UNTRACKED) > 0


@pytest.mark.extended(keep=1)
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


@pytest.mark.extended(keep=1)
def test_a_long_outage_costs_resolution_only(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target("OST0000")
    agent = started(engine, queue_rounds=4, top_jobs=3)
    agent.run([target], 0.0, 60.0)
    monkeypatch.setattr("stripewise.centre.monitor.sinks._store._MOST_ROWS", 10)
    agent.sink._waiting._most_rows = 10
    whole = agent.sink.deliver
    with monkeypatch.context() as patch:
        patch.setattr(agent.sink, "_send", lambda: None)
        for number in range(60):
            target.work(str(number), "write", 1 + number)
            agent.run([target], 120.0 + 61.0 * number)
    assert len(agent.sink._waiting) <= 4
    assert sum(len(one.rows) for one in agent.sink._waiting._every) <= 10
    assert agent.reading(metrics.SINK_LOST) > 50
    assert agent.reading(metrics.SINK_QUEUED) <= 4
    whole()
    agent.run([target], 5000.0, 7000.0, 9000.0)
    assert sum(row[5] for row in samples(engine, "write_bytes")) == target.totals["write"]
    assert sum(row[5] for row in loads(engine)) == target.totals["write"]
    assert "" in {row[0] for row in loads(engine)}


@pytest.mark.extended(keep=1)
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


@pytest.mark.extended(keep=1)
def test_numbers_beyond_all_floats_do_not_keep_the_others_back(engine: Engine) -> None:
    agent = started(engine)
    for moment in (0, 60, 120):
        found = agent.reader.round([Target("OST0000")], T0 + moment)
        huge = Reading(metrics.TARGET_WRITE_BYTES, ("scratch", "OST0001"), 10**400)
        agent.sink.take(replace(found, readings=(huge, *found.readings)))
        agent.sink.deliver()
    assert len(samples(engine, "read_bytes")) == 2
    assert {row[2] for row in samples(engine, "write_bytes")} == {"OST0000"}
