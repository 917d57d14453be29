# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job's requests as the servers saw them, beside its programs' calls and the others' load."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, delete

from stripewise.centre.database.tables import JobLoad
from support.portal_jobs import (
    SECRET,
    START,
    data_of,
    document,
    job,
    page_of,
    portal,
    profile,
    samples,
    store,
)
from support.served_jobs import MIB, load, served, service

HOUR, DAY = 3600, 86400


def asked(calls: int, size: int, place: int) -> dict[str, Any]:
    """Return a profile whose first file alone was written, in calls of one size."""
    made: dict[str, Any] = document(1)
    for number, one in enumerate(made["files"]):
        sizes = [0] * 10
        sizes[place] = calls if number == 0 else 0
        one |= {"write_calls": sum(sizes), "write_bytes": sum(sizes) * size, "write_sizes": sizes,
                "read_calls": 0, "read_bytes": 0, "read_sizes": [0] * 10}  # fmt: skip
    return made


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("calls", "size", "place", "words"),
    [
        (1024, 4096, 2, "in pieces of 4 KiB on average; the servers received requests "
         "of 1 MiB on average: a library or the client merged them"),
        (4, MIB, 5, "requests of 1 MiB on average: nothing merged them"),
        (1, 4 * MIB, 6, "in pieces of 4 MiB on average; the servers received requests "
         "of 1 MiB on average: a library or the client split them"),
        (4, 16 * MIB, 7, "The sizes cannot be compared"),
    ],
)  # fmt: skip
def test_calls_and_requests_are_compared_in_a_sentence(
    engine: Engine, calls: int, size: int, place: int, words: str
) -> None:
    ids = store(engine, [job(1), profile(1, made=asked(calls, size, place))])
    served(engine, [load("1", START)])
    data = data_of(engine, ids[1])
    assert words in data["served_words"][0]
    assert data["served_write_sizes"] == {"up to 1 MiB": 4}
    assert sum(data["asked_write_sizes"].values()) == calls
    (row,) = data["served"]["rows"]
    assert (row["operations"], row["moved_bytes"], row["request_bytes"]) == (4, 4 * MIB, MIB)
    assert row["operation_seconds"] == pytest.approx(0.005)
    assert data["witnesses"]["write_bytes"][1] == 4 * MIB
    assert "served_next" not in data


def test_a_job_without_a_profile_has_its_requests(engine: Engine) -> None:
    ids = store(engine, [job(1)])
    served(engine, [load("1", START, operations=100_000, moved_bytes=100_000 * 4096,
                         parts={"4096": 99_000})])  # fmt: skip
    served(engine, [load("1", START, "metadata", operations=640_000)], server="mds")
    data = data_of(engine, ids[1])
    assert data["served_words"] == ["The servers received write requests of 4 KiB on average."]
    assert data["served_operations"] == {"open": 500, "close": 100}
    (offer,) = data["served_next"]
    assert "its 100 000 writes reached the servers as small requests, 4 KiB on average" in offer
    assert "metadata operations" in offer
    assert "`stripewise run -- srun ./program`" in offer
    html = page_of(engine, ids[1])
    assert "The sizes of 99 000 of 100 000 requests are known." in html
    text = portal(engine, "ada").get(f"/jobs/{ids[1]}?as=csv&table=served_write_sizes").text
    assert text.splitlines() == ["label,count", "up to 4 KiB,99000"]


def test_it_is_not_said_that_nothing_is_known_where_servers_counted(engine: Engine) -> None:
    ids = store(engine, [job(1), job(2)])
    served(engine, [load("1", START)])
    assert "what the storage's servers counted for it" in data_of(engine, ids[1])["lead"]
    assert "nothing is known about its I/O" in data_of(engine, ids[2])["lead"]


def test_where_requests_are_large_no_profile_is_offered(engine: Engine) -> None:
    ids = store(engine, [job(1)])
    served(engine, [load("1", START)])
    assert "would hardly show a possible gain" in data_of(engine, ids[1])["served_next"][0]


