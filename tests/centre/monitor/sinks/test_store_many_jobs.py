# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A million jobs in a day: each has its rows, and what is kept besides stays small."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.tables import JobLoad, JobTag, MonitorState
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from support.amounts import share_of
from support.monitor_day import Day


def run(path: Path, day: Day) -> tuple[Engine, int]:
    """Deliver a day; return the database and the largest state that there was."""
    engine = create_engine(str(path))
    initialise(engine)
    sink = StoreSink(StoreSettings(database=str(path)), "oss1")
    sink.start()
    largest = 0
    for number, found in enumerate(day.moments()):
        sink.take(found)
        sink.deliver()
        if number % 50 == 0:
            with engine.connect() as connection:
                size = connection.scalar(select(func.sum(func.length(MonitorState.state))))
            largest = max(largest, size or 0)
    sink.stop()
    return engine, largest


def check(engine: Engine, day: Day, state_bytes: int) -> None:
    with engine.connect() as connection:
        rows = connection.scalar(select(func.count()).select_from(JobLoad)) or 0
        each = select(JobLoad.tag_id, JobLoad.kind).distinct().subquery()
        pairs = connection.scalar(select(func.count()).select_from(each))
        total = connection.scalar(select(func.sum(JobLoad.moved_bytes)))
        tags = connection.scalar(select(func.count()).select_from(JobTag))
    assert tags == day.jobs
    assert pairs == 2 * day.jobs
    assert total == 2 * day.jobs * day.bytes_of_job()
    intervals = day.work_rounds // 5 + 2
    top = 2 * 200 * (day.rounds // 5 + 1)
    assert rows <= min(2 * day.jobs * intervals, 2 * 2 * day.jobs + 2 * top)
    at_once = day.jobs * day.work_rounds // day.rounds + 1
    assert state_bytes <= 20_000 + 150 * at_once * day.targets_of_job


@pytest.mark.extended
def test_two_thousand_jobs(tmp_path: Path) -> None:
    day = Day(targets=2, jobs=2000, rounds=60, work_rounds=10, targets_of_job=1)
    check(*_of(tmp_path, day))


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_a_million_jobs(tmp_path: Path) -> None:
    rounds = share_of(1440, 60)
    day = Day(
        targets=2, jobs=rounds * 1_000_000 // 1440, rounds=rounds, work_rounds=10,
        targets_of_job=1,
    )  # fmt: skip
    check(*_of(tmp_path, day))


def _of(tmp_path: Path, day: Day) -> tuple[Engine, Day, int]:
    engine, largest = run(tmp_path / "fleet.sqlite", day)
    return engine, day, largest
