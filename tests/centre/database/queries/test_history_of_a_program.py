# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.queries import (
    MOST_RUNS,
    MOST_SOURCES,
    facts_of_runs,
    find_job,
    list_runs,
    list_sources,
    pairs_of_job,
    view_job,
)
from support.portal_jobs import START, document, job, pair, profile, samples, store, viewer

HOUR = 3600


def runs_of(engine: Engine, name: str, number: int) -> list[int]:
    with engine.connect() as connection:
        who = viewer(connection, name)
        keys = {one.raw_id: one.id for one in _rows(connection)}
        row = find_job(connection, who, keys[number])
        assert row is not None
        return [one["raw_id"] for one in list_runs(connection, who, row)]


def _rows(connection):  # type: ignore[no-untyped-def]
    from sqlalchemy import select

    from stripewise.centre.database.tables import Job

    return connection.execute(select(Job.raw_id, Job.id)).all()


def test_the_runs_around_a_job_are_of_its_user_and_program(engine: Engine) -> None:
    other = document(50)
    other["command"] = "/bin/other"
    records = [
        *(job(number, start=START + number * HOUR) for number in range(10, 16)),
        *(profile(number, start=START + number * HOUR) for number in range(10, 16)),
        job(40, user="bea"), profile(40, user="bea"), job(50), profile(50, made=other),
        job(60),
    ]  # fmt: skip
    store(engine, records)
    assert runs_of(engine, "ada", 12) == [10, 11, 12, 13, 14, 15]
    assert runs_of(engine, "support", 40) == [40]
    assert runs_of(engine, "ada", 50) == [50]
    assert runs_of(engine, "ada", 60) == []  # without a profile its program is not known


@pytest.mark.extended(keep=1)
def test_at_most_so_many_runs_before_and_after(engine: Engine) -> None:
    numbers = range(1, 2 * MOST_RUNS + 6)
    records = [profile(number, start=START + number * 60) for number in numbers]
    store(engine, [*(job(number, start=START + number * 60) for number in numbers), *records])
    assert runs_of(engine, "ada", 33) == list(range(3, 64))


def test_runs_that_began_at_the_same_time_are_all_there_once(engine: Engine) -> None:
    store(engine, [*map(job, range(1, 6)), *map(profile, range(1, 6))])
    assert sorted(runs_of(engine, "ada", 3)) == [1, 2, 3, 4, 5]


def test_facts_tell_stripes_settings_and_load(engine: Engine) -> None:
    made = document(1)
    made["files"][0]["hints"] = {
        "requested": {"cb_nodes": "4"}, "applied": {}, "reported": {"cb_nodes": "2"}
    }  # fmt: skip
    keys = store(engine, [
        job(1), profile(1, made=made), job(2, start=START + 9 * HOUR),
        profile(2, start=START + 9 * HOUR),
        samples("read_bytes", START, [1e6] * 60), samples("write_bytes", START, [2e6] * 60),
    ])  # fmt: skip
    with engine.connect() as connection:
        who = viewer(connection, "ada")
        row = find_job(connection, who, keys[1])
        assert row is not None
        found = facts_of_runs(connection, who, list_runs(connection, who, row))
    assert found[keys[1]].stripes == "4 x 1 MiB"
    assert found[keys[1]].settings == {"cb_nodes": "2"}
    assert found[keys[1]].load_bytes_per_second == 3e6
    assert found[keys[1]].pattern == "<3D, (BLOCK, *, *)>"
    assert found[keys[2]].settings == {}
    assert found[keys[2]].load_bytes_per_second is None


def test_proved_gains_are_seen_as_jobs_are_and_their_settings_as_names_of_files(
    engine: Engine,
) -> None:
    keys = store(engine, [
        job(1), profile(1), job(2, user="bea"), profile(2, user="bea"),
        pair(), pair("bea"), pair(made_at=START + 9),
    ])  # fmt: skip

    def seen(name: str, number: int) -> list[tuple[int, bool]]:
        with engine.connect() as connection:
            who = viewer(connection, name)
            row = find_job(connection, who, keys[number])
            assert row is not None
            found = pairs_of_job(connection, who, row)
            return [(one["made_at"], one["configuration"] is not None) for one in found]

    assert seen("ada", 1) == [(START + 9, True), (START, True)]
    assert seen("bea", 2) == [(START, True)]
    assert seen("support", 1) == seen("ada", 1)
    assert seen("manager", 1) == [(START + 9, False), (START, False)]


def test_two_sources_of_one_run_count_once(engine: Engine) -> None:
    keys = store(engine, [job(1), profile(1), profile(1, kind="trace")])
    with engine.connect() as connection:
        view = view_job(connection, viewer(connection, "ada"), keys[1])
    assert view is not None
    assert [one.about["kind"] for one in view.counted] == ["trace"]
    assert len(view.sources) == 2


def test_a_job_of_many_runs_shows_those_with_most_time(engine: Engine) -> None:
    numbers = range(MOST_SOURCES + 5)
    profiles = [
        profile(1, made=document(1, io_seconds=float(place)), start=START + place,
                digest=f"d{place}")
        for place in numbers
    ]  # fmt: skip
    keys = store(engine, [job(1), *profiles])
    with engine.connect() as connection:
        who = viewer(connection, "ada")
        view = view_job(connection, who, keys[1])
        assert view is not None
        shown = [one.figures["io_seconds"] for one in view.sources]
        assert shown == [float(place) for place in numbers][5:]
        assert len(list_sources(connection, who, keys[1])) == len(numbers)
        assert list_sources(connection, viewer(connection, "bea"), keys[1]) == []