def test_what_is_not_told_is_no_zero(engine: Engine) -> None:
    ids = store(engine, [job(1)])
    served(engine, [
        load("1", START, operations=None, busy_seconds=None, parts={}),
        load("1", START, "read", busy_seconds=None, parts={}),
    ])  # fmt: skip
    served(engine, [load("1", START, "read", busy_seconds=0.4)], server="oss2")
    data = data_of(engine, ids[1])
    read, write = data["served"]["rows"]
    assert (write["operations"], write["request_bytes"], write["operation_seconds"]) == (None,) * 3
    assert read["operation_seconds"] == pytest.approx(0.1)  # of the server that tells times
    assert read["operations"] == 8
    assert "served_write_sizes" not in data


def test_a_job_that_no_server_counted_has_no_such_part(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1)])
    data = data_of(engine, ids[1])
    assert not [name for name in data if name.startswith(("served", "asked"))]


def test_sums_stay_when_the_rows_are_no_longer_kept(engine: Engine) -> None:
    ids = store(engine, [job(1)])
    served(engine, [load("1", START)])
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(delete(JobLoad))
    (row,) = data_of(engine, ids[1])["served"]["rows"]
    assert row["operation_seconds"] == pytest.approx(0.005)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("name", "status"), [("bob", 404), ("nobody", 303), ("manager", 200)])
def test_who_sees_the_job_sees_its_requests_and_no_names(
    engine: Engine, name: str, status: int
) -> None:
    ids = store(engine, [job(1), job(2, user="bob"), profile(1, made=asked(1024, 4096, 2))])
    served(engine, [load("1", START)])
    answer = portal(engine, name).get(f"/jobs/{ids[1]}")
    assert answer.status_code in (status, 401)
    assert SECRET not in answer.text
    if status == 200:
        assert "a library or the client merged them" in answer.text
        assert "Sizes of the programs&#39; calls" in answer.text


# ---- you or others -------------------------------------------------------------------------


def around(rate: float = 10.0 * MIB) -> list[Any]:
    return [samples(name, START - HOUR, [rate] * 130) for name in ("read_bytes", "write_bytes")]


@pytest.mark.extended
def test_the_jobs_own_curve_is_what_the_servers_counted(engine: Engine) -> None:
    ids = store(engine, [job(1), *around()])
    served(engine, [load("1", START, moved_bytes=60 * MIB)])
    data = data_of(engine, ids[1])
    chart = data["load_chart"]
    curve = dict(zip(chart["at"], chart["job_bytes_per_second"], strict=True))
    assert curve[START] == pytest.approx(60 * MIB / 120)  # intervals are two samples wide
    assert curve[START - 120] is None
    assert data["load_facts"]["job_share"] == pytest.approx(60 / (120 * 20))
    assert "by the servers&#39; counters" in page_of(engine, ids[1])


@pytest.mark.extended
@pytest.mark.parametrize("seconds", [64.0, None])
def test_a_job_that_still_runs_is_compared_for_as_long_as_servers_counted(
    engine: Engine, seconds: float | None
) -> None:
    """Its record is of a minute after its begin."""
    running = replace(job(1, state="RUNNING", run_seconds=seconds), end_at=None)
    ids = store(engine, [running, *around()])
    served(engine, [load("1", START + 60 * place, moved_bytes=60 * MIB) for place in range(20)])
    facts = data_of(engine, ids[1])["load_facts"]
    assert facts["job_share"] == pytest.approx(1 / 20)
    assert facts["job_bytes_per_second"] == pytest.approx(MIB)


def test_a_pause_is_zero_where_servers_were_heard_and_unknown_where_not(engine: Engine) -> None:
    long = job(1, run_seconds=1200.0)
    long = replace(long, end_at=START + 1200)
    ids = store(engine, [long, *(samples(name, START - HOUR, [MIB] * 70)
                                 for name in ("read_bytes", "write_bytes"))])  # fmt: skip
    served(engine, [load("1", START)])
    chart = data_of(engine, ids[1])["load_chart"]
    curve = dict(zip(chart["at"], chart["job_bytes_per_second"], strict=True))
    assert (curve[START + 240], curve[START + 840]) == (0.0, None)


