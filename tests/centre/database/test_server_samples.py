# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, inspect, select

from stripewise.centre.database._records import EventRecord, SampleRecord
from stripewise.centre.database.store._samples import (
    DAY,
    KEPT_DAYS,
    RESOLUTIONS,
    part_of,
    prune_samples,
    store_event,
    store_samples,
)
from stripewise.centre.database.tables import Event, Rollup, Sample, Series
from support.fleet_records import ON_A_DATABASE

Values = Sequence[tuple[int, float, float]]
NOON = 1_700_000_000 - 1_700_000_000 % DAY + DAY // 2


def record(values: Values, counter: bool = True, target: str = "OST0001") -> SampleRecord:
    unit = "bytes" if counter else "share"
    return SampleRecord("scratch", "oss1", target, "read_bytes", unit, counter, tuple(values))


def rollups(connection: Connection) -> dict[tuple[int, int], tuple[float, ...]]:
    columns = (Rollup.covered_seconds, Rollup.total, Rollup.low, Rollup.high)
    query = select(Rollup.resolution_seconds, Rollup.at, *columns)
    return {(row[0], row[1]): tuple(row[2:]) for row in connection.execute(query)}


def by_hand(values: Values, counter: bool) -> dict[tuple[int, int], tuple[float, ...]]:
    """Sum samples up by brute force."""
    groups = defaultdict(list)
    for at, seconds, value in {one[0]: one for one in reversed(values)}.values():
        for resolution in RESOLUTIONS:
            groups[resolution, at // resolution * resolution].append(
                part_of(seconds, value, counter)
            )
    return {
        key: (sum(one[0] for one in parts), sum(one[1] for one in parts),
              min(one[2] for one in parts), max(one[3] for one in parts))
        for key, parts in groups.items()
    }  # fmt: skip


moments = st.integers(0, 3 * DAY).map(lambda offset: NOON + offset)
amounts = st.integers(0, 1 << 40).map(float)
samples = st.lists(st.tuples(moments, st.sampled_from((10.0, 30.0, 60.0, 300.0)), amounts),
                   min_size=1, max_size=40, unique_by=lambda one: one[0])  # fmt: skip


@pytest.mark.extended(keep=1)
@ON_A_DATABASE
@given(values=samples, counter=st.booleans(), late=st.integers(0, 40), data=st.data())
def test_rollups_are_the_sums_of_samples_in_any_order(
    engine: Engine, values: Values, counter: bool, late: int, data: st.DataObject
) -> None:
    mixed = data.draw(st.permutations(values))
    with engine.execution_options(writing=True).connect() as connection:
        for portion in (mixed[late:], mixed[:late], mixed):
            store_samples(connection, record(portion, counter))
        found, expected = rollups(connection), by_hand(values, counter)
        connection.rollback()
    assert found.keys() == expected.keys()
    for key, parts in expected.items():
        assert found[key] == pytest.approx(parts, rel=1e-12)


def test_counters_and_levels(connection: Connection) -> None:
    values = [(NOON, 30.0, 300.0), (NOON + 30, 30.0, 900.0)]
    store_samples(connection, record(values))
    assert rollups(connection)[60, NOON] == (60.0, 1200.0, 10.0, 30.0)
    store_samples(connection, record(values, False, "OST0002"))
    series = connection.scalar(select(Series.id).where(Series.target == "OST0002"))
    row = connection.execute(
        select(Rollup.total, Rollup.low, Rollup.high).where(
            Rollup.series_id == series, Rollup.resolution_seconds == 60
        )
    ).one()
    assert tuple(row) == (36000.0, 300.0, 900.0)


def test_a_gap_is_no_zero(connection: Connection) -> None:
    store_samples(connection, record([(NOON, 60.0, 6.0), (NOON + 600, 60.0, 6.0)]))
    found = rollups(connection)
    assert found[3600, NOON] == (120.0, 12.0, 0.1, 0.1)
    assert (60, NOON + 60) not in found


def test_a_sample_that_is_there_stays(connection: Connection) -> None:
    store_samples(connection, record([(NOON, 60.0, 1.0), (NOON, 60.0, 2.0)]))
    store_samples(connection, record([(NOON, 60.0, 3.0)]))
    assert connection.scalars(select(Sample.value)).all() == [1.0]


