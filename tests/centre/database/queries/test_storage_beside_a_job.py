# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._records import Record, SampleRecord, SourceRecord
from stripewise.centre.database.queries import StorageLoad, loads_beside, view_job
from support.portal_jobs import START, document, job, profile, samples, store, viewer

HOUR, DAY = 3600, 86400
MIB = 1 << 20


def moved(number: int, read: int, write: int) -> dict[str, object]:
    """Return a profile that moved so much on one file system."""
    made = document(number)
    for place, one in enumerate(made["files"]):
        one["read_bytes"], one["write_bytes"] = (read, write) if place == 0 else (0, 0)
    return made


def loads(engine: Engine, records: Sequence[Record]) -> list[StorageLoad]:
    keys = store(engine, records)
    with engine.connect() as connection:
        view = view_job(connection, viewer(connection, "ada"), keys[1])
        assert view is not None
        return loads_beside(connection, view)


def base(read: int = 60 * MIB, write: int = 40 * MIB) -> list[Record]:
    return [job(1), profile(1, made=moved(1, read, write))]


def hourly(rates: Sequence[float]) -> list[Record]:
    """Return hours that end when the job begins."""
    first = START - len(rates) * HOUR
    return [samples(metric, first, rates, HOUR) for metric in ("read_bytes", "write_bytes")]


def test_share_and_rates_are_those_of_the_intervals_of_the_run(engine: Engine) -> None:
    during = [
        samples("read_bytes", START - 600, [2.0 * MIB] * 30),
        samples("write_bytes", START - 600, [3.0 * MIB] * 30),
    ]
    (load,) = loads(engine, [*base(), *during])
    assert (load.file_system, load.begin, load.end) == ("scratch", START, START + 64)
    assert load.resolution_seconds == 120  # two samples, as on the pages of the storage
    assert load.job_bytes == 100 * MIB
    assert load.storage_bytes == pytest.approx(120 * 5 * MIB)  # one interval covers the run
    assert load.covered_share == 1
    assert load.job_share == pytest.approx(100 / 600)
    assert load.storage_bytes_per_second == pytest.approx(5 * MIB)
    assert load.job_bytes_per_second == pytest.approx(100 * MIB / 64)
    assert (load.busier_than, load.compared_hours) == (None, 0)
    known = dict(zip(load.at, load.read, strict=True))
    assert known[START] == pytest.approx(2 * MIB)
    assert known[START - 1800] is None  # not sampled, and not zero


@pytest.mark.parametrize("read", [None, 60 * MIB])
def test_bytes_that_a_profile_does_not_tell_leave_the_share_unknown(engine: Engine, read) -> None:
    during = [
        samples("read_bytes", START - 600, [2.0 * MIB] * 30),
        samples("write_bytes", START - 600, [3.0 * MIB] * 30),
    ]
    made = moved(1, 60 * MIB, 40 * MIB)
    made["files"][0] |= {"read_bytes": read, "missing": {"read_bytes": "damaged"}}  # type: ignore[index]
    (load,) = loads(engine, [job(1), profile(1, made=made), *during])
    assert (load.job_bytes, load.job_share) == (None, None)
    assert load.storage_bytes == pytest.approx(120 * 5 * MIB)


def test_the_hours_of_the_run_are_compared_with_those_of_four_weeks(engine: Engine) -> None:
    before = [float(10 + place % 4) for place in range(30 * 24)]
    during = [samples(metric, START, [12.5] * 60) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [*base(), *hourly(before), *during])
    assert load.compared_hours == 28 * 24
    assert load.busier_than == pytest.approx(0.75)


def test_few_hours_before_say_nothing_of_what_is_usual(engine: Engine) -> None:
    during = [samples(metric, START, [12.5] * 60) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [*base(), *hourly([1.0] * 23), *during])
    assert (load.busier_than, load.compared_hours) == (None, 23)


def lasting(seconds: int) -> list[Record]:
    """Return a job that ran for so long, with its profile."""
    long = replace(job(1), end_at=START + seconds, columns={"run_seconds": float(seconds)})
    return [long, *base()[1:]]