@pytest.mark.extended
def test_service_times_are_compared_with_the_same_hours_before(engine: Engine) -> None:
    records: list[Any] = [job(1), *around()]
    for place, during in enumerate((0.006, 0.006, 0.006, 0.041)):
        for first, step, seconds in ((START - 5 * DAY, HOUR, 0.006), (START, 60, during)):
            records += service(f"OST{place:04d}", seconds, first=first, step=step,
                               number=24 if step == HOUR else 10)  # fmt: skip
    ids = store(engine, records)
    served(engine, [load("1", START)])
    data = data_of(engine, ids[1])
    words = " ".join(data["load"])
    assert "Nothing points to others" not in words
    assert "OST0003 was slow: 41 ms an operation, usual 6 ms." in words
    assert "An operation at storage targets (OST) took 14.8 ms during the run, 2.5x what" in words
    assert data["load_facts"]["ost_operation_seconds"] == pytest.approx(0.01475)


def test_few_operations_say_nothing_of_a_target(engine: Engine) -> None:
    records: list[Any] = [job(1), *around()]
    records += service("OST0000", 5.0, first=START, number=2, rate=0.5)
    ids = store(engine, records)
    served(engine, [load("1", START)])
    data = data_of(engine, ids[1])
    assert data["load_facts"]["ost_operation_seconds"] is None
    assert "slow" not in " ".join(data["load"])


@pytest.mark.extended
def test_a_job_of_metadata_alone_is_told_of_the_storage_and_no_share(engine: Engine) -> None:
    records: list[Any] = [job(1), *around()]
    for place, seconds in enumerate((0.006, 0.006, 0.006, 0.041)):
        records += service(f"OST{place:04d}", seconds, first=START, number=10)
    ids = store(engine, records)
    served(engine, [load("1", START, "metadata")], server="mds")
    data = data_of(engine, ids[1])
    words = " ".join(data["load"])
    assert "counted metadata operations of this job and no data" in words
    assert "OST0003 was slow: 41 ms an operation" in words
    facts = data["load_facts"]
    assert (facts["job_bytes_per_second"], facts["job_share"]) == (None, None)
    assert facts["storage_bytes_per_second"] == pytest.approx(20 * MIB)
    assert set(data["load_chart"]["job_bytes_per_second"]) == {None}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("everybody", "share"), [(10.0, 0.5), (50.0, 0.1)])
def test_a_job_is_told_its_part_of_the_metadata_operations(
    engine: Engine, everybody: float, share: float
) -> None:
    kinds = [samples(name, START - HOUR, [everybody / 2] * 130) for name in ("open", "close")]
    ids = store(engine, [job(1), *around(), *kinds])
    served(engine, [load("1", START)])
    served(engine, [load("1", START, "metadata")], server="mds")
    data = data_of(engine, ids[1])
    assert data["load_facts"]["job_operations_share"] == pytest.approx(share)
    assert ("Mostly this job, by metadata operations" in " ".join(data["load"])) is (share >= 0.5)


@pytest.mark.extended
def test_where_nothing_is_sampled_that_is_said_of_a_served_job_as_well(engine: Engine) -> None:
    ids = store(engine, [job(1)])
    served(engine, [load("1", START)])
    assert "not for the time of its run" in " ".join(data_of(engine, ids[1])["load"])


@pytest.mark.extended
def test_where_data_servers_tell_nothing_a_profile_tells_the_bytes(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=asked(1024, 4096, 2)), *around()])
    served(engine, [load("1", START, "metadata")], server="mds")
    facts = data_of(engine, ids[1])["load_facts"]
    assert facts["job_bytes_per_second"] == pytest.approx(1024 * 4096 / 64)
