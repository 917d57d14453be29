# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Connection

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import NOBODY, LoadPeriod, Role, Top, Viewer, view_top
from stripewise.centre.database.store._writer import Writer
from stripewise.core.errors import UsageError
from support.fleet_records import figures, job, source
from support.storage_samples import DAY, NOW, STAFF, key_of, mounted, used_by, viewer_named

MANY = {f"u{number}": (1000 * number, 10) for number in range(1, 8)}


@pytest.fixture(autouse=True)
def _file_system(connection: Connection) -> None:
    Writer(connection).store([EventRecord("scratch", NOW, NOW, "change", "It is there.")])


def top_of(connection: Connection, viewer: Viewer, period: str = "day") -> Top:
    return view_top(connection, viewer, key_of(connection), LoadPeriod.of(period, None, NOW))


def test_staff_see_all_users_with_the_amounts_of_their_jobs(connection: Connection) -> None:
    used_by(connection, MANY, group="staff")
    used_by(connection, {"u1": (5, 100_000)}, account="q", first=50)
    found = top_of(connection, STAFF)
    shares = {one.name: (one.jobs, one.read_bytes, one.write_bytes) for one in found.users}
    assert shares["u7"] == (1, 7000.0, 10.0)
    assert shares["u1"] == (2, 1005.0, 100_010.0)
    assert found.users[0].name == "u1"
    projects = {one.name: (one.jobs, one.read_bytes) for one in found.projects}
    assert projects == {"p": (7, 28_000.0), "q": (1, 5.0)}
    groups = {one.name: (one.jobs, one.write_bytes) for one in found.groups}
    assert groups == {"staff": (7, 70.0), None: (1, 100_000.0)}
    assert (found.seen.jobs, found.seen.read_bytes, found.others) == (8, 28_005.0, None)
    assert [row["user"] for row in found.jobs][:2] == ["u1", "u7"]
    assert found.jobs[0]["meta_operations"] == 30.0


@pytest.mark.extended(keep=1)
def test_a_user_sees_own_jobs_and_the_sum_of_enough_others(connection: Connection) -> None:
    used_by(connection, MANY)
    found = top_of(connection, viewer_named(connection, "u1"))
    assert [(one.name, one.read_bytes) for one in found.users] == [("u1", 1000.0)]
    assert {row["user"] for row in found.jobs} == {"u1"}
    assert found.others is not None
    assert (found.others.jobs, found.others.read_bytes) == (5, 27_000.0)  # six jobs


def test_sums_of_others_are_rounded(connection: Connection) -> None:
    used_by(connection, {**MANY, "u8": (24_567, 0)})
    found = top_of(connection, viewer_named(connection, "u1"))
    assert found.others is not None
    assert found.others.read_bytes == 52_000.0


def test_the_sum_of_others_is_not_shown_where_one_of_them_makes_most_of_it(
    connection: Connection,
) -> None:
    used_by(connection, {**MANY, "u8": (123_456, 0)})
    assert top_of(connection, viewer_named(connection, "u1")).others is None


def test_the_sum_of_few_others_is_not_shown(connection: Connection) -> None:
    used_by(connection, dict(list(MANY.items())[:5]))
    used_by(connection, {"u2": (1, 1)}, first=60)  # a second job makes no fifth user
    assert top_of(connection, viewer_named(connection, "u1")).others is None


def test_jobs_without_a_user_do_not_make_others_many(connection: Connection) -> None:
    used_by(connection, dict(list(MANY.items())[:5]))
    used_by(connection, {"": (1, 1)}, first=70)
    assert top_of(connection, viewer_named(connection, "u1")).others is None


def test_a_manager_sees_the_jobs_of_their_project(connection: Connection) -> None:
    used_by(connection, dict(list(MANY.items())[:2]))
    used_by(connection, {"u2": (9, 9), "u3": (9, 9)}, account="secret", first=60)
    found = top_of(connection, viewer_named(connection, "u1", "p"))
    assert {one.name: one.jobs for one in found.users} == {"u1": 1, "u2": 1}
    assert {one.name for one in found.projects} == {"p"}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("viewer", [NOBODY, Viewer("x", Role.USER)])
