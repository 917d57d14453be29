# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""job_stats of all versions: what is believed, what is left out, what is gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stripewise.centre.monitor._records import OperationCount
from stripewise.centre.monitor.collectors import JobsRead, JobStatsReader
from support.job_stats_text import OST_ROWS, Job, Row, render

OLD = b"""job_stats:
- job_id:          dd.4854
  snapshot_time:   1322494602
  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  write_bytes:     { samples:           3, unit: bytes, min:    4096, max: 1048576, sum:         1056768 }
  setattr:         { samples:           0, unit:  reqs }
  punch:           { samples:           2, unit:  reqs }
"""  # noqa: E501
TIMED = b"""job_stats:
- job_id:          7001
snapshot_time    1686153914.643122579 secs.nsecs
start_time       1686153904.643119181 secs.nsecs
elapsed_time     10.000003398 secs.nsecs
  open:            { samples:           4, unit: usecs, min:       3, max:      90, sum:             120, sumsq:               8200 }
  close:           { samples:           0, unit: usecs, min:       0, max:       0, sum:               0, sumsq:                  0 }
"""  # noqa: E501
NEW = rb"""job_stats:
- job_id:          "my\x20job:7"
  snapshot_time:   1720516680.000000001 secs.nsecs
  start_time:      1720516600.999999999 secs.nsecs
  elapsed_time:    79.000000002 secs.nsecs
  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }
  write_bytes:     { samples:          10, unit: bytes, min:     4096, max:  1048576, sum:          7352320, sumsq:      7696581439488, hist: { 4K: 3, 1M: 7 } }
  write:           { samples:          10, unit: usecs, min:       12, max:    40081, sum:           192342, sumsq:        17432258604 }
- job_id:          4711
  snapshot_time:   1720516681.000000001 secs.nsecs
  start_time:      1720516601.999999999 secs.nsecs
  elapsed_time:    79.000000002 secs.nsecs
  read_bytes:      { samples:           1, unit: bytes, min: 2147483648, max: 2147483648, sum:       2147483648, sumsq: 4611686018427387904, hist: { 2G: 1 } }
  write_bytes:     { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }
  write:           { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
"""  # noqa: E501


def read(text: bytes, reader: JobStatsReader | None = None) -> JobsRead:
    return (reader or JobStatsReader()).read([text])


def job(raw: bytes, n_writes: int = 1) -> Job:
    row = Row()
    row.add(4096, n_writes)
    return Job(raw, 10**18, 10**18 + n_writes, {"write_bytes": row})


def some(*raws: bytes, version: str = "2.16", n_writes: int = 1) -> bytes:
    return render([job(raw, n_writes) for raw in raws], version)


def test_before_2_14() -> None:
    (entry,) = read(OLD).changed
    assert entry[:3] == ("dd.4854", 1322494602, None)
    assert dict(entry.operations) == {
        "write_bytes": OperationCount(3, "bytes", 1056768, None),
        "punch": OperationCount(2, "reqs", 0, None),
    }


def test_times_without_indentation() -> None:
    (entry,) = read(TIMED).changed
    assert entry[:3] == ("7001", 1686153914, 1686153904)
    assert dict(entry.operations) == {"open": OperationCount(4, "usecs", 120, None)}


def test_quoted_ids_and_histograms() -> None:
    found = read(NEW)
    first, second = found.changed
    assert first[:3] == ("my job:7", 1720516680, 1720516600)
    assert first.operations["write_bytes"].sizes == ((4096, 3), (1 << 20, 7))
    assert first.operations["write"] == OperationCount(10, "usecs", 192342, None)
    assert second.operations["read_bytes"] == OperationCount(1, "bytes", 1 << 31, ((1 << 31, 1),))
    assert (found.count, found.gone, found.is_first, found.problems) == (2, (), True, ())


