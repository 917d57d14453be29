# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who loads a file system by the servers' counters, which targets are slow, whom that hurts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import (
    NOBODY,
    DisturbingJob,
    LoadPeriod,
    Role,
    Top,
    Viewer,
    disturbing_jobs,
    uncounted,
    view_load,
    view_monitors,
    view_storage,
    view_top,
)
from stripewise.centre.database.store import Load, Template, settle, store_job_loads, write_parts
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Cluster, Person, PersonUid
from support.fleet_records import job
from support.served_jobs import MIB, load, service, store_loads
from support.storage_samples import DAY, NOW, STAFF, key_of, series, viewer_named

HOUR = 3600
FIRST = NOW - DAY
USERS = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil")


@pytest.fixture(autouse=True)
def _file_system(connection: Connection) -> None:
    Writer(connection).store([EventRecord("scratch", NOW, NOW, "change", "It is there.")])


def jobs(connection: Connection, amounts: Mapping[str, int], account: str = "p") -> None:
    """Store a job of each user that ran all day, and what servers counted for it."""
    for number, (user, moved) in enumerate(amounts.items(), start=1):
        made = job(number, FIRST - 10, cluster="alpha", user=user, uid=1000 + number,
                   account=account, start_at=FIRST, end_at=NOW)  # fmt: skip
        Writer(connection).store([made])
        store_loads(connection, [load(str(number), FIRST, moved_bytes=moved),
                                 load(str(number), FIRST, "metadata")])  # fmt: skip


def top_of(connection: Connection, viewer: Viewer, period: str = "day") -> Top:
    return view_top(connection, viewer, key_of(connection), LoadPeriod.of(period, None, NOW))


def test_amounts_are_those_that_servers_counted(connection: Connection) -> None:
    jobs(connection, {"ann": 1000, "bob": 5000})
    store_loads(connection, [load("2", NOW - 60, "read", moved_bytes=7)], server="oss2")
    found = top_of(connection, STAFF)
    assert found.by_servers
    shares = {one.name: (one.jobs, one.read_bytes, one.write_bytes) for one in found.users}
    assert shares == {"ann": (1, 0.0, 1000.0), "bob": (1, 7.0, 5000.0)}
    assert [(row["user"], row["meta_operations"]) for row in found.jobs] == [
        ("bob", 600.0), ("ann", 600.0)
    ]  # fmt: skip
    assert found.seen.meta_operations == 1200.0
    assert found.others is None


def test_what_servers_count_of_no_job_goes_to_its_user(connection: Connection) -> None:
    jobs(connection, {"ann": 1000})
    forms = (Template("%e.%u"),)
    for cluster, uid in (("alpha", 1001), ("", 1001), ("beta", 1001), ("alpha", 9)):
        loads = [load(f"cp.{uid}", NOW - 120, moved_bytes=10)]
        store_job_loads(connection, cluster, "oss1", loads, forms)
    store_job_loads(connection, "alpha", "oss1", [load("77", NOW - 60, moved_bytes=5)])
    found = top_of(connection, STAFF)
    shares = {one.name: (one.jobs, one.write_bytes) for one in found.users}
    assert shares == {"ann": (1, 1020.0), None: (0, 25.0)}  # of beta, of 9, of job 77
    own = top_of(connection, viewer_named(connection, "ann"))
    assert own.seen.write_bytes == 1020.0


def test_a_number_of_several_users_is_of_none_of_them(connection: Connection) -> None:
    jobs(connection, {"ann": 1000, "bob": 10})
    beta = connection.execute(insert(Cluster).values(name="beta")).inserted_primary_key
    bob = connection.scalar(select(Person.id).where(Person.name == "bob"))
    assert beta is not None
    connection.execute(insert(PersonUid).values(cluster_id=beta[0], uid=1001, person_id=bob))
    loads = [load("cp.1001", NOW - 120, moved_bytes=10)]
    store_job_loads(connection, "", "oss1", loads, (Template("%e.%u"),))
    shares = {one.name: one.write_bytes for one in top_of(connection, STAFF).users}
    assert shares[None] == 10.0


def test_a_user_sees_the_own_and_the_sum_of_enough_others(connection: Connection) -> None:
    jobs(connection, {user: 1000 * MIB for user in USERS})
    found = top_of(connection, viewer_named(connection, "ann"))
    assert [(one.name, one.write_bytes) for one in found.users] == [("ann", 1000.0 * MIB)]
    assert {row["user"] for row in found.jobs} == {"ann"}
    assert found.others is not None
    assert (found.others.jobs, found.others.write_bytes) == (5, 6.3e9)


