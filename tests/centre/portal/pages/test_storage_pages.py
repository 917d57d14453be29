# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import NOBODY
from stripewise.centre.database.store._writer import Writer
from stripewise.core.errors import UsageError
from stripewise.present.blocks import Chart, Notice
from support.fleet_records import figures, job, source
from support.storage_pages import Portal, page_at, stored
from support.storage_samples import DAY, NOW, STAFF, campaign, series, targets, used_by

ALL, ONE, TOP = "/storage", "/storage/{name}", "/storage/{name}/top"
BENCHMARKS, EVENTS = "/storage/{name}/benchmarks", "/storage/events"
EVIL = '<script>alert(1)</script>"onload="x'


def made(engine: Engine) -> None:
    stored(
        engine,
        *targets("read_bytes", [2e6, 2e6, 2e6, 2e6, 8e6]),
        *targets("write_bytes", [1e6, 1e6, 1e6, 1e6, 1e6]),
        *targets("is_failed", [0.0] * 5),
        series("metadata_operations", 500.0, target="MDT0000", server="mds0"),
        series("used_bytes", 3e12),
        series("total_bytes", 4e12),
        EventRecord("scratch", NOW - 900, NOW - 600, "failover", "oss1 was away."),
        campaign(NOW - 3 * DAY, {"file per process nodes=4": 5e9}),
    )


def test_an_empty_database_says_so(engine: Engine) -> None:
    portal = Portal(engine)
    assert "No file system is known yet" in portal.html(ALL)
    assert portal.data(ALL)["load"]["rows"] == []
    for path in (ONE, BENCHMARKS):
        assert portal.content(path, name="scratch") is None
    assert Portal(engine, STAFF).content(TOP, name="scratch") is None
    assert "No event is known." in portal.html(EVENTS)


def test_all_file_systems_to_the_digit(engine: Engine) -> None:
    made(engine)
    portal = Portal(engine)
    data = portal.data(ALL)
    row = data["load"]["rows"][0]
    assert row["read_bytes_per_second"] == 16e6
    assert row["write_bytes_per_second"] == 5e6
    assert row["metadata_operations_per_second"] == 500.0
    assert row["greatest_read_bytes_per_second"] == 16e6
    assert row["load_share"] == 1.0
    assert row["newest_at"] == NOW
    assert row["benchmark"] == "3 days ago"
    assert row["health"] == "All 6 targets serve."
    space = data["space"]["rows"][0]
    assert (space["used_bytes"], space["total_bytes"], space["used_share"]) == (3e12, 4e12, 0.75)
    assert space["weekly_bytes"] is None
    assert "less than eight days" in space["full"]
    assert data["lead"] == "1 file system: no known problems."
    assert "All 6 targets serve." in portal.html(ALL)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("now", "words", "tone"),
    [
        (NOW + 7200, "The newest sample is 2 h old: its health is not known.", "warn"),
        (NOW - 7200, "2 h ahead of this clock", "warn"),
    ],
)
def test_health_that_is_not_known(engine: Engine, now: float, words: str, tone: str) -> None:
    made(engine)
    portal = Portal(engine)
    row = portal.data(ALL, now=now)["load"]["rows"][0]
    assert words in row["health"]
    assert row["read_bytes_per_second"] is None
    content = portal.content(ALL, now=now)
    assert content is not None
    (notice,) = [block for block in content.blocks if isinstance(block, Notice)]
    assert notice.tone == tone


def test_failed_targets_and_open_events_are_named(engine: Engine) -> None:
    made(engine)
    stored(
        engine,
        *targets("is_failed", [0.0, 0.0, 1.0], until=NOW + 600),
        series("read_bytes", 1.0, target="OST0000", server="oss0", until=NOW + 600),
        EventRecord("scratch", NOW, None, "outage", "OST0002 is down."),
    )
    content = Portal(engine).content(ALL, now=NOW + 610)
    assert content is not None
    (notice,) = [block for block in content.blocks if isinstance(block, Notice)]
    assert notice.tone == "bad"
    assert notice.text[0].startswith("1 of 6 targets has failed: OST0002.")
    assert "1 event open: outage." in notice.text[0]
    assert notice.text[1:] == ["outage: OST0002 is down."]
    assert content.lead == "1 file system: look at scratch."


