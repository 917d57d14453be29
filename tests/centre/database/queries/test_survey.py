# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in figures: right to the digit, of no job that the viewer may not see."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Connection, update

from stripewise.centre.database._records import SourceRecord
from stripewise.centre.database.queries import (
    NOBODY,
    Period,
    ProgramSurvey,
    Viewer,
    find_program,
    job_times,
    median_job,
    program_findings,
    program_patterns,
    program_settings,
    public_survey,
    survey,
)
from stripewise.centre.database.queries import _programs as program_queries
from stripewise.centre.database.tables import Program
from support.survey_world import DAY, NOW, ran, staff, store, user

PERIOD = Period.parse({}, NOW)


def _seen(connection: Connection, viewer: Viewer) -> dict[str, ProgramSurvey]:
    return {one.program: one for one in survey(connection, viewer, PERIOD)}


def test_medians_sums_and_concurrency(connection: Connection) -> None:
    store(connection, [
        ran(1, days=10, seconds=100, nodes=2, io_seconds=10.0, io_share=0.1, n_files=5,
            read_bytes=100, write_bytes=20, findings=[("a", 4.0)]),
        ran(2, days=10, seconds=300, nodes=1, io_seconds=30.0, io_share=0.1, n_files=6,
            read_bytes=300, write_bytes=0, cumulated_read_seconds=0.0,
            cumulated_write_seconds=0.0, cumulated_meta_seconds=0.0),
        ran(3, days=5, seconds=50, nodes=None, io_seconds=None, io_share=None, n_files=100,
            read_bytes=1, write_bytes=1, findings=[("a", 2.0)]),
        ran(4, days=100, io_seconds=999.0),
        ran(5, program="other"),
        ran(6, days=3, is_profiled=False),
    ])  # fmt: skip
    found = _seen(connection, user(connection, "ann"))
    assert sorted(found) == ["ocean", "other"]
    one = found["ocean"]
    assert (one.job_count, one.profiled_count, one.user_count) == (3, 3, 1)
    assert one.median("io_seconds") == 20.0
    assert one.figures["io_seconds"].count == 2
    assert (one.median("file_count"), one.median("io_bytes")) == (6.0, 120.0)
    assert one.median("run_seconds") == 100.0
    assert one.median("meta_share") == 1 / 8
    assert one.figures["meta_share"].count == 2
    assert (one.typical_at_once, one.most_at_once) == (1, 2)
    assert one.node_seconds == 500.0
    assert one.avoidable_node_seconds == 8.0
    assert one.area is None


def test_whose_jobs_make_the_figures(connection: Connection) -> None:
    store(connection, [
        ran(1, user="ann", project="p1"), ran(2, user="bob", project="p1"),
        ran(3, user="bob", project="p2", program="secret"),
    ])  # fmt: skip
    connection.execute(update(Program).where(Program.name == "ocean").values(area="Sea"))
    for viewer, counts in (
        (user(connection, "ann"), {"ocean": 1}),
        (user(connection, "ann", "p1"), {"ocean": 2}),
        (user(connection, "bob"), {"ocean": 1, "secret": 1}),
        (user(connection, "nobody"), {}),
        (staff(), {"ocean": 2, "secret": 1}),
        (NOBODY, {}),
    ):
        found = _seen(connection, viewer)
        assert {name: one.job_count for name, one in found.items()} == counts
        for name in ("ocean", "secret", "none"):
            assert (find_program(connection, viewer, name) is not None) == (name in counts)
    assert _seen(connection, staff())["ocean"].area == "Sea"


def test_an_empty_database(connection: Connection) -> None:
    assert survey(connection, staff(), PERIOD) == []
    assert list(public_survey(connection, NOW)) == []


def _of_users(number: int, **given: object) -> list[list[object]]:
    return [ran(n + 1, user=f"user{n}", days=60, **given) for n in range(number)]  # type: ignore


@pytest.mark.extended(keep=1)
def test_all_users_together_need_five(connection: Connection) -> None:
    store(connection, _of_users(4))  # type: ignore[arg-type]
    store(connection, [ran(50, user="user0", days=61)])
    assert not public_survey(connection, NOW)
    store(connection, [ran(9, user="last", days=60, is_profiled=False)])
    assert not public_survey(connection, NOW), "only four of them have profiles"
    store(connection, [ran(10, user="last", days=10)])
    assert not public_survey(connection, NOW), "this month is not over"
    store(connection, [ran(11, user="last", days=62)])
    assert [one.program for one in public_survey(connection, NOW)] == ["ocean"]
    store(connection, [ran(20 + n, user=f"user{n}", program="late", days=60) for n in range(5)])
    assert len(public_survey(connection, NOW)) == 1, "they are kept for an hour"
    assert len(public_survey(connection, NOW + 3600)) == 2


@pytest.mark.extended(keep=1)
def test_all_users_together_are_rounded(connection: Connection) -> None:
    store(connection, _of_users(7, io_seconds=123.456, nodes=3))  # type: ignore[arg-type]
    [one] = public_survey(connection, NOW)
    assert one.is_everybody
    assert (one.job_count, one.profiled_count, one.user_count) == (5, 5, 5)
    spread = one.figures["io_seconds"]
    assert (spread.low, spread.median, spread.high, spread.count) == (120.0, 120.0, 120.0, 5)
    assert one.node_seconds is one.avoidable_node_seconds is one.most_at_once is None


