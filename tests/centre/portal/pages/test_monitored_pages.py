# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages that live from the monitoring: slow targets, patterns over days, loads, agents."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.queries import NOBODY
from stripewise.centre.database.store import write_parts
from stripewise.core.errors import UsageError
from support.fleet_records import job
from support.served_jobs import load, service, store_loads
from support.storage_pages import Portal, page_at, stored
from support.storage_samples import DAY, NOW, STAFF, series, viewer_named

ALL, ONE, TOP = "/storage", "/storage/{name}", "/storage/{name}/top"
PATTERNS, STAFF_PAGE = "/storage/{name}/patterns", "/staff"
EVIL = "<script>alert(1)</script>"


def slow(engine: Engine) -> None:
    for place, each in enumerate([0.006] * 4 + [0.041]):
        stored(engine, *service(f"OST{place:04d}", each, first=NOW - 1800, number=30),
               series("read_bytes", 1e6, target=f"OST{place:04d}", server="oss1"),
               series("is_failed", 0.0, target=f"OST{place:04d}", server="oss1"))  # fmt: skip


def test_health_names_a_slow_target_with_its_times(engine: Engine) -> None:
    slow(engine)
    (row,) = Portal(engine).data(ALL)["load"]["rows"]
    assert row["health"] == ("1 of 5 targets is slow: OST0004 (41 ms an operation, others 6 ms).")
    rows = Portal(engine).data(ONE, {"period": "hour"}, name="scratch")["targets"]["rows"]
    times = {one["target"]: one["operation_seconds"] for one in rows}
    assert times["OST0004"] == pytest.approx(0.041)


def test_where_no_times_are_told_they_are_unknown(engine: Engine) -> None:
    stored(engine, series("read_bytes", 1e6, target="OST0", server="oss1"))
    (row,) = Portal(engine).data(ONE, name="scratch")["targets"]["rows"]
    assert row["operation_seconds"] is None


# ---- patterns over days --------------------------------------------------------------------


def rhythm(engine: Engine) -> None:
    def daily(at: int) -> float:
        return 5e9 + 4e9 * math.sin(2 * math.pi * at / DAY)

    stored(
        engine,
        series("read_bytes", daily, number=10 * 24, step=3600, until=NOW),
        series("write_bytes", lambda at: 9e9 if at % 1800 < 120 else 1e8, number=2 * 1440),
    )


def test_patterns_are_told_of_all_days_and_of_each(engine: Engine) -> None:
    rhythm(engine)
    data = Portal(engine).data(PATTERNS, name="scratch")
    read, write, metadata = data["patterns"]["rows"]
    assert read["period_seconds"] == pytest.approx(DAY, rel=0.02)
    assert read["means"].startswith("it follows the hours of the day")
    assert "reading is periodic, every 24 h" in data["lead"]
    assert write["tempo"] == metadata["tempo"] == "not known: too many gaps"
    assert metadata["known_share"] == 0
    yesterday = data["days"]["rows"][1]
    assert yesterday["write_bytes"].startswith("periodic, every 30 min (strength")
    assert yesterday["write_bytes_period_seconds"] == pytest.approx(1800, rel=0.02)
    assert len(data["days"]["rows"]) == 7
    assert None in data["rates"]["write_bytes"]


def test_what_hours_hide_is_told_by_minutes(engine: Engine) -> None:
    stored(
        engine,
        series("read_bytes", lambda at: 9e9 if at % 3600 < 300 else 1e6, number=8 * 1440),
    )
    lead = Portal(engine).data(PATTERNS, name="scratch")["lead"]
    assert "reading is steady" in lead
    assert lead.endswith("In the minutes of most days, reading is periodic, every 60 min.")


def test_patterns_of_other_days(engine: Engine) -> None:
    rhythm(engine)
    data = Portal(engine).data(PATTERNS, {"days": "28"}, name="scratch")
    assert len(data["days"]["rows"]) == 28
    assert "Nothing can be said about the last 28 days" in data["lead"]
    with pytest.raises(UsageError, match="give one of 7, 28"):
        Portal(engine).data(PATTERNS, {"days": "9"}, name="scratch")


def test_patterns_are_for_everybody_and_of_known_file_systems(engine: Engine) -> None:
    stored(engine, series("read_bytes", 1.0, file_system=EVIL))
    assert page_at(PATTERNS).audience.admits(NOBODY)
    assert Portal(engine).content(PATTERNS, name="none") is None
    assert "&lt;script&gt;" in Portal(engine).html(PATTERNS, name=EVIL)


# ---- who loads it, and whom that hurts -----------------------------------------------------