def test_one_file_system_over_an_hour(engine: Engine) -> None:
    made(engine)
    portal = Portal(engine)
    words = {"period": "hour"}
    data = portal.data(ONE, words, name="scratch")
    assert set(data["rates"]["read_bytes"]) - {None} == {16e6}
    assert set(data["metadata"]["metadata_operations"]) - {None} == {500.0}
    rows = data["targets"]["rows"]
    assert [row["target"] for row in rows][:1] == ["OST0004"]
    assert rows[0]["verdict"] == "far more than the others"
    assert rows[0]["share"] == pytest.approx(9 / 21)
    assert [row["verdict"] for row in rows[1:5]] == ["like the others"] * 4
    (metadata,) = data["metadata_targets"]["rows"]
    assert metadata["metadata_operations_per_second"] == 500.0
    assert "1 target differs from the others: OST0004 (3.0x)." in data["lead"]
    html = portal.html(ONE, words, name="scratch")
    assert "oss1 was away." in html
    content = portal.content(ONE, words, name="scratch")
    assert content is not None
    chart = next(block for block in content.blocks if isinstance(block, Chart))
    assert [(span.begin, span.end) for span in chart.spans] == [(NOW - 900, NOW - 600)]


def test_standing_advice_is_no_event_of_a_day(engine: Engine) -> None:
    made(engine)
    stored(engine, EventRecord("scratch", NOW - 90 * DAY, None, "advice", "Use stripes."))
    data = Portal(engine).data(ONE, {"period": "hour"}, name="scratch")
    assert [row["kind"] for row in data["events"]["rows"]] == ["failover"]


def test_charts_have_gaps_where_nothing_is_known(engine: Engine) -> None:
    stored(engine, series("read_bytes", 6e6, without=range(10, 20)))
    data = Portal(engine).data(ONE, {"period": "hour"}, name="scratch", now=NOW)
    values = data["rates"]["read_bytes"]
    assert None in values[1:-1]
    assert 0 not in values
    assert data["metadata"]["at"] == []


@pytest.mark.extended
@pytest.mark.parametrize("period", ["hour", "day", "week", "month", "year"])
def test_every_period_is_a_page(engine: Engine, period: str) -> None:
    made(engine)
    portal = Portal(engine)
    html = portal.html(ONE, {"period": period, "until": "2026-01-01"}, name="scratch")
    assert f"The {period} before" in html
    assert f"The {period} after" in html
    assert "16" in portal.html(ONE, {"period": period}, name="scratch")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words", [{"period": "x"}, {"until": "soon"}, {"after": "-1"}, {"after": "9" * 50}]
)
def test_words_that_cannot_be_used(engine: Engine, words: dict[str, str]) -> None:
    made(engine)
    with pytest.raises(UsageError):
        Portal(engine).content(ONE, words, name="scratch")


@pytest.mark.extended
def test_many_targets_come_in_pages(engine: Engine) -> None:
    stored(engine, *targets("read_bytes", [1e6] * 130, number=2),
           series("metadata_operations", 5.0, target="MDT0"))  # fmt: skip
    portal = Portal(engine)
    first = portal.data(ONE, {"period": "hour"}, name="scratch")["targets"]
    assert (len(first["rows"]), "after=100" in first["next"]) == (100, True)
    assert first["next"].endswith("&as=json")
    words = {"period": "hour", "after": "100"}
    page = portal.data(ONE, words, name="scratch")
    assert "metadata_targets" not in page  # not "No target is known."
    rest = page["targets"]
    assert (len(rest["rows"]), rest["next"]) == (30, None)
    names = {row["target"] for row in [*first["rows"], *rest["rows"]]}
    assert len(names) == 130


def test_names_and_texts_are_no_html(engine: Engine) -> None:
    stored(
        engine,
        series("read_bytes", 1e6, file_system=EVIL, server=EVIL, target=EVIL),
        series("used_bytes", 1e6, file_system=EVIL),
        EventRecord(EVIL, NOW - 60, None, EVIL[:64], EVIL),
        campaign(NOW, {EVIL: 1e9}, storage=EVIL),
    )
    with engine.execution_options(writing=True).begin() as connection:
        used_by(connection, {EVIL: (1, 1)}, account=EVIL)
    portal = Portal(engine, STAFF)
    for path in (ALL, EVENTS):
        assert "&lt;script&gt;" in portal.html(path)
    for path in (ONE, BENCHMARKS, TOP):
        assert "&lt;script&gt;" in portal.html(path, name=EVIL)


# ---- who causes the load -------------------------------------------------------------------


def test_who_causes_the_load_is_for_users_who_are_logged_in() -> None:
    assert not page_at(TOP).audience.admits(NOBODY)
    assert page_at(ONE).audience.admits(NOBODY)