def test_what_cannot_be_is_left_out(connection: Connection) -> None:
    nan, inf = float("nan"), float("inf")
    bad = [(-1, 1.0, 1.0), (1 << 62, 1.0, 1.0), (NOON, nan, 1.0), (NOON, 1.0, inf),
           (NOON, -1.0, 1.0)]  # fmt: skip
    store_samples(connection, record(bad))
    assert rollups(connection) == {}
    store_samples(connection, record([*bad, (NOON, 0.0, 5.0), (0, 1.0, 1.0)]))
    assert rollups(connection)[60, NOON] == (0.0, 5.0, 5.0, 5.0)


def test_no_months_are_made_for_gaps_of_years(connection: Connection) -> None:
    store_samples(connection, record([(0, 1.0, 1.0), (NOON, 1.0, 1.0)]))
    assert len(connection.scalars(select(Sample.at)).all()) == 2
    assert _months(connection) in ([], ["sample_1970_01", "sample_2023_11"])


def test_the_end_of_a_month_and_of_a_year(connection: Connection) -> None:
    year = 1_704_067_200  # 2024-01-01
    store_samples(connection, record([(year - 1, 1.0, 1.0), (year, 1.0, 1.0)]))
    store_samples(connection, record([(year + 1, 1.0, 1.0)]))
    assert _months(connection) in ([], ["sample_2023_12", "sample_2024_01"])


def test_pruning_leaves_rollups_and_closes_days(connection: Connection) -> None:
    old = [(NOON - 40 * DAY + minute * 60, 60.0, 60.0) for minute in range(10)]
    young = [(NOON - DAY, 60.0, 6.0)]
    store_samples(connection, record([*old, *young]))
    before = rollups(connection)
    later = NOON + 5 * DAY
    assert prune_samples(connection, later, KEPT_DAYS) == 10
    assert _months(connection) in ([], ["sample_2023_11"])
    assert connection.scalars(select(Sample.at)).all() == [NOON - DAY]
    assert rollups(connection) == before
    # Neither a second reading of what is gone nor what comes late for it changes a sum.
    store_samples(connection, record([*old[:5], (NOON - 40 * DAY - 60, 60.0, 1.0)]))
    assert rollups(connection) == before
    store_samples(connection, record([(NOON - 41 * DAY, 60.0, 1.0)]))
    assert rollups(connection)[DAY, NOON - 41 * DAY - DAY // 2] == (60.0, 1.0, 1 / 60, 1 / 60)
    assert prune_samples(connection, later, KEPT_DAYS) == 1


def test_rollups_go_when_their_time_has_come(connection: Connection) -> None:
    store_samples(connection, record([(NOON - 100 * DAY, 60.0, 6.0), (NOON, 60.0, 6.0)]))
    prune_samples(connection, NOON, KEPT_DAYS)
    left = sorted(key for key in rollups(connection) if key[1] < NOON - 50 * DAY)
    assert [resolution for resolution, _ in left] == [3600, 86400]
    prune_samples(connection, NOON + 700 * DAY, {3600: 730})
    assert [key[0] for key in rollups(connection) if key[1] < NOON - 50 * DAY] == [86400]


def test_an_event_is_stored_once_and_ends_when_that_is_known(connection: Connection) -> None:
    begun = EventRecord("scratch", NOON, None, "failover", "OST 1 \x00 moved\nto oss2")
    ended = EventRecord("scratch", NOON, NOON + 5, "failover", "OST 1 \x00 moved\nto oss2")
    for one in (begun, begun, ended, begun, EventRecord("", NOON, None, "advice", "No stdio")):
        store_event(connection, one)
    rows = connection.execute(select(Event.until, Event.text).order_by(Event.id)).all()
    assert [tuple(row) for row in rows] == [
        (NOON + 5, "OST 1 \\x00 moved\nto oss2"), (None, "No stdio"),
    ]  # fmt: skip


def _months(connection: Connection) -> list[str]:
    names = inspect(connection).get_table_names()
    return sorted(name for name in names if name.startswith("sample_"))