@pytest.mark.extended(keep=1)
def test_a_figure_that_few_users_have_is_not_for_all(connection: Connection) -> None:
    store(connection, [
        ran(n, user=f"user{n}", days=60, io_seconds=5.0 if n < 4 else None, n_files=3)
        for n in range(6)
    ])  # fmt: skip
    [one] = public_survey(connection, NOW)
    assert one.median("io_seconds") is None
    assert one.median("file_count") == 3.0


@pytest.mark.extended(keep=1)
def test_a_figure_that_is_mostly_of_one_user_is_not_for_all(connection: Connection) -> None:
    store(connection, [
        ran(10 * n + m, user=f"user{n}", days=60, n_files=3,
            io_seconds=5.0 if n == 0 or m == 0 else None)
        for n in range(6) for m in range(6)
    ])  # fmt: skip
    [one] = public_survey(connection, NOW)
    assert one.median("io_seconds") is None, "user0 has six of eleven"
    assert one.median("file_count") == 3.0


def test_the_median_job(connection: Connection) -> None:
    store(connection, [
        *(ran(n, io_seconds=float(n)) for n in (1, 2, 3, 4)),
        ran(5, io_seconds=None), ran(6, user="bob", io_seconds=2.5),
    ])  # fmt: skip
    ann = user(connection, "ann")
    key = find_program(connection, ann, "ocean")
    assert key is not None
    job = median_job(connection, ann, key, PERIOD)
    assert job is not None
    assert job["raw_id"] == 2
    job = median_job(connection, staff(), key, PERIOD)
    assert job is not None
    assert job["raw_id"] == 6
    assert median_job(connection, NOBODY, key, PERIOD) is None


@pytest.mark.extended(keep=1)
def test_what_costs_time(connection: Connection) -> None:
    forms = [("<1D, (BLOCK)>", True, 3.0), ("<1D, (BLOCK)>", False, None)]
    store(connection, [
        ran(1, findings=[("small", 5.0), ("many", None)], patterns=forms, nodes=2,
            settings=[("cb_nodes", "4")]),
        ran(2, findings=[("small", 7.0)], patterns=forms[:1], nodes=4,
            settings=[("cb_nodes", "4")]),
        ran(7, findings=[("small", None)], nodes=2),
        ran(3, user="bob", findings=[("small", 100.0)], patterns=forms,
            settings=[("cb_nodes", "9")]),
    ])  # fmt: skip
    ann = user(connection, "ann")
    key = find_program(connection, ann, "ocean")
    assert key is not None
    about = (connection, ann, key, PERIOD)
    unknown = dict.fromkeys(("cost_seconds", "cost_node_seconds"), "it is not known for 1 job")
    assert program_findings(*about) == [
        {"code": "small", "job_count": 3, "cost_seconds": 12.0, "cost_node_seconds": 38.0,
         "missing": unknown},
        {"code": "many", "job_count": 1, "cost_seconds": None, "cost_node_seconds": None,
         "missing": unknown},
    ]  # fmt: skip
    rows = program_patterns(*about)
    assert [tuple(row.values()) for row in rows] == [
        ("<1D, (BLOCK)>", True, 2, 2000, 6.0, {}), ("<1D, (BLOCK)>", False, 1, 1000, None, {}),
    ]  # fmt: skip
    assert type(rows[0]["moved_bytes"]) is int  # PostgreSQL gives a decimal, JSON would a text
    [setting] = program_settings(*about)
    assert (setting["applied"], setting["job_count"]) == ("4", 2)


@pytest.mark.extended(keep=1)
def test_two_profiles_of_one_run_moved_its_bytes_once(connection: Connection) -> None:
    forms = [("<1D, (BLOCK)>", True, 3.0)]
    [record, log] = ran(1, patterns=forms)
    assert isinstance(log, SourceRecord)
    later = replace(log, digest="second", start_at=log.end_at, end_at=(log.end_at or 0.0) + 9.0)
    trace = replace(log, digest="trace", kind="trace")
    store(connection, [[record, log, later, trace]])
    ann = user(connection, "ann")
    key = find_program(connection, ann, "ocean")
    assert key is not None
    [row] = program_patterns(connection, ann, key, PERIOD)
    assert (row["job_count"], row["moved_bytes"], row["lost_seconds"]) == (1, 2000, 3.0)


@pytest.mark.extended(keep=1)
def test_a_chart_of_many_jobs_shows_some(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_queries, "MOST_POINTS", 5)
    store(connection, [ran(n, days=30 - n, io_seconds=float(n)) for n in range(1, 13)])
    ann = user(connection, "ann")
    key = find_program(connection, ann, "ocean")
    assert key is not None
    rows, step = job_times(connection, ann, key, Period(0, int(NOW), {}))
    assert step == 3
    assert [row["io_seconds"] for row in rows] == [3.0, 6.0, 9.0, 12.0]
    assert rows[0]["start_at"] == int(NOW - 27 * DAY)
