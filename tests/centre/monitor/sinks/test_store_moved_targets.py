# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Targets that are started again, or are away at another server: no amount is lost or misdated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database import url_text
from stripewise.centre.database.tables import Event, JobLoad, JobTag, Sample, Series
from stripewise.centre.monitor import Reading, metrics
from stripewise.centre.monitor._records import Round
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from support.monitor_targets import T0, Reader, Target

BACK = 2 * 86400
LABELS = ("scratch", "OST0000")


class Server:
    """An agent whose target tells when it was started."""

    def __init__(self, engine: Engine, name: str = "oss1") -> None:
        self.engine, self.name = engine, name
        self.restart()

    def restart(self) -> None:
        self.sink = StoreSink(StoreSettings(database=url_text(self.engine)), self.name)
        self.sink.start()
        self.reader = Reader()

    def run(self, target: Target | None, started: float, *moments: float) -> None:
        for moment in moments:
            found = self.reader.round([target] if target else [], T0 + moment)
            if target is not None:
                found = began(found, T0 + started)
            self.sink.take(found)
            self.sink.deliver()


def began(found: Round, at: float) -> Round:
    told = Reading(metrics.TARGET_STARTED, LABELS, at)
    return replace(found, readings=(*found.readings, told))


def written(engine: Engine, server: str = "oss1") -> list[Any]:
    query = (
        select(Sample.at, Sample.seconds, Sample.value)
        .join(Series, Series.id == Sample.series_id)
        .where(Series.metric == "write_bytes", Series.server == server)
        .order_by(Sample.at)
    )
    with engine.connect() as connection:
        return [(row[0] - int(T0), row[1], row[2]) for row in connection.execute(query)]


def rows(engine: Engine) -> list[Any]:
    query = (
        select(JobTag.text, JobLoad.at, JobLoad.seconds, JobLoad.moved_bytes)
        .join(JobTag, JobTag.id == JobLoad.tag_id)
        .order_by(JobLoad.at)
    )
    with engine.connect() as connection:
        return [
            (tag, at - int(T0), seconds, moved)
            for tag, at, seconds, moved in connection.execute(query)
        ]


def events(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.scalars(select(Event.kind)))


def test_a_target_that_overtakes_what_it_had_counted(engine: Engine) -> None:
    server = Server(engine)
    target = Target("OST0000")
    server.run(target, -1000.0, 0.0)
    target.work("1", "write", 100)
    server.run(target, -1000.0, 60.0)
    again = Target("OST0000")
    again.work("2", "write", 150, at=T0 + 70)
    server.run(again, 65.0, 120.0)
    assert sum(row[2] for row in written(engine)) == 250


@pytest.mark.extended(keep=1)
def test_one_that_does_so_while_no_agent_runs(engine: Engine) -> None:
    server = Server(engine)
    target = Target("OST0000")
    server.run(target, -1000.0, 0.0)
    target.work("1", "write", 100)
    server.run(target, -1000.0, 60.0, 120.0)
    server.restart()
    again = Target("OST0000")
    again.work("2", "write", 150, at=T0 + 140)
    server.run(again, 130.0, 180.0, 240.0)
    assert sum(row[2] for row in written(engine)) == 250


def away_and_back(engine: Engine) -> None:
    """A target is at another server for two days, while the agent runs."""
    server = Server(engine)
    target = Target("OST0000")
    server.run(target, -1000.0, 0.0)
    target.work("1", "write", 100)
    server.run(target, -1000.0, 60.0)
    target.work("1", "write", 7)
    server.run(target, -1000.0, 90.0)
    server.run(None, 0.0, 120.0, 720.0, BACK)
    again = Target("OST0000")
    again.work("2", "write", 50, at=T0 + BACK + 10)
    server.run(again, BACK + 5, BACK + 60, BACK + 120, BACK + 460)


def test_what_a_target_does_after_it_was_away_is_not_of_the_time_before(engine: Engine) -> None:
    away_and_back(engine)
    assert [row for row in written(engine) if row[2]] == [
        (0, 60.0, 100), (60, 30.0, 7), (BACK + 5, 115.0, 50),
    ]  # fmt: skip