def test_strangers_see_no_job(connection: Connection, viewer: Viewer) -> None:
    used_by(connection, dict(list(MANY.items())[:4]))
    found = top_of(connection, viewer)
    assert found.users == found.groups == found.projects == found.jobs == []
    assert found.others is None
    assert found.seen.jobs == 0


@pytest.mark.extended(keep=1)
def test_the_part_of_a_job_within_the_time_counts(connection: Connection) -> None:
    used_by(connection, {"u1": (8000, 0)}, start_at=NOW - DAY - 300, seconds=1200)
    (user,) = top_of(connection, STAFF).users
    assert user.read_bytes == pytest.approx(6000.0)
    assert top_of(connection, STAFF, "hour").users == []


def test_another_file_system_does_not_count(connection: Connection) -> None:
    io = {"cumulated_seconds": 1.0, "meta_operations": 10, "file_count": 1}
    profile = source(
        "d", 1, told=figures(read_bytes=400, write_bytes=0, meta_operations=20),
        start_at=NOW - 100.0, end_at=NOW - 50.0,
        io=({"file_system": "/scratch", "read_bytes": 300, "write_bytes": 0, **io},
            {"file_system": "/home", "read_bytes": 100, "write_bytes": 0, **io}),
    )  # fmt: skip
    Writer(connection).store([job(1, NOW - 110, start_at=NOW - 100, end_at=NOW), profile])
    (user,) = top_of(connection, STAFF).users
    assert (user.read_bytes, user.meta_operations) == (300.0, 10.0)


@pytest.mark.extended(keep=1)
def test_two_sources_of_one_run_count_once(connection: Connection) -> None:
    io = {"file_system": "/scratch", "cumulated_seconds": 1.0, "meta_operations": 30,
          "file_count": 1, "read_bytes": 1000, "write_bytes": 2000}  # fmt: skip
    times = {"start_at": NOW - 100.0, "end_at": NOW - 50.0, "io": (io,)}
    Writer(connection).store([
        job(1, NOW - 110, start_at=NOW - 100, end_at=NOW - 40),
        source("d", 1, **times), source("e", 1, kind="trace", **times),
    ])  # fmt: skip
    (user,) = top_of(connection, STAFF).users
    assert (user.read_bytes, user.write_bytes) == (1000.0, 2000.0)


@pytest.mark.extended(keep=1)
def test_the_largest_numbers_of_broken_profiles_are_added(connection: Connection) -> None:
    most = (1 << 63) - 1
    io = {"cumulated_seconds": 1.0, "meta_operations": most, "file_count": 1,
          "read_bytes": most, "write_bytes": most}  # fmt: skip
    profile = source(
        "d", 1, told=figures(read_bytes=most, write_bytes=most), start_at=NOW - 100.0,
        end_at=NOW - 50.0,
        io=({"file_system": "/scratch", **io}, {"file_system": "/home", **io}),
    )  # fmt: skip
    Writer(connection).store([job(1, NOW - 110, start_at=NOW - 100, end_at=NOW), profile])
    (user,) = top_of(connection, STAFF).users
    assert user.read_bytes == pytest.approx(most / 2)


@pytest.mark.extended(keep=1)
def test_mounts_are_names_of_the_file_system(connection: Connection) -> None:
    used_by(connection, {"u1": (5, 5)})
    mounted(connection, "/other")
    assert len(top_of(connection, STAFF).users) == 1  # "/scratch" by its name
    mounted(connection, "/lustre", "/old")
    io = {"file_system": "/lustre", "cumulated_seconds": 1.0, "meta_operations": 3,
          "file_count": 1, "read_bytes": 7, "write_bytes": 0}  # fmt: skip
    times = {"start_at": NOW - 100.0, "end_at": NOW - 50.0, "io": (io,)}
    made = job(9, NOW - 110, user="u9", uid=9, start_at=NOW - 100, end_at=NOW - 40)
    Writer(connection).store([made, source("x", 9, user="u9", **times)])
    assert {one.name for one in top_of(connection, STAFF).users} == {"u1", "u9"}