@pytest.mark.parametrize("text", [OLD, TIMED, NEW])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_pieces_of_any_size(text: bytes, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert JobStatsReader().read(pieces) == read(text)


def test_a_piece_larger_than_what_is_cut_at_once() -> None:
    text = some(*(b"%d" % number for number in range(500)))
    assert len(text) > 3 * (256 << 10)
    assert read(text).count == len(read(text).changed) == 500


@pytest.mark.parametrize(
    "text", [b"", b"job_stats:\n", b"obdfilter.a-OST0000.job_stats=\njob_stats:\n"]
)
def test_no_jobs(text: bytes) -> None:
    assert read(text) == JobsRead(is_first=True)


@pytest.mark.parametrize("start", [b"", b"obdfilter.a-OST0000.job_stats=\n"])
def test_the_parameters_name_and_a_missing_header(start: bytes) -> None:
    assert read(start + NEW).changed == read(NEW.removeprefix(b"job_stats:\n")).changed != ()


def test_a_late_header_as_two_readers_at_once_make_it() -> None:
    late = NEW.replace(b"job_stats:\n", b"").replace(
        b"- job_id:          4711", b"job_stats:\n- job_id: 4711"
    )
    found = read(late)
    assert (len(found.changed), found.problems) == (2, ())


def test_only_what_changed() -> None:
    reader = JobStatsReader()
    assert len(read(some(b"1", b"2", b"3"), reader).changed) == 3
    again = read(some(b"1", b"2", b"3"), reader)
    assert (again.changed, again.count, again.is_first) == ((), 3, False)
    more = render([job(b"1"), job(b"2", 5), job(b"3"), job(b"4")], "2.16")
    assert [entry.tag for entry in read(more, reader).changed] == ["2", "4"]


def test_gone_after_two_readings_without_it() -> None:
    reader = JobStatsReader()
    read(some(b"1", b"2"), reader)
    assert read(some(b"1"), reader).gone == ()
    assert read(some(b"1"), reader).gone == ("2",)
    assert read(some(b"1"), reader).gone == ()


def test_skipped_once_is_not_gone() -> None:
    reader = JobStatsReader()
    read(some(b"1", b"2"), reader)
    read(some(b"1"), reader)
    assert read(some(b"1", b"2"), reader) == JobsRead(count=2)
    assert read(some(b"1"), reader).gone == ()


def test_a_cut_text_gives_no_cut_entry_and_declares_nothing_gone() -> None:
    text = some(b"1", b"2", version="2.17")
    whole = {entry.tag: entry for entry in read(text).changed}
    for cut in range(1, 300):
        reader = JobStatsReader()
        for _ in range(2):
            read(some(b"1", b"2", b"3"), reader)
        short = text[: -cut * 5]
        first = JobStatsReader()
        assert all(entry == whole[entry.tag] for entry in read(short, first).changed), cut
        if not short.endswith(b"}\n"):
            read(short, reader)
            assert read(short, reader).gone == (), cut


def test_an_entry_cut_between_two_rows_is_not_believed() -> None:
    text = some(b"1", b"2", b"3")
    short = text[: text.rindex(b"  quotactl")]
    found = read(short)
    assert [entry.tag for entry in found.changed] == ["1", "2"]
    assert "rows are not those of the other" in found.problems[0]


def test_an_entry_that_lost_a_row_while_it_is_the_only_one() -> None:
    reader = JobStatsReader()
    read(some(b"1"), reader)
    lost = b"".join(
        line for line in some(b"1", n_writes=2).splitlines(True) if b"write_bytes" not in line
    )
    assert read(lost, reader).changed == ()
    assert [entry.tag for entry in read(some(b"1", n_writes=2), reader).changed] == ["1"]


def test_other_rows_are_believed_when_they_stay() -> None:
    reader = JobStatsReader()
    read(some(b"1", b"2"), reader)
    newer = render([job(b"1"), job(b"2")], "2.16", (*OST_ROWS, "fallocate"))
    first, second = read(newer, reader), read(newer, reader)
    assert (first.changed, len(first.problems), len(second.changed)) == ((), 1, 2)


def test_doubled_ids_are_both_left_out() -> None:
    reader = JobStatsReader()
    found = read(some(b"1", b"2", b"1"), reader)
    assert [entry.tag for entry in found.changed] == ["2"]
    assert found.problems == ("1 entry of job_stats: the same id is there twice (job 1)",)
    assert [entry.tag for entry in read(some(b"1", b"2"), reader).changed] == ["1"]


def test_an_id_with_nothing_behind_it_is_a_double_too() -> None:
    for text in (
        some(b"1", b"2") + b"- job_id:          2\n",
        some(b"2", b"1").replace(b"- job_id:          1", b"- job_id:          2\n- job_id:    1"),
    ):
        assert [entry.tag for entry in read(text).changed] == ["1"]


def test_the_same_id_printed_in_two_ways_is_doubled() -> None:
    text = some(b"1") + some(b"1").replace(b" 1\n", b' "\\x31"\n').removeprefix(b"job_stats:\n")
    assert read(text).changed == ()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"samples:           1", b"samples:          -1", "a line cannot be read"),
        (b"samples:           1", b"samples:          1x", "a line cannot be read"),
        (b"samples:           1", b"samples:           2", "its numbers contradict each other"),
        (b"sum:             4096", b"sum:             4095", "its numbers contradict each other"),
        (b"sum:             4096", b"sum:             4097", "its numbers contradict each other"),
        (b"1, unit: bytes, min:     4096, max:     4096, sum:             4096",
         b"1, unit: bytes, min:        0, max: 18446744073709551616, sum: 18446744073709551616",
         "a number is beyond 64 bits"),
        (b"4K: 1 }", b"4K: one }", "a histogram cannot be read"),
        (b"4K: 1 }", b"5K: 1 }", "a histogram cannot be read"),
        (b"4K: 1 }", b"4K: 1, 2K: 0 }", "a histogram cannot be read"),
        (b"unit: usecs, min", b"unit: , min", "a line cannot be read"),
        (b", max:     4096", b", max: ", "a line cannot be read"),
        (b"  sync: ", b"  read: ", "a row is there twice"),
        (b"snapshot_time:", b"snapshot-time:", "its times cannot be read"),
        (b"start_time: ", b"start_time  ", ""),
        (b" secs.nsecs", b"", ""),
        (b"  punch: ", b"  punch%\n", "a line cannot be read"),
        (b"setattr: ", b"setattr: " + b" " * 70_000, "it is longer than 64 KiB"),
    ],
)  # fmt: skip
def test_damaged_entries(old: bytes, new: bytes, reason: str) -> None:
    text = some(b"1", b"2", b"3")
    at = text.index(b"- job_id:          2")
    damaged = text[:at] + text[at:].replace(old, new, 1)
    assert damaged != text
    found = read(damaged)
    assert [entry.tag for entry in found.changed] == (["1", "3"] if reason else ["1", "2", "3"])
    assert (found.problems == ()) if not reason else (reason in found.problems[0])
    assert not reason or "job 2" in found.problems[0]