def test_a_gap_in_the_run_leaves_the_share_unknown(engine: Engine) -> None:
    during = [samples(metric, START, [12.5] * 10) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [*lasting(1200), *during])
    assert load.covered_share == 0.5
    assert load.job_share is None
    assert load.storage_bytes_per_second == pytest.approx(25)


@pytest.mark.extended(keep=1)
def test_a_short_gap_is_taken_to_be_as_the_rest(engine: Engine) -> None:
    rate = 5.0 * MIB
    during = [samples(metric, START, [rate] * 38) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [*lasting(2400), *during])
    assert load.covered_share == 0.95
    assert load.job_share == pytest.approx(100 * MIB / (2 * rate * 2400))


@pytest.mark.parametrize("drift", [0, 7])
def test_the_interval_of_the_samples_leaves_no_gaps(engine: Engine, drift: int) -> None:
    """Samples of five minutes, each of which begins a little later in its minute."""
    first = START - 24 * HOUR
    rates = [3.0] * (48 * 12)
    during = [
        samples(metric, first, rates, 300 + drift) for metric in ("read_bytes", "write_bytes")
    ]
    (load,) = loads(engine, [*lasting(4 * HOUR), *during])
    assert load.covered_share == 1
    assert None not in load.read
    assert load.job_share is not None


def test_targets_that_were_replaced_are_not_waited_for(engine: Engine) -> None:
    records: list[Record] = [*base()]
    for metric in ("read_bytes", "write_bytes"):
        for place in range(3):
            old = samples(metric, START - 30 * DAY, [5.0] * 60)
            records.append(replace(old, server="oss", target=f"OLD{place}"))
        new = samples(metric, START - HOUR, [5.0] * 120)
        records.append(replace(new, server="oss", target="NEW0"))
    (load,) = loads(engine, records)
    assert load.read[load.at.index(START)] == pytest.approx(5)


def test_a_load_without_a_large_part_of_the_targets_is_not_known(engine: Engine) -> None:
    records: list[Record] = [*base()]
    for metric in ("read_bytes", "write_bytes"):
        for place in range(4):
            rates = [5.0] * (120 if place else 30)
            one = samples(metric, START - HOUR, rates)
            records.append(replace(one, server="oss", target=f"OST{place}"))
    assert loads(engine, records) == []


def test_the_first_directory_is_a_name_of_the_storage(engine: Engine) -> None:
    (_, told) = base()
    assert isinstance(told, SourceRecord)
    named = replace(told, io=tuple({**row, "file_system": "/scratch"} for row in told.io))
    during = [samples(metric, START, [1.0] * 9) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [job(1), named, *during])
    assert load.file_system == "scratch"


def test_without_samples_or_with_one_direction_alone_there_is_no_load(engine: Engine) -> None:
    assert loads(engine, [*base(), samples("read_bytes", START, [1.0] * 9)]) == []


def test_targets_add_up_where_the_whole_is_not_sampled(engine: Engine) -> None:
    def of_target(record: SampleRecord, target: str) -> SampleRecord:
        return replace(record, server=f"oss-{target}", target=target)

    records: list[Record] = [*base()]
    for metric in ("read_bytes", "write_bytes"):
        for target in ("OST0000", "OST0001"):
            records.append(of_target(samples(metric, START, [5.0] * 5), target))
            records.append(replace(samples(metric, START, [99.0] * 5), server=f"oss-{target}"))
    (load,) = loads(engine, records)
    assert load.read[load.at.index(START)] == pytest.approx(10)


def test_old_jobs_are_seen_by_the_hour(engine: Engine) -> None:
    hours = [samples(metric, START - 6 * HOUR, [7.0] * 48, HOUR // 2)
             for metric in ("read_bytes", "write_bytes")]  # fmt: skip
    long = replace(job(1), end_at=START + 12 * HOUR, columns={"run_seconds": 12.0 * HOUR})
    (load,) = loads(engine, [long, profile(1, made=moved(1, 5, 5)), *hours])
    assert load.storage_bytes == pytest.approx(14 * 12 * HOUR)


def test_a_share_is_never_more_than_all(engine: Engine) -> None:
    during = [samples(metric, START, [1.0] * 9) for metric in ("read_bytes", "write_bytes")]
    (load,) = loads(engine, [*base(), *during])
    assert load.job_share == 1
