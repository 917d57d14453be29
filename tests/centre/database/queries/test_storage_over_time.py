# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import FileSystemLoad, LoadPeriod, events_within, view_load
from stripewise.centre.database.queries._series import resolution_for
from stripewise.centre.database.queries._storage_load import outliers
from stripewise.centre.database.store._writer import Writer
from stripewise.core.errors import UsageError
from support.storage_samples import DAY, NOW, key_of, series, targets


def load_of(connection: Connection, *records: Any, period: str = "hour") -> FileSystemLoad:
    Writer(connection).store(records)
    return view_load(connection, key_of(connection), LoadPeriod.of(period, None, NOW), NOW)


@pytest.mark.extended(keep=1)
def test_a_gap_stays_a_gap(connection: Connection) -> None:
    found = load_of(connection, series("read_bytes", 6e6, without=range(10, 20)))
    values = dict(zip(found.moments, found.read.at(found.moments), strict=True))
    assert set(values.values()) == {6e6, None}
    gap = [at for at, value in values.items() if value is None]
    assert gap == list(range(NOW - 20 * 60, NOW - 10 * 60, found.width_seconds))


@pytest.mark.extended(keep=1)
def test_a_silent_target_is_no_target_without_load(connection: Connection) -> None:
    """The sum over targets has a gap where some of them are missing."""
    records = targets("write_bytes", [1e6, 1e6, 1e6])
    records.append(series("write_bytes", 5e6, target="OST9", server="oss9", without=range(30)))
    found = load_of(connection, *records)
    known = list(found.write.values)
    assert all(at < NOW - 1800 for at in known)
    assert set(found.write.values.values()) == {8e6}
    assert found.write.gaps > 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("step", [10, 60, 61, 90, 300])
def test_samples_that_drift_leave_no_holes(connection: Connection, step: int) -> None:
    records = [
        series("read_bytes", 2e6, target=f"OST{place}", server="oss0", until=NOW - 7 * place,
               number=8000 // step, step=step)
        for place in range(3)
    ]  # fmt: skip
    found = load_of(connection, *records)
    inner = found.read.at(found.moments)[:-2]
    assert inner
    assert inner == [pytest.approx(6e6)] * len(inner)


@pytest.mark.parametrize(
    ("period", "width"),
    [("hour", 120), ("day", 120), ("week", 3600), ("month", 3600), ("year", DAY)],
)
def test_the_resolution_follows_from_the_period(
    connection: Connection, period: str, width: int
) -> None:
    found = load_of(connection, series("read_bytes", 1e6, number=200), period=period)
    assert found.width_seconds == width
    assert set(found.read.values.values()) == {1e6}


@pytest.mark.extended(keep=1)
def test_servers_and_kinds(connection: Connection) -> None:
    records = [
        *targets("read_bytes", [1e6, 2e6, 3e6, 4e6]),
        *targets("write_bytes", [1e5, 1e5, 1e5, 1e5]),
        series("open", 50.0, target="MDT0", server="mds0"),
        series("close", 40.0, target="MDT0", server="mds0"),
        series("load", 0.5, server="oss0"),
    ]
    found = load_of(connection, *records)
    assert list(found.servers) == ["oss1", "oss0"]
    assert set(found.servers["oss0"].values.values()) == {4.2e6}
    assert list(found.kinds) == ["open", "close"]
    assert set(found.metadata.values.values()) == {90.0}
    assert set(found.loads["oss0"].values.values()) == {0.5}


@pytest.mark.extended(keep=1)
def test_targets_with_shares_and_the_outlier_first(connection: Connection) -> None:
    records = [
        *targets("read_bytes", [1e6, 1.1e6, 0.9e6, 1e6, 4e6, 1e6]),
        *targets("used_bytes", [10.0] * 6),
        *targets("total_bytes", [40.0] * 6),
        *targets("is_failed", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
    ]
    found = load_of(connection, *records).targets
    first = found[0]
    assert (first.target, first.is_outlier) == ("OST0004", True)
    assert first.read == pytest.approx(4e6)
    assert first.write is None
    assert first.share == pytest.approx(4 / 9)
    assert first.factor == pytest.approx(4.0)
    assert [one.is_outlier for one in found[1:]] == [False] * 5
    assert {one.target: one.is_failed for one in found}["OST0002"] is True
    assert {(one.used, one.total) for one in found} == {(10.0, 40.0)}


def test_targets_that_are_kept_by_the_hour_only(connection: Connection) -> None:
    """A day of minutes of the whole stands beside hours of the targets."""
    records = [
        series("read_bytes", 9e6, number=600),
        *targets("read_bytes", [4e6, 5e6], number=10, step=3600),
    ]
    found = load_of(connection, *records, period="day")
    assert sorted(one.read or 0.0 for one in found.targets) == [pytest.approx(4e6),
                                                                pytest.approx(5e6)]  # fmt: skip


def test_nothing_is_known_of_a_time_before_all_samples(connection: Connection) -> None:
    Writer(connection).store([series("read_bytes", 1e6)])
    past = LoadPeriod.of("day", NOW - 100 * DAY, NOW)
    found = view_load(connection, key_of(connection), past, NOW)
    assert past.is_past
    assert found.read.values == {}
    assert [one.read for one in found.targets] == []


def test_events_that_touch_a_time(connection: Connection) -> None:
    period = LoadPeriod.of("hour", None, NOW)
    Writer(connection).store([
        series("read_bytes", 1.0),
        EventRecord("scratch", NOW - 9000, NOW - 3600, "a", "reaches into it"),
        EventRecord("scratch", NOW - 9000, NOW - 3601, "b", "ended before"),
        EventRecord("", NOW - 10, None, "c", "of all"),
        EventRecord("home", NOW - 10, None, "d", "of another"),
    ])  # fmt: skip
    rows = events_within(connection, key_of(connection), period.since, period.until)
    assert [row.kind for row in rows] == ["c", "a"]


def test_periods_are_checked() -> None:
    with pytest.raises(UsageError, match="hour, day, week, month, year"):
        LoadPeriod.of("decade", None, NOW)
    assert LoadPeriod.of("", NOW + 99, NOW) == LoadPeriod("day", NOW - DAY, NOW)


def test_large_systems_are_read_at_less_resolution() -> None:
    day = (NOW - DAY, NOW, NOW)
    assert [resolution_for(60, number, *day) for number in (1, 100, 1000, 100_000)] == [
        60, 60, 3600, 86400
    ]  # fmt: skip
    assert resolution_for(60, 1, NOW - 100 * DAY, NOW, NOW) == 3600
    assert resolution_for(60, 1, NOW - 900 * DAY, NOW - 899 * DAY, NOW) == 86400


@given(st.dictionaries(st.integers(0, 50), st.floats(1e3, 1e9), max_size=30), st.floats(0.01, 100))
def test_outliers_do_not_depend_on_the_unit(rates: dict[int, float], scale: float) -> None:
    found = outliers(rates)
    scaled = {name: rate * scale for name, rate in rates.items()}
    assert found == outliers(scaled) or any(
        abs(rate / sorted(rates.values())[len(rates) // 2] - 1.5) < 1e-6 for rate in rates.values()
    )
    assert len(found) <= len(rates) / 2


def test_a_target_that_does_nothing_is_an_outlier() -> None:
    assert outliers({1: 1.0, 2: 1.0, 3: 1.1, 4: 0.9, 5: 0.0}) == {5}
    assert outliers({1: 1.0, 2: 9.0}) == set()
    assert outliers(dict.fromkeys(range(9), 0.0)) == set()
