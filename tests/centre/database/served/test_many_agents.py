# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Agents of several servers and an ingest write at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, func, select

from stripewise.centre.database import url_text
from stripewise.centre.database._records import SampleRecord
from stripewise.centre.database.store import (
    Delivery,
    Load,
    TakenError,
    deliver,
    open_store,
    read_state,
)
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job, JobServed, Sample
from support.fleet_records import job

T0 = 1_700_000_000
AGENTS, DELIVERIES, JOBS = 4, 8, 5


def delivery(agent: str, number: int) -> Delivery:
    at = T0 + 60 * number
    last = f"{agent} {number - 1}".encode() if number else None
    samples = [
        SampleRecord(
            "scratch", agent, f"OST{index}", "read_bytes", "bytes", True, ((at, 60.0, 1.0),)
        )
        for index in range(3)
    ]
    loads = [
        Load("scratch", str(raw_id), "read", at, 60.0, 1, raw_id) for raw_id in range(1, JOBS)
    ]
    return Delivery(
        agent, "a", float(at), f"{agent} {number}".encode(), last, {"series": b"x"}, samples, (),
        loads,
    )  # fmt: skip


@pytest.mark.extended(keep=1)
def test_sums_are_whole_whoever_writes(engine: Engine) -> None:
    def run(agent: str) -> None:
        own = open_store(url_text(engine))
        for number in range(DELIVERIES):
            assert deliver(own, delivery(agent, number))
        own.dispose()

    def ingest() -> None:
        for raw_id in range(1, JOBS):
            with engine.execution_options(writing=True).begin() as connection:
                record = job(raw_id, T0 - 10, start_at=T0, end_at=T0 + 6000)
                Writer(connection).store([record])

    with ThreadPoolExecutor(AGENTS + 1) as pool:
        tasks = [pool.submit(run, f"oss{index}") for index in range(AGENTS)]
        tasks.append(pool.submit(ingest))
        for task in tasks:
            task.result()
    with engine.connect() as connection:
        query = select(Job.raw_id, Job.server_read_bytes).order_by(Job.raw_id)
        found = [tuple(row) for row in connection.execute(query)]
        assert found == [(one, one * AGENTS * DELIVERIES) for one in range(1, JOBS)]
        assert set(connection.scalars(select(JobServed.operations))) == {AGENTS * DELIVERIES}
        assert connection.scalar(select(func.sum(Sample.value))) == 3 * AGENTS * DELIVERIES


def test_a_delivery_counts_once_and_another_agent_is_refused(engine: Engine) -> None:
    own = open_store(url_text(engine))
    first = delivery("oss1", 0)
    assert deliver(own, first)
    assert not deliver(own, first)
    assert deliver(own, delivery("oss1", 1))
    with pytest.raises(TakenError, match="another agent delivers as 'oss1'"):
        deliver(own, first)
    assert read_state(own, "oss1") == {"agent": b"oss1 1", "series": b"x"}
    assert read_state(own, "oss2") == {}
    own.dispose()
