# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import FileSystemState, Space, view_storage
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.portal.pages._storage import full_text
from support.storage_samples import DAY, NOW, campaign, series, targets


def state_of(connection: Connection, *records: object, now: float = NOW + 30) -> FileSystemState:
    Writer(connection).store(records)  # type: ignore[arg-type]
    (found,) = view_storage(connection, now)
    return found


def test_there_is_nothing_in_an_empty_database(connection: Connection) -> None:
    assert view_storage(connection, NOW) == []


def test_a_file_system_without_samples_is_not_known(connection: Connection) -> None:
    found = state_of(connection, EventRecord("scratch", NOW - 5, None, "change", "New name."))
    assert (found.newest_at, found.is_stale, found.failed, found.slow) == (None, True, None, None)
    assert (found.read.now, found.read.greatest, found.space.used) == (None, None, None)
    assert found.events == [("change", "New name.")]


def test_rates_of_targets_add_up(connection: Connection) -> None:
    found = state_of(connection, *targets("read_bytes", [1e6, 2e6, 4e6]))
    assert (found.newest_at, found.is_stale, found.targets) == (NOW, False, 3)
    assert found.read.now == pytest.approx(7e6)
    assert found.write.now is None


def test_each_byte_counts_once_where_the_whole_is_sampled_too(connection: Connection) -> None:
    parts = targets("read_bytes", [1e6, 2e6])
    found = state_of(connection, *parts, series("read_bytes", 3.5e6))
    assert found.read.now == pytest.approx(3.5e6)


def test_kinds_of_operations_stand_for_their_sum(connection: Connection) -> None:
    kinds = [series(kind, rate, target="MDT0") for kind, rate in (("open", 5), ("getattr", 7))]
    found = state_of(connection, *kinds, series("read_bytes", 1.0, target="OST0"))
    assert found.metadata.now == pytest.approx(12)
    assert found.targets == 2


def test_the_busiest_hour_is_what_rates_are_compared_with(connection: Connection) -> None:
    busy = NOW - 5 * DAY
    records = [
        series("write_bytes", 8e6, until=busy, number=60),
        series("write_bytes", 2e6, number=60),
    ]
    found = state_of(connection, *records)
    assert found.write.greatest == pytest.approx(8e6)
    assert found.write.share == pytest.approx(0.25)


def test_old_samples_tell_nothing_of_now(connection: Connection) -> None:
    records = [series("read_bytes", 5.0), series("is_failed", 0.0, target="OST0")]
    found = state_of(connection, *records, now=NOW + 3600)
    assert (found.is_stale, found.read.now, found.failed) == (True, None, None)
    assert found.read.greatest == pytest.approx(5.0)


def test_samples_of_the_future_tell_nothing_of_now(connection: Connection) -> None:
    assert state_of(connection, series("read_bytes", 5.0), now=NOW - 7200).is_stale


def test_failed_slow_and_silent_targets(connection: Connection) -> None:
    records = [
        *targets("is_failed", [0.0, 1.0, 0.0, 0.0]),
        series("is_slow", 1.0, target="OST0002", server="oss0"),
        series("read_bytes", 1.0, target="OST0009", server="oss1", until=NOW - 7200),
    ]
    found = state_of(connection, *records)
    assert (found.failed, found.slow, found.silent) == (["OST0001"], ["OST0002"], ["OST0009"])


def test_a_target_out_of_service_is_forgotten(connection: Connection) -> None:
    gone = series("used_bytes", 100.0, target="OST0009", until=NOW - 8 * DAY)
    found = state_of(connection, gone, *targets("used_bytes", [10.0, 20.0]))
    assert (found.targets, found.silent, found.space.used) == (2, [], 30.0)


def test_a_sum_without_most_targets_is_not_known(connection: Connection) -> None:
    some = targets("read_bytes", [1e6, 1e6, 1e6], until=NOW - 1200)
    found = state_of(connection, *some, series("read_bytes", 1e6, target="OST9", server="oss0"))
    assert found.read.now is None
    assert found.silent == ["OST0000", "OST0001", "OST0002"]


