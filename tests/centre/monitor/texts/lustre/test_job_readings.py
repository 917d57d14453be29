# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs at work are parsed in settled readings alone; nothing of what they did is lost by that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stripewise.centre.monitor.collectors import JobsRead, JobStatsReader
from support.job_stats_text import Job, Row, render

IDS = (b"1", b"2", b"3")


def text(*writes: int, version: str = "2.16") -> bytes:
    """Return the text where jobs 1, 2, ... have written so often; 0: it is not there."""
    jobs = []
    for raw, count in zip(IDS, writes, strict=False):
        row = Row()
        if count:
            row.add(4096, count)
            jobs.append(Job(raw, 10**18, 10**18 + count * 10**9, {"write_bytes": row}))
    return render(jobs, version)


def look(reader: JobStatsReader, content: bytes, *, settled: bool = False) -> JobsRead:
    found = reader.read([content], is_settled=settled)
    assert found.is_settled is settled
    return found


def given(found: JobsRead) -> list[tuple[str, int, int, int]]:
    """Return job, writes, and of how many readings ago the growth begins and ends."""
    return [
        (one.tag, one.operations["write_bytes"].samples, one.since, one.until)
        for one in found.changed
    ]


def begun(*writes: int) -> JobStatsReader:
    reader = JobStatsReader()
    first = reader.read([text(*writes)], is_settled=False)
    assert first.is_first
    assert first.is_settled  # all of it is given
    return reader


def test_a_job_at_work_is_given_when_it_is_settled() -> None:
    reader = begun(1)
    assert [look(reader, text(count)).changed for count in (2, 3, 4)] == [(), (), ()]
    assert given(look(reader, text(5), settled=True)) == [("1", 5, 4, 0)]
    assert given(look(reader, text(6), settled=True)) == [("1", 6, 1, 0)]


def test_a_job_that_pauses_is_given_at_once() -> None:
    reader = begun(1)
    assert look(reader, text(2)).changed == ()
    assert look(reader, text(3)).changed == ()
    assert given(look(reader, text(3))) == [("1", 3, 3, 1)]
    assert look(reader, text(3)).changed == ()
    assert look(reader, text(3), settled=True).changed == ()
    assert look(reader, text(4)).changed == ()
    assert given(look(reader, text(4), settled=True)) == [("1", 4, 2, 1)]


def test_a_job_that_begins_is_given_at_once() -> None:
    reader = begun(1)
    assert given(look(reader, text(1, 7))) == [("2", 7, 1, 0)]


def test_a_job_that_is_gone_before_it_was_read_is_told() -> None:
    reader = begun(1, 1)
    look(reader, text(1, 2))
    assert look(reader, text(1)).gone == ()
    found = look(reader, text(1))
    assert found.gone == ("2",)
    assert found.problems == (
        "1 entry of job_stats: gone before what they did last was read (job 2)",
    )
    look(reader, text(1))
    assert look(reader, text()).problems == look(reader, text()).problems == ()


def test_a_job_that_one_reading_misses_is_dated_from_before_it() -> None:
    reader = begun(1, 1)
    look(reader, text(1, 2))
    look(reader, text(1))
    assert given(look(reader, text(1, 3), settled=True)) == [("2", 3, 3, 0)]


def test_a_damaged_entry_is_dated_from_before_the_damage() -> None:
    reader = begun(1, 1)
    bad = text(1, 2).replace(b"samples:           2", b"samples:           9")
    found = look(reader, bad, settled=True)
    assert (found.changed, len(found.problems)) == ((), 1)
    assert given(look(reader, text(1, 3), settled=True)) == [("2", 3, 2, 0)]


def test_an_id_that_is_there_twice_is_given_once_it_is_not() -> None:
    """It is dated a reading too early rather than too late."""
    reader = begun(1, 1)
    twice = text(1, 2) + text(1, 5).split(b"\n", 1)[1].replace(
        b"          1\n", b"          3\n", 1
    )
    assert "twice" in look(reader, twice).problems[0]
    assert ("2", 6, 3, 0) in given(look(reader, text(1, 6), settled=True))


def test_after_a_reading_that_failed_all_is_given() -> None:
    def torn() -> Iterator[bytes]:
        yield text(2, 2)
        raise OSError("lctl was killed")

    reader = begun(1, 1)
    with pytest.raises(OSError, match="killed"):
        reader.read(torn(), is_settled=False)
    found = reader.read([text(2, 3)], is_settled=False)
    assert found.is_settled
    assert [(tag, count) for tag, count, *_ in given(found)] == [("1", 2), ("2", 3)]


def test_entries_without_a_beginning_are_always_given() -> None:
    reader = JobStatsReader()
    for count in (1, 2, 3):
        found = reader.read([text(count, version="2.12")], is_settled=False)
        assert (found.is_settled, [one[1] for one in given(found)]) == (True, [count])


def test_a_job_is_not_passed_over_for_ever() -> None:
    reader = begun(1)
    found = [given(look(reader, text(2 + number))) for number in range(4200)]
    (one,) = [rows for rows in found if rows]
    assert one == [("1", 4097, 4096, 0)]


def read_at(second: int, *writes: int, start_ns: int = 10**18) -> bytes:
    """Return the text as 2.15 prints it, whose snapshot_time is that of the reading."""
    jobs = []
    for raw, count in zip(IDS, writes, strict=False):
        row = Row()
        row.add(4096, count)
        jobs.append(Job(raw, start_ns, 10**18 + second * 10**9, {"write_bytes": row}))
    return render(jobs, "2.15")


def test_the_moment_of_a_reading_is_no_change_of_an_entry() -> None:
    reader = JobStatsReader()
    reader.read([read_at(0, 1, 1)], is_settled=False)
    assert look(reader, read_at(60, 2, 1)).changed == ()
    assert given(look(reader, read_at(120, 2, 1))) == [("1", 2, 2, 1)]
    assert look(reader, read_at(180, 2, 1), settled=True).changed == ()
    for second in (240, 300):
        found = look(reader, read_at(second))
        assert found.problems == ()
    assert found.gone == ("1", "2")


def test_an_entry_that_began_again_is_a_change_though_it_counts_the_same() -> None:
    reader = JobStatsReader()
    reader.read([read_at(0, 1)], is_settled=False)
    again = read_at(60, 1, start_ns=10**18 + 50 * 10**9)
    assert given(look(reader, again, settled=True)) == [("1", 1, 1, 0)]
