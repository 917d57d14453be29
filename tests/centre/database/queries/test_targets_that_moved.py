# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A target that another server takes over is one target, before and after."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import Connection

from stripewise.centre.database._records import SampleRecord
from stripewise.centre.database.queries import FileSystemLoad, LoadPeriod, view_load, view_storage
from stripewise.centre.database.store._writer import Writer
from support.storage_samples import DAY, NOW, key_of, series

MINUTES = 12 * 60
METRICS = ("read_bytes", "write_bytes", "used_bytes", "total_bytes")


def moves(ago: int, back: int = 0, step: int = 60, number: int = MINUTES) -> list[SampleRecord]:
    """Return three targets at oss0 and three at oss1, one of which oss0 has for a while.

    Args:
        ago: For so many samples, until `back`.
        back: Samples ago that oss1 has it again.
        step: Seconds of a sample.
        number: Of samples.
    """
    found = []
    for metric in METRICS:
        for place in range(5):
            found.append(series(metric, 1e6, target=f"OST{place}", server=f"oss{place // 3}",
                                step=step, number=number))  # fmt: skip
        of_last = {"target": "OST5", "step": step, "number": number}
        away = range(back, ago)
        home = [place for place in range(number) if place not in away]
        found.append(series(metric, 1e6, server="oss1", without=away, **of_last))
        found.append(series(metric, 1e6, server="oss0", without=home, **of_last))
    return found


def load_of(
    connection: Connection, records: Sequence[SampleRecord], period: str = "day"
) -> FileSystemLoad:
    Writer(connection).store(records)
    return view_load(connection, key_of(connection), LoadPeriod.of(period, None, NOW), NOW)


@pytest.mark.extended
@pytest.mark.parametrize("back", [0, 30], ids=["stays", "goes back"])
def test_the_load_is_known_before_and_after(connection: Connection, back: int) -> None:
    found = load_of(connection, moves(90, back))
    for one in (found.read, found.write):
        assert len(one.values) == MINUTES * 60 // found.width_seconds
        assert {round(value) for value in one.values.values()} == {6_000_000}
        assert one.gaps == 0


@pytest.mark.extended
def test_the_hour_in_which_it_moved_counts_it_once(connection: Connection) -> None:
    found = load_of(connection, moves(90), period="week")
    assert found.width_seconds == 3600
    assert {round(value) for value in found.read.values.values()} == {6_000_000}


@pytest.mark.extended
def test_what_servers_did_is_known_before_and_after(connection: Connection) -> None:
    found = load_of(connection, moves(90))
    moment = NOW - 90 * 60
    for server, before, after in (("oss0", 6e6, 8e6), ("oss1", 6e6, 4e6)):
        values = found.servers[server].values
        assert len(values) == MINUTES * 60 // found.server_width_seconds
        assert {at: value for at, value in values.items() if at < moment} == {
            at: pytest.approx(before) for at in values if at < moment
        }
        assert {at: value for at, value in values.items() if at >= moment} == {
            at: pytest.approx(after) for at in values if at >= moment
        }


@pytest.mark.extended
def test_it_is_listed_once_with_the_server_that_has_it(connection: Connection) -> None:
    found = load_of(connection, moves(90))
    assert sorted(one.target for one in found.targets) == [f"OST{place}" for place in range(6)]
    (moved,) = [one for one in found.targets if one.target == "OST5"]
    assert moved.server == "oss0"
    assert [one.share for one in found.targets] == [pytest.approx(1 / 6)] * 6
    assert not any(one.is_outlier for one in found.targets)


@pytest.mark.extended(keep=1)
def test_rates_and_space_of_now_count_it_once(connection: Connection) -> None:
    Writer(connection).store(moves(90))
    (state,) = view_storage(connection, NOW)
    assert (state.targets, list(state.silent)) == (6, [])
    assert state.read.now == pytest.approx(6e6)
    assert state.write.greatest == pytest.approx(6e6)
    assert (state.space.used, state.space.total) == (pytest.approx(6e6), pytest.approx(6e6))


@pytest.mark.extended
def test_weeks_later_the_time_before_still_has_it(connection: Connection) -> None:
    """The series at its old server is out of service then, what it told is not."""
    found = load_of(connection, moves(14 * 24, step=3600, number=29 * 24), period="month")
    assert len(found.read.values) == 29 * DAY // found.width_seconds
    assert {round(value) for value in found.read.values.values()} == {6_000_000}


def leaves(old: str, new: str, told: int = 0) -> list[SampleRecord]:
    """Return a target that another server has, while its old one says that it is gone.

    Args:
        old: The server that had it until 90 samples ago.
        new: Another.
        told: Newest samples that the new one has not told.
    """
    here, before = range(90, MINUTES), range(90)
    found = []
    for metric in METRICS:
        of_both = {"target": "OST5", "number": MINUTES}
        found.append(series(metric, 1e6, server=old, without=before, **of_both))
        found.append(series(metric, 1e6, server=new, without=[*here, *range(told)], **of_both))
        found += [series(metric, 1e6, target="OST4", server=old, number=MINUTES)]
    gone = series("is_failed", lambda at: float(at >= NOW - 90 * 60), target="OST5", server=old,
                  number=MINUTES)  # fmt: skip
    there = series("is_failed", 0.0, target="OST5", server=new, number=MINUTES,
                   without=[*here, *range(told)])  # fmt: skip
    return [*found, gone, there]


SERVERS = pytest.mark.parametrize(("old", "new"), [("oss0", "oss1"), ("oss1", "oss0")])


@pytest.mark.extended(keep=1)
@SERVERS
@pytest.mark.parametrize("told", [0, 1])
def test_a_target_that_is_gone_from_its_old_server_has_not_failed(
    connection: Connection, old: str, new: str, told: int
) -> None:
    load = load_of(connection, leaves(old, new, told))
    (one,) = [one for one in load.targets if one.target == "OST5"]
    assert (one.server, one.is_failed) == (new, False)
    (state,) = view_storage(connection, NOW)
    assert state.failed == []


@pytest.mark.extended
@SERVERS
def test_of_a_target_whose_last_server_is_silent_nobody_tells(
    connection: Connection, old: str, new: str
) -> None:
    Writer(connection).store(leaves(old, new, 60))
    (state,) = view_storage(connection, NOW)
    assert not state.failed
    assert list(state.silent) == ["OST5"]


def replaced() -> list[SampleRecord]:
    """Return targets of a server that has been replaced by another, weeks ago."""
    found = []
    for metric in METRICS:
        for place in range(6):
            target = f"OST{place}"
            found.append(series(metric, 1e6, target=target, server="new", number=120))
            found.append(series(metric, 1e6, target=target, server="old", until=NOW - 20 * DAY))
    return found


@pytest.mark.extended
def test_where_targets_once_were_makes_no_curve_coarser(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stripewise.centre.database.queries._series.MOST_READ", 6 * 60)
    found = load_of(connection, replaced(), period="hour")
    assert found.width_seconds == 120
    assert len(found.read.values) == 30


@pytest.mark.extended(keep=1)
def test_a_server_that_is_out_of_service_is_not_shown(connection: Connection) -> None:
    found = load_of(connection, replaced(), period="hour")
    assert (list(found.servers), found.other_servers) == (["new"], 0)