def test_a_user_is_told_of_no_other_user(engine: Engine) -> None:
    made(engine)
    users = {f"user-{number}": (1000 * number, 0) for number in range(1, 9)}
    with engine.execution_options(writing=True).begin() as connection:
        used_by(connection, users, account="shared")
    html = Portal(engine, "user-1").html(TOP, name="scratch")
    assert "user-1" in html
    assert not [name for name in users if name != "user-1" and name in html]
    data = Portal(engine, "user-1").data(TOP, name="scratch")
    assert data["sums"]["seen_bytes"] == 1000.0
    assert data["sums"]["other_jobs"] == 5  # of 7
    assert data["sums"]["other_bytes"] == 35_000.0
    content = Portal(engine, "user-1").content(TOP, name="scratch")
    assert content is not None
    assert content.audited == ""


def test_a_look_of_staff_is_audited(engine: Engine) -> None:
    made(engine)
    with engine.execution_options(writing=True).begin() as connection:
        used_by(connection, {"ann": (3000, 0), "bob": (1000, 0)})
    content = Portal(engine, STAFF).content(TOP, name="scratch")
    assert content is not None
    assert content.audited == "who causes the load of scratch"
    assert (
        content.lead
        == "Over the last day, 2 jobs that you see moved 3.91 KiB. ann moved most: 75 % of it."
    )
    data = Portal(engine, STAFF).data(TOP, name="scratch")
    assert [(row["name"], row["moved_share"]) for row in data["users"]["rows"]] == [
        ("ann", 0.75), ("bob", 0.25)
    ]  # fmt: skip


def test_nobody_moved_most_where_not_all_is_known(engine: Engine) -> None:
    made(engine)
    with engine.execution_options(writing=True).begin() as connection:
        used_by(connection, {"ann": (3000, 0), "bob": (1000, 0)})
        told = figures(read_bytes=None, write_bytes=0, missing={"read_bytes": "damaged"})
        io = {"file_system": "/scratch", "cumulated_seconds": 1.0, "meta_operations": 30,
              "file_count": 1, "read_bytes": None, "write_bytes": 0}  # fmt: skip
        profile = source("p", 9, told=told, user="cyd", start_at=NOW - 3600.0,
                         end_at=NOW - 3000.0, io=(io,))  # fmt: skip
        record = job(9, NOW - 3610, user="cyd", uid=9, start_at=NOW - 3600, end_at=NOW - 3000)
        Writer(connection).store([record, profile])
    data = Portal(engine, STAFF).data(TOP, name="scratch")
    assert data["lead"] == (
        "Over the last day, 3 jobs that you see moved at least 3.91 KiB. As far as is known, ann "
        "moved most: 75 % of what is known (not everything is known about 1 job)."
    )
    row = data["users"]["rows"][-1]
    assert (row["name"], row["read_bytes"], row["moved_share"]) == ("cyd", None, None)
    assert set(row["missing"]) == {"read_bytes", "moved_share"}
    assert data["sums"]["missing"] == {"seen_bytes": "not everything is known about 1 job"}
    assert "unknown" in Portal(engine, STAFF).html(TOP, name="scratch")


# ---- benchmarks ----------------------------------------------------------------------------


def test_benchmarks_tell_what_became_slower(engine: Engine) -> None:
    rates = [5e9, 5.1e9, 4.9e9, 5e9, 5.05e9, 4e9]
    stored(
        engine,
        *(campaign(NOW - (9 - place) * DAY, {"file per process nodes=4": rate})
          for place, rate in enumerate(rates)),
        campaign(NOW - 20 * DAY, {"file per process nodes=4": 1e9}, is_emulated=True),
    )  # fmt: skip
    portal = Portal(engine)
    data = portal.data(BENCHMARKS, name="scratch")
    assert data["lead"] == (
        "The latest campaign is 4 days old; 2 cases were measured so far. 1 case is slower than "
        "before, beyond the spread."
    )
    slow, emulated = data["bandwidth"]["rows"]
    assert slow["verdict"] == "20 % lower, beyond the spread"
    assert (slow["median"], slow["before"], slow["campaigns"]) == (4e9, 5e9, 6)
    assert (emulated["is_emulated"], emulated["verdict"]) == (True, "the first campaign")
    assert data["history"]["median"] == rates
    words = {"case": "file per process nodes=4", "operation": "write", "nodes": "1", "ranks": "4",
             "emulated": "yes"}  # fmt: skip
    assert portal.data(BENCHMARKS, words, name="scratch")["history"]["median"] == [1e9]
    assert "(emulated)" in portal.html(BENCHMARKS, words, name="scratch")


def test_a_storage_that_was_never_benchmarked(engine: Engine) -> None:
    stored(engine, series("read_bytes", 1.0))
    assert "No campaign of benchmarks" in Portal(engine).html(BENCHMARKS, name="scratch")