@pytest.mark.extended(keep=1)
def test_jobs_that_begin_after_it_was_away_are_dated_by_their_counters(engine: Engine) -> None:
    away_and_back(engine)
    assert rows(engine)[-1] == ("2", BACK + 10, 50.0, 50)
    assert events(engine) == [], "the server was monitored"


@pytest.mark.extended(keep=1)
def test_that_a_server_was_not_monitored_is_told_though_its_target_was_started_since(
    engine: Engine,
) -> None:
    server = Server(engine)
    target = Target("OST0000")
    server.run(target, -1000.0, 0.0)
    target.work("1", "write", 100)
    server.run(target, -1000.0, 60.0, 120.0)
    server.restart()
    again = Target("OST0000")
    again.work("2", "write", 50, at=T0 + BACK + 10)
    server.run(again, BACK + 5, BACK + 60, BACK + 120, BACK + 460)
    assert sum(row[2] for row in written(engine)) == 150
    assert set(events(engine)) == {"monitoring-gap"}


def arrived(engine: Engine) -> Server:
    """A target comes from another server, at which it had been for long."""
    server = Server(engine)
    server.run(None, 0.0, 0.0, 60.0, 120.0)
    target = Target("OST0000")
    target.work("1", "write", 100, at=T0 + 150)
    server.run(target, 130.0, 180.0)
    target.work("1", "write", 7)
    server.run(target, 130.0, 240.0)
    return server


def test_what_a_target_does_here_before_it_is_read_first_is_told(engine: Engine) -> None:
    arrived(engine).run(None, 0.0, 300.0, 720.0)
    assert written(engine) == [(130, 110.0, 107)]


def test_and_what_jobs_do_until_then(engine: Engine) -> None:
    server = arrived(engine)
    other = Target("OST0001")
    server.run(other, 0.0, 300.0, 720.0)
    assert sum(row[3] for row in rows(engine)) == 107
    assert min(row[1] for row in rows(engine)) == 150


@pytest.mark.extended(keep=1)
def test_nothing_of_it_is_told_twice_by_an_agent_that_is_started_again(engine: Engine) -> None:
    server = Server(engine)
    server.run(None, 0.0, 0.0, 60.0, 120.0)
    target = Target("OST0000")
    target.work("1", "write", 100, at=T0 + 150)
    server.run(target, 130.0, 180.0)
    server.restart()
    target.work("1", "write", 7)
    server.run(target, 130.0, 240.0, 300.0)
    assert sum(row[2] for row in written(engine)) == 107


def test_a_target_that_was_there_before_the_agent_tells_what_comes(engine: Engine) -> None:
    server = Server(engine)
    server.run(None, 0.0, 0.0, 60.0)
    target = Target("OST0000")
    target.work("1", "write", 100, at=T0 - 500)
    server.run(target, -1000.0, 120.0)
    target.work("1", "write", 7)
    server.run(target, -1000.0, 180.0, 700.0)
    assert sum(row[2] for row in written(engine)) == 7
    assert sum(row[3] for row in rows(engine)) == 7


def test_a_start_that_lies_in_the_future_tells_nothing(engine: Engine) -> None:
    server = Server(engine)
    server.run(None, 0.0, 0.0, 60.0)
    target = Target("OST0000")
    target.work("1", "write", 100)
    server.run(target, 5000.0, 120.0)
    target.work("1", "write", 7)
    server.run(target, 5000.0, 180.0, 700.0)
    assert sum(row[2] for row in written(engine)) == 7


def test_a_target_that_comes_while_the_clock_is_a_little_ahead(engine: Engine) -> None:
    """Such a clock is followed slowly: until then, what it says of now lies in the future."""
    server = Server(engine)
    server.run(None, 0.0, 0.0, 600.0)
    target = Target("OST0000")
    target.work("7", "write", 1000, at=T0 + 635.0)
    for moment in (640.0, 700.0, 1500.0):
        found = server.reader.round([target], T0 + moment, shift=20.0)
        server.sink.take(began(found, T0 + 630.0 + 20.0))
        server.sink.deliver()
    assert sum(value for _, _, value in written(engine)) == 1000