@pytest.mark.parametrize(
    "amounts",
    [
        dict.fromkeys(USERS[:5], 1000),  # four others
        dict.fromkeys(USERS, 1000) | {"gil": 10**9},  # one of them makes most
    ],
)
def test_few_others_stay_hidden(connection: Connection, amounts: Mapping[str, int]) -> None:
    jobs(connection, amounts)
    assert top_of(connection, viewer_named(connection, "ann")).others is None


@pytest.mark.parametrize("viewer", [NOBODY, Viewer("x", Role.USER)])
def test_strangers_see_nothing(connection: Connection, viewer: Viewer) -> None:
    jobs(connection, dict.fromkeys(USERS[:3], 1000))
    found = top_of(connection, viewer)
    assert (list(found.users), list(found.jobs)) == ([], [])
    assert (found.seen.jobs, found.seen.write_bytes, found.others) == (0, 0.0, None)


def test_a_manager_sees_the_jobs_of_the_project_alone(connection: Connection) -> None:
    jobs(connection, {"ann": 1, "bob": 2})
    forms = (Template("%e.%u"),)
    loads = [load("cp.1002", NOW - 120, moved_bytes=10)]
    store_job_loads(connection, "alpha", "oss1", loads, forms)
    found = top_of(connection, viewer_named(connection, "ann", "p"))
    assert {one.name: one.write_bytes for one in found.users} == {"ann": 1.0, "bob": 2.0}


def test_profiles_tell_where_servers_do_not_cover_the_time(connection: Connection) -> None:
    store_loads(connection, [load("1", NOW - 600)])
    assert not top_of(connection, STAFF).by_servers
    assert not top_of(connection, STAFF, "week").by_servers
    assert top_of(connection, STAFF).whole is None


@pytest.mark.extended(keep=1)
def test_the_rest_is_what_the_file_system_moved_besides(connection: Connection) -> None:
    jobs(connection, {"ann": 1 << 30})
    Writer(connection).store([
        series(name, 1e6, number=24 * 60 + 10) for name in ("read_bytes", "write_bytes")
    ] + [series("metadata_operations", 1.0, number=24 * 60 + 10)])  # fmt: skip
    found = top_of(connection, STAFF)
    assert found.whole is not None
    assert found.rest is not None
    assert found.whole.write_bytes == pytest.approx(1e6 * DAY)
    assert found.rest.write_bytes == pytest.approx(1e6 * DAY - (1 << 30))
    assert found.rest.meta_operations == pytest.approx(DAY - 600)


# ---- slow targets --------------------------------------------------------------------------


def slow_of(connection: Connection, seconds: Sequence[float], **given: Any) -> Any:
    for place, each in enumerate(seconds):
        records = service(f"OST{place:04d}", each, first=NOW - 1800, number=30, **given)
        Writer(connection).store(records)
    (found,) = view_storage(connection, NOW + 30)
    return found


def test_a_slow_target_is_told_by_its_times(connection: Connection) -> None:
    found = slow_of(connection, [0.006, 0.0061, 0.0059, 0.041, 0.006])
    assert found.slow == ["OST0003"]
    one = found.slow_seconds["OST0003"]
    assert (one.seconds, one.usual_seconds) == (pytest.approx(0.041), pytest.approx(0.006))


@pytest.mark.parametrize(
    ("seconds", "given", "slow"),
    [
        ([0.006, 0.006, 0.041], {}, None),  # too few to compare
        ([0.006] * 4 + [0.041], {"rate": 0.1}, None),  # too few operations
        ([0.006] * 4 + [0.017], {}, []),  # not three times
        ([0.0001] * 4 + [0.0009], {}, []),  # less than a millisecond
        ([0.04] * 5, {}, []),
    ],
)
def test_when_no_target_is_called_slow(
    connection: Connection, seconds: list[float], given: dict[str, float], slow: Any
) -> None:
    assert slow_of(connection, seconds, **given).slow == slow


def test_what_the_monitor_says_counts_more(connection: Connection) -> None:
    Writer(connection).store([series("is_slow", 0.0, target="OST0004", server="oss1")])
    assert slow_of(connection, [0.006] * 4 + [0.041]).slow == []


def test_metadata_targets_are_not_compared_with_storage_targets(connection: Connection) -> None:
    Writer(connection).store(service("MDT0000", 0.0005, first=NOW - 1800, number=30))
    found = slow_of(connection, [0.006] * 4)
    assert found.slow == []
    load = view_load(connection, key_of(connection), LoadPeriod.of("hour", None, NOW), NOW)
    times = {one.target: one.operation_seconds for one in load.targets}
    assert times["MDT0000"] == pytest.approx(0.0005)
    assert times["OST0000"] == pytest.approx(0.006)


# ---- jobs that hurt others -----------------------------------------------------------------


