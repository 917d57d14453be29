# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A real agent is killed again and again while a server counts: every byte is told once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, func, select

from stripewise.centre.database import url_text
from stripewise.centre.database.tables import JobLoad, JobTag, Rollup, Sample, Series
from support import store_agent
from support.amounts import share_of

JOBS = ("7", "8", "9", "lmp.5")


class Counters:
    """Counters of a server in a file, which is replaced at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.every = {name: dict.fromkeys(JOBS, 1000) for name in ("OST0000", "OST0001")}
        self.write()

    def write(self) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.every))
        os.replace(fresh, self.path)

    def grow(self, draw: random.Random) -> None:
        self.every[draw.choice(list(self.every))][draw.choice(JOBS)] += draw.randrange(1 << 30)
        self.write()


def begin(engine: Engine, counters: Counters, began: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, store_agent.__file__, url_text(engine), str(counters.path), str(began)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def total(engine: Engine) -> int:
    with engine.connect() as connection:
        query = select(func.sum(Sample.value)).join(Series, Series.id == Sample.series_id)
        return int(connection.scalar(query.where(Series.metric == "write_bytes")) or 0)


def works(engine: Engine) -> dict[str, int]:
    query = select(JobTag.text, func.sum(JobLoad.moved_bytes)).join(
        JobTag, JobTag.id == JobLoad.tag_id
    )
    with engine.connect() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(query.group_by(JobTag.text))}


def wait_until(done: object, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:  # type: ignore[operator]
        time.sleep(0.1)


@pytest.mark.extended
def test_killed_a_few_times(engine: Engine, tmp_path: Path) -> None:
    _kill_and_count(engine, tmp_path, 2)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_twenty_times(engine: Engine, tmp_path: Path) -> None:
    _kill_and_count(engine, tmp_path, share_of(20, 5))


def _kill_and_count(engine: Engine, tmp_path: Path, kills: int) -> None:
    draw = random.Random(5)
    counters = Counters(tmp_path / "counters.json")
    began = time.monotonic()
    process = begin(engine, counters, began)
    look = create_engine(engine.url)
    wait_until(lambda: _has_state(look))
    base = {tag: 2000 for tag in JOBS}
    for _ in range(kills):
        for _ in range(draw.randrange(1, 8)):
            counters.grow(draw)
            time.sleep(draw.random() * 0.05)
        kill(process)
        counters.grow(draw)
        process = begin(engine, counters, began)
    grown = {tag: sum(jobs[tag] for jobs in counters.every.values()) - base[tag] for tag in JOBS}
    expected = {tag: amount for tag, amount in grown.items() if amount}
    wait_until(lambda: total(look) == sum(grown.values()) and works(look) == expected)
    kill(process)
    assert total(look) == sum(grown.values())
    assert works(look) == expected
    with look.connect() as connection:
        last: dict[int, float] = {}
        query = select(Sample.series_id, Sample.at, Sample.seconds).order_by(Sample.at)
        for series_id, at, seconds in connection.execute(query):
            assert at >= last.get(series_id, 0)
            last[series_id] = at + seconds
        longest = select(func.max(Rollup.covered_seconds)).where(Rollup.resolution_seconds == 60)
        assert connection.scalar(longest) > 60.0  # one sample over the time without an agent
    look.dispose()


def _has_state(engine: Engine) -> bool:
    from stripewise.centre.database.tables import MonitorState

    with engine.connect() as connection:
        return bool(connection.scalar(select(func.count()).select_from(MonitorState)))
