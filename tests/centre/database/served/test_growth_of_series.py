# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Samples of many series at once are stored as those of one are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, delete, event, select

from stripewise.centre.database._records import SampleRecord
from stripewise.centre.database.store._samples import DAY, store_growth, store_samples
from stripewise.centre.database.tables import FileSystem, Rollup, Sample, Series
from support.fleet_records import ON_A_DATABASE

TARGETS = st.sampled_from(("", "OST1", "OST2"))
NOON = 1_700_000_000 - 1_700_000_000 % DAY + DAY // 2

one_sample = st.tuples(
    st.integers(0, 2 * DAY).map(lambda offset: NOON + offset),
    st.sampled_from((0.0, 10.0, 60.0, 5000.0)),
    st.integers(0, 1 << 40).map(float),
)
records = st.lists(
    st.builds(
        SampleRecord,
        st.sampled_from(("scratch", "work")), st.just("oss1"), TARGETS,
        st.just("read_bytes"), st.just("bytes"), st.just(True),
        st.lists(one_sample, max_size=3).map(tuple),
    )
    | st.builds(
        SampleRecord,
        st.sampled_from(("scratch", "work")), st.just("oss1"), st.just(""),
        st.just("load"), st.just("share"), st.just(False),
        st.lists(one_sample, max_size=3).map(tuple),
    ),
    max_size=12,
)  # fmt: skip


def contents(connection: Connection) -> tuple[list[Any], dict[Any, Any]]:
    name = (FileSystem.name, Series.server, Series.target, Series.metric, Series.unit)
    join = select(*name, Sample.at, Sample.seconds, Sample.value).join(
        Series, Series.id == Sample.series_id
    )
    samples = [tuple(row) for row in connection.execute(join.join(FileSystem))]
    columns = (Rollup.resolution_seconds, Rollup.at, Rollup.covered_seconds, Rollup.total,
               Rollup.low, Rollup.high)  # fmt: skip
    query = select(*name, *columns).join(Series, Series.id == Rollup.series_id).join(FileSystem)
    rollups = {tuple(row[:7]): tuple(row[7:]) for row in connection.execute(query)}
    return sorted(samples), rollups


@pytest.mark.extended
@ON_A_DATABASE
@given(first=records, second=records)
def test_many_at_once_give_what_each_gives(
    engine: Engine, first: list[SampleRecord], second: list[SampleRecord]
) -> None:
    with engine.execution_options(writing=True).connect() as connection:
        for record in [*first, *second]:
            store_samples(connection, record)
        slow = contents(connection)
        connection.rollback()
        for some in (first, second, first):
            store_growth(connection, some)
        fast = contents(connection)
        connection.rollback()
    assert fast[0] == slow[0]
    assert fast[1].keys() == slow[1].keys()
    for key, parts in slow[1].items():
        assert fast[1][key] == pytest.approx(parts, rel=1e-12)


def sample(target: str, at: int, value: float = 1.0) -> SampleRecord:
    return SampleRecord(
        "scratch", "oss1", target, "read_bytes", "bytes", True, ((at, 60.0, value),)
    )


def test_days_that_are_closed_take_nothing(connection: Connection) -> None:
    for store in (store_growth, lambda c, some: [store_samples(c, one) for one in some]):
        store(connection, [sample("OST1", NOON), sample("OST2", NOON)])
        keys = select(Series.id).where(Series.target == "OST1")
        connection.execute(delete(Sample).where(Sample.series_id.in_(keys)))
        before = contents(connection)
        store(connection, [sample("OST1", NOON + 60)])
        assert contents(connection) == before
        store(connection, [sample("OST2", NOON + 60)])
        assert contents(connection) != before
        connection.rollback()


def test_it_tells_how_many_are_new(connection: Connection) -> None:
    some = [sample(f"OST{number:04x}", NOON) for number in range(1000)]
    assert store_growth(connection, some) == 1000
    assert store_growth(connection, [*some, sample("OST9", NOON)]) == 1


def test_statements_do_not_go_by_series(connection: Connection, engine: Engine) -> None:
    some = [sample(f"OST{number:04x}", NOON + 60) for number in range(300)]
    store_growth(connection, [sample(one.target, NOON) for one in some])
    told: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *words: told.append(words[2]))
    store_growth(connection, some)
    assert len(told) < 20