def hurt(
    connection: Connection, *, share: float = 0.8, now_seconds: float = 0.050,
    before_bytes: int = 0, viewer: Any = STAFF,
) -> list[DisturbingJob]:  # fmt: skip
    """Let ann's job make a share of what a server did in an hour in which it was slow.

    The server then moves 1 GiB in an hour, and `before_bytes` in those before, if that is known.
    """
    start = NOW - 2 * HOUR
    jobs(connection, {"ann": 0, "bob": 0})
    whole = 1 << 30
    records = service("OST0000", 0.005, first=start - 5 * DAY, number=48, step=HOUR)
    records += service("OST0000", now_seconds, first=start, number=60)
    records.append(series("write_bytes", whole / HOUR, target="OST0000", server="oss1",
                          until=start + HOUR))  # fmt: skip
    if before_bytes:
        records.append(series("write_bytes", before_bytes / HOUR, target="OST0000", server="oss1",
                              until=start - 3 * DAY, number=48, step=HOUR))  # fmt: skip
    Writer(connection).store(records)
    amounts = {"1": int(share * whole), "2": int((1 - share) * whole)}
    store_loads(
        connection, [load(tag, start + 60, moved_bytes=moved) for tag, moved in amounts.items()]
    )
    if isinstance(viewer, tuple):
        viewer = viewer_named(connection, *viewer)
    return disturbing_jobs(connection, viewer, key_of(connection), NOW)


def test_a_job_that_made_most_of_a_slow_servers_load_is_named_to_staff(
    connection: Connection,
) -> None:
    (one,) = hurt(connection)
    assert (one.job["user"], one.job["raw_id"], one.server) == ("ann", 1, "oss1")
    assert one.share == pytest.approx(0.8, rel=1e-3)
    assert one.operation_seconds == pytest.approx(0.05)
    assert one.usual_seconds == pytest.approx(0.005)
    assert (one.at, one.hours, one.is_metadata) == (NOW - 2 * HOUR, 1, False)


def test_it_is_named_to_its_owner(connection: Connection) -> None:
    (one,) = hurt(connection, viewer=("ann",))
    assert one.job["user"] == "ann"


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("viewer", [("bob",), ("bob", "p"), NOBODY, Viewer("x", Role.USER)])
def test_it_is_named_to_nobody_else(connection: Connection, viewer: Any) -> None:
    assert hurt(connection, viewer=viewer) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("given", [{"share": 0.5}, {"now_seconds": 0.014}])
def test_half_of_it_or_a_server_that_is_not_slow_hurts_nobody(
    connection: Connection, given: dict[str, float]
) -> None:
    assert hurt(connection, **given) == []


def test_larger_requests_take_longer_and_hurt_nobody(connection: Connection) -> None:
    assert hurt(connection, before_bytes=1 << 27) == [], "eight times the bytes in each of them"


@pytest.mark.extended(keep=1)
def test_a_byte_that_takes_longer_does(connection: Connection) -> None:
    (one,) = hurt(connection, before_bytes=1 << 30)
    assert one.job["user"] == "ann"


# ---- the monitoring itself -----------------------------------------------------------------


def test_agents_that_are_silent_come_first(connection: Connection) -> None:
    for agent, part, at in (("oss1", "agent", NOW - 20), ("oss1", "series", NOW - 5000),
                            ("oss2", "agent", NOW - 4000)):  # fmt: skip
        write_parts(connection, agent, at, {part: b"x"})
    found = view_monitors(connection, NOW)
    assert [(one.agent, one.newest_at, one.is_silent) for one in found] == [
        ("oss2", NOW - 4000, True), ("oss1", NOW - 20, False)
    ]  # fmt: skip


def test_file_systems_that_nobody_counts(connection: Connection) -> None:
    Writer(connection).store([
        series("read_bytes", 1.0, file_system="fresh"),
        series("read_bytes", 1.0, file_system="old", until=NOW - DAY),
    ])  # fmt: skip
    assert uncounted(connection, NOW) == [("old", NOW - DAY), ("scratch", None)]


@pytest.mark.extended(keep=1)
def test_loads_of_jobs_that_come_before_their_record_count_once(connection: Connection) -> None:
    store_loads(connection, [load("1", FIRST, moved_bytes=10)])
    jobs(connection, {"ann": 0})
    settle(connection, [1])
    assert isinstance(load("1", FIRST), Load)
    assert top_of(connection, STAFF).seen.write_bytes == 10.0


def test_what_servers_do_not_tell_of_a_job_is_not_zero(connection: Connection) -> None:
    jobs(connection, {"ann": 1000, "bob": 5000})
    store_loads(connection, [load("1", FIRST + HOUR, moved_bytes=None)])
    found = top_of(connection, STAFF)
    users = {one.name: one for one in found.users}
    assert users["ann"].moved.words(str) == "at least 1000.0"
    assert users["bob"].moved.is_exact
    assert not found.seen.moved.is_exact