def loaded(engine: Engine) -> None:
    start = NOW - 7200
    records: list[Any] = [
        job(number, NOW - DAY - 10, cluster="alpha", user=user, uid=number, start_at=NOW - DAY,
            end_at=NOW)
        for number, user in ((1, "ann"), (2, "bob"))
    ]  # fmt: skip
    records += service("OST0000", 0.005, first=start - 5 * DAY, number=48, step=3600)
    records += service("OST0000", 0.05, first=start, number=60)
    records.append(series("write_bytes", 1e6, target="OST0000", server="oss1", until=NOW - 3600))
    stored(engine, *records)
    with engine.execution_options(writing=True).begin() as connection:
        store_loads(connection, [load("1", NOW - DAY, moved_bytes=1),
                                 load("1", start + 60, moved_bytes=3_000_000_000)])  # fmt: skip


def test_staff_see_who_hurts_others(engine: Engine) -> None:
    loaded(engine)
    data = Portal(engine, STAFF).data(TOP, name="scratch")
    (row,) = data["hurting"]["rows"]
    assert (row["user"], row["server"], row["what"]) == ("ann", "oss1", "bytes")
    assert data["sums"]["source"] == "the servers' counters"
    assert data["sums"]["rest_bytes"] is None  # too few samples to say
    html = Portal(engine, STAFF).html(TOP, name="scratch")
    assert "Jobs that may slow others down" in html


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("name", "is_named"), [("ann", True), ("bob", False)])
def test_the_owner_alone_is_told_besides(engine: Engine, name: str, is_named: bool) -> None:
    loaded(engine)
    data = Portal(engine, name).data(TOP, name="scratch")
    assert ("hurting" in data) is is_named
    assert ("ann" in str(data)) is is_named
    assert "rest_bytes" not in data["sums"]


def test_a_manager_is_not_told_of_a_job_that_hurts(engine: Engine) -> None:
    loaded(engine)
    with engine.connect() as connection:
        manager = viewer_named(connection, "bob", "p")
    data = Portal(engine, manager).data(TOP, name="scratch")
    assert "hurting" not in data
    assert [row["user"] for row in data["jobs"]["rows"]] == ["ann"]  # of their project


def test_what_jobs_moved_is_told_apart_from_what_is_of_no_job(engine: Engine) -> None:
    start = NOW - 7200
    loaded(engine)
    with engine.execution_options(writing=True).begin() as connection:
        store_loads(connection, [load("cp.1", start, moved_bytes=500_000_000),
                                 load("", start, moved_bytes=7_000_000_000)])  # fmt: skip
    sums = Portal(engine, STAFF).data(TOP, name="scratch")
    assert sums["lead"].startswith(
        "Over the last day, 1 job that you see moved 9.78 GiB, with 6.98 GiB outside of "
        "known jobs."
    )


def test_a_share_says_of_what_it_is_one(engine: Engine) -> None:
    """Most of what is seen is outside of known jobs, and of the whole it is a small part."""
    loaded(engine)
    start = NOW - 7200
    with engine.execution_options(writing=True).begin() as connection:
        store_loads(connection, [load("2", start, moved_bytes=1_000_000_000),
                                 load("", start, moved_bytes=990_000)])  # fmt: skip
    lead = Portal(engine, STAFF).data(TOP, name="scratch")["lead"]
    assert lead.endswith("outside of known jobs. ann moved most: 75 % of it.")
    with engine.execution_options(writing=True).begin() as connection:
        store_loads(connection, [load("", start + 60, moved_bytes=396_000_000_000)])
    lead = Portal(engine, STAFF).data(TOP, name="scratch")["lead"]
    assert lead.endswith(
        "ann moved most: 75 % of what known users moved, which is 1 % of that; 99 % is of none "
        "of them."
    )


# ---- the monitoring itself -----------------------------------------------------------------


def test_staff_see_silent_agents_and_uncounted_file_systems(engine: Engine) -> None:
    stored(engine, series("read_bytes", 1.0, file_system="old", until=NOW - DAY))
    with engine.execution_options(writing=True).begin() as connection:
        write_parts(connection, EVIL, NOW + 30 - 7200, {"agent": b"x"})
        write_parts(connection, "oss2", NOW, {"agent": b"x"})
    data = Portal(engine, STAFF).data(STAFF_PAGE)
    assert data["monitoring"][0] == f"1 of 2 agents is silent: {EVIL}."
    assert data["monitoring"][1].startswith("The newest counters of old are of ")
    states = [(row["agent"], row["state"]) for row in data["agents"]["rows"]]
    assert states == [(EVIL, "silent for 2 h"), ("oss2", "delivers")]
    assert "&lt;script&gt;" in Portal(engine, STAFF).html(STAFF_PAGE)


def test_without_any_agent_that_is_said(engine: Engine) -> None:
    data = Portal(engine, STAFF).data(STAFF_PAGE)
    assert data["monitoring"] == [
        "No agent of `stripewise centre monitor` has delivered anything yet."
    ]
    assert data["agents"]["rows"] == []