def test_a_left_out_entry_keeps_what_was_remembered() -> None:
    reader = JobStatsReader()
    read(some(b"1", b"2"), reader)
    bad = some(b"1", b"2").replace(b"samples:           1", b"samples:           5")
    for _ in range(3):
        assert read(bad, reader).gone == ()
    found = read(some(b"1", b"2"), reader)  # given again, of before the damage: that is no growth
    assert [(entry.tag, entry.since, entry.until) for entry in found.changed] == [
        ("1", 4, 1), ("2", 4, 1),
    ]  # fmt: skip
    assert read(some(b"1", b"2"), reader) == JobsRead(count=2)


def test_a_histogram_that_does_not_add_up_costs_no_more_than_itself() -> None:
    found = read(NEW.replace(b"1M: 7", b"1M: 8"))
    assert found.changed[0].operations["write_bytes"] == OperationCount(10, "bytes", 7352320, None)
    assert "histogram does not add up" in found.problems[0]


def test_problems_are_few_and_printable() -> None:
    text = b"".join(b"- job_id:          %d\x1b[2J\n" % number for number in range(10_000))
    found = read(b"job_stats:\n" + text)
    assert (found.changed, found.count) == ((), 10_000)
    assert len(found.problems) <= 3
    assert all(len(line) < 800 and line.isprintable() for line in found.problems)


def test_entries_beyond_the_limit_are_never_given_half() -> None:
    reader = JobStatsReader(most_entries=2)
    found = read(some(b"1", b"2", b"3"), reader)
    assert ([entry.tag for entry in found.changed], found.count) == (["1", "2"], 3)
    assert "beyond the 2 that are followed" in found.problems[0]
    for _ in range(3):  # 1 goes and leaves room, but what 3 did is not known since its beginning
        assert read(some(b"2", b"3", n_writes=9), reader).count == 2
    found = read(some(b"2", b"3", b"4", n_writes=9), reader)
    assert [entry.tag for entry in found.changed] == ["4"]


def test_a_reading_that_fails_is_as_if_it_had_not_been() -> None:
    def torn() -> Iterator[bytes]:
        yield some(*(b"%d" % number for number in range(500)), n_writes=3)
        raise OSError("lctl was killed")

    reader = JobStatsReader()
    text = some(*(b"%d" % number for number in range(500)))
    read(text, reader)
    for _ in range(4):
        with pytest.raises(OSError, match="killed"):
            reader.read(torn())
    assert read(text, reader) == JobsRead(count=500)
    changed = read(some(*(b"%d" % number for number in range(500)), n_writes=3), reader).changed
    assert len(changed) == 500


def test_a_first_reading_that_fails_leaves_the_next_the_first() -> None:
    def nothing() -> Iterator[bytes]:
        raise OSError("denied")
        yield b""

    reader = JobStatsReader()
    with pytest.raises(OSError, match="denied"):
        reader.read(nothing())
    assert read(NEW, reader).is_first


def test_an_odd_id_is_named_as_it_can_be_shown() -> None:
    text = some(b"a\x1b[2Jb", b"2").replace(b"samples:           1", b"samples:           ?", 1)
    assert "(job a\\x1b[2Jb: read_bytes" not in read(text).problems[0]
    assert "(job a\\x1b[2Jb: write_bytes: { samples: ?" in read(text).problems[0]


def test_what_stands_before_the_first_entry_is_told() -> None:
    found = read(b"error: get_param: whatever\n" + NEW)
    assert len(found.changed) == 2
    assert "the text before it cannot be read (error: get_param" in found.problems[0]
