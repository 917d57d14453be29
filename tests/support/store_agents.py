# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics database as a sink, given rounds of targets; and what it then has."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, select

from stripewise.centre.database import url_text
from stripewise.centre.database.tables import FileSystem, JobLoad, JobTag, Sample, Series
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from support.monitor_targets import T0, Reader, Target


class Agent:
    """A sink and what it is given."""

    def __init__(self, engine: Engine | str, name: str = "oss1", **given: Any) -> None:
        database = engine if isinstance(engine, str) else url_text(engine)
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