def test_a_year_is_too_long(connection: Connection) -> None:
    with pytest.raises(UsageError, match="hour, day, week, month"):
        top_of(connection, STAFF, "year")


def test_whoever_is_not_all_known_is_neither_zero_nor_first(connection: Connection) -> None:
    used_by(connection, {"ann": (3000, 0), "bob": (1000, 0)})
    io = {"file_system": "/scratch", "cumulated_seconds": 1.0, "meta_operations": 30,
          "file_count": 1, "read_bytes": None, "write_bytes": 500}  # fmt: skip
    why = {"read_bytes": "damaged"}
    told = figures(read_bytes=None, write_bytes=500, missing=why)
    profile = source("p", 9, told=told, user="cyd", start_at=NOW - 3600.0, end_at=NOW - 3000.0,
                     io=({**io, "missing": why},))  # fmt: skip
    made = job(9, NOW - 3610, user="cyd", uid=9, start_at=NOW - 3600, end_at=NOW - 3000)
    Writer(connection).store([made, profile])
    found = top_of(connection, STAFF)
    users = {one.name: one for one in found.users}
    assert [one.name for one in found.users] == ["ann", "bob", "cyd"]
    assert users["cyd"].read_bytes is None
    assert users["cyd"].moved.words(str) == "at least 500.0"
    assert users["cyd"].missing == {"read_bytes": "not everything is known about 1 job"}
    assert users["ann"].moved.is_exact
    assert found.seen.moved.words(str) == "at least 4500.0"
    row = next(row for row in found.jobs if row["user"] == "cyd")
    assert (row["read_bytes"], list(row["missing"])) == (None, ["read_bytes"])


def test_a_user_of_whom_nothing_is_known_is_listed_behind_many_others(
    connection: Connection,
) -> None:
    used_by(connection, {f"u{number}": (1000 * number, 10) for number in range(1, 14)})
    told = figures(read_bytes=None, write_bytes=None,
                   missing={"read_bytes": "x", "write_bytes": "x"})  # fmt: skip
    io = {"file_system": "/scratch", "cumulated_seconds": 1.0, "meta_operations": 0,
          "file_count": 1, "read_bytes": None, "write_bytes": None,
          "missing": {"read_bytes": "x", "write_bytes": "x"}}  # fmt: skip
    profile = source("p", 99, told=told, user="cyd", start_at=NOW - 3600.0, end_at=NOW - 3000.0,
                     io=(io,))  # fmt: skip
    made = job(99, NOW - 3610, user="cyd", uid=99, start_at=NOW - 3600, end_at=NOW - 3000)
    Writer(connection).store([made, profile])
    last = top_of(connection, STAFF).users[-1]
    assert (last.name, last.moved.value) == ("cyd", None)


def test_bytes_of_a_job_that_are_on_no_known_file_system_are_not_zero(
    connection: Connection,
) -> None:
    io = {"file_system": "/scratch", "cumulated_seconds": 1.0, "meta_operations": 30,
          "file_count": 1, "read_bytes": 0, "write_bytes": 0}  # fmt: skip
    profile = source("p", 9, told=figures(read_bytes=700, write_bytes=0), user="cyd",
                     start_at=NOW - 3600.0, end_at=NOW - 3000.0, io=(io,))  # fmt: skip
    made = job(9, NOW - 3610, user="cyd", uid=9, start_at=NOW - 3600, end_at=NOW - 3000)
    Writer(connection).store([made, profile])
    (user,) = top_of(connection, STAFF).users
    assert (user.read_bytes, user.write_bytes) == (None, 0.0)