def test_samples_of_five_minutes_count_in_full(connection: Connection) -> None:
    found = state_of(connection, *targets("read_bytes", [1e6, 3e6], step=300, number=12))
    assert found.read.now == pytest.approx(4e6)


@pytest.mark.extended(keep=1)
def test_space_and_when_it_is_full(connection: Connection) -> None:
    def level(at: int) -> float:
        return 700.0 + 10.0 * (at - NOW) / DAY

    records = [
        series("used_bytes", level, number=28 * 24, step=3600),
        series("total_bytes", 1000.0, number=1, step=3600),
        series("used_files", 5.0, number=28 * 24, step=3600),
        series("total_files", 10.0, number=1, step=3600),
    ]
    found = state_of(connection, *records)
    assert found.space.weekly == pytest.approx(70.0, rel=0.01)
    assert found.space.share == pytest.approx(0.7, abs=0.001)
    assert found.space.full_at == pytest.approx(NOW + 30 * DAY, abs=DAY)
    assert found.space.full_from == pytest.approx(found.space.full_at, abs=DAY)
    assert found.space.full_until == pytest.approx(found.space.full_at, abs=DAY)
    assert (found.files.weekly, found.files.full_at, found.files.share) == (0.0, None, 0.5)


def _filling(connection: Connection, level: Callable[[int], float], days: int) -> Space:
    records = [
        series("used_bytes", level, number=days * 24, step=3600),
        series("total_bytes", 1000.0, number=1, step=3600),
    ]
    return state_of(connection, *records).space


def test_one_week_that_rises_is_no_forecast(connection: Connection) -> None:
    found = _filling(connection, lambda at: 700 + 20 * (at - NOW) / DAY, 9)
    assert found.weekly == pytest.approx(140, rel=0.05)
    assert (found.full_at, found.full_from, found.full_until) == (None, None, None)
    assert "a forecast needs 21" in full_text(found)


@pytest.mark.extended(keep=1)
def test_levels_that_rise_and_fall_are_no_forecast(connection: Connection) -> None:
    found = _filling(connection, lambda at: 500 + 100 * (at // DAY % 7) + at / DAY % 3, 28)
    assert found.full_at is None
    assert "not steady" in full_text(found) or full_text(found) == "does not grow"


@pytest.mark.extended(keep=1)
def test_a_forecast_has_an_interval(connection: Connection) -> None:
    def level(at: int) -> float:
        day = at // DAY
        return 700 + 10 * (at - NOW) / DAY + 40 * ((day * 7919) % 11 / 10 - 0.5)

    found = _filling(connection, level, 28)
    assert found.full_at is not None
    assert found.full_from is not None
    assert found.full_from < found.full_at
    assert found.full_until is None or found.full_at < found.full_until
    assert " to " in full_text(found)


def test_growth_is_not_told_of_a_few_days(connection: Connection) -> None:
    records = [series("used_bytes", 5.0, number=6 * 24, step=3600), series("total_bytes", 9.0)]
    found = state_of(connection, *records)
    assert (found.space.used, found.space.weekly, found.space.full_at) == (5.0, None, None)


def test_events_are_open_until_they_end(connection: Connection) -> None:
    records = [
        EventRecord("scratch", NOW - 50, NOW - 10, "outage", "over"),
        EventRecord("scratch", NOW - 50, NOW + 99, "outage", "still"),
        EventRecord("", NOW - 60, None, "maintenance", "of all"),
        EventRecord("scratch", NOW + 40, None, "outage", "to come"),
        EventRecord("scratch", NOW - 70, None, "advice", "no event"),
    ]
    found = state_of(connection, *records)
    assert found.events == [("outage", "still"), ("maintenance", "of all")]


def test_a_benchmark_of_the_storage_itself_is_preferred(connection: Connection) -> None:
    records = [
        series("read_bytes", 1.0),
        campaign(NOW - 5 * DAY, {"a": 1.0}),
        campaign(NOW - DAY, {"a": 1.0}, is_emulated=True),
        campaign(NOW, {"a": 1.0}, storage="scratch2"),
    ]
    assert state_of(connection, *records).benchmark == (NOW - 5 * DAY, False)
