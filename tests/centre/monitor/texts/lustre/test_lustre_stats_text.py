# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters by operation: what is believed, and what is left out and told."""

from __future__ import annotations

import pytest

from stripewise.centre.monitor.collectors.lustre._stats import StatsRow, parse_stats

HEADER = "snapshot_time             1700000000.123456789 secs.nsecs\n"
ROW = "write_bytes               10 samples [bytes] 4096 8192 50000 1\n"


def test_forms_of_rows() -> None:
    found = parse_stats(
        HEADER
        + "read_bytes                3 samples [bytes] 1 5 9\n"
        + ROW
        + "open                      7 samples [reqs]\n"
        + "req_waittime              2 samples [usec] 1 5 6 26\n"
        + "close                     2 samples [regs]\n"
        + "openclosetime             10 samples [usecs] 766 1299 5494 -9223372036854775807\n"
    )
    assert found.problems == ()
    assert found.rows == {
        "read_bytes": StatsRow(3, "bytes", 9), "write_bytes": StatsRow(10, "bytes", 50000),
        "open": StatsRow(7, "reqs"), "req_waittime": StatsRow(2, "usecs", 6),
        "close": StatsRow(2, "reqs"), "openclosetime": StatsRow(10, "usecs", 5494),
    }  # fmt: skip


@pytest.mark.parametrize(
    "header",
    [
        "snapshot_time             1700000000.123456789 secs.nsecs\n",
        "snapshot_time             1700000000.123456 secs.usecs\n",
        "snapshot_time             1700000000.     5123 secs.usecs\n",
        "snapshot_time:            1700000000.123456789 secs.nsecs\n",
        "snapshot_time:         1700000000.123456789 (secs.nsecs)\n",
    ],
)
def test_forms_of_headers(header: str) -> None:
    found = parse_stats(header + ROW)
    assert found.is_whole
    assert found.start_seconds is None


def test_start() -> None:
    found = parse_stats(
        HEADER + "start_time                1690000000.000000005 secs.nsecs\n"
        "elapsed_time              10000000.123456784 secs.nsecs\n"
    )
    assert found.start_seconds == 1690000000.000000005
    assert found.rows == {}
    assert found.is_whole


@pytest.mark.parametrize(
    "line",
    [
        "write_bytes               10 samples [bytes] 4096 8192\n",
        "write_bytes               1O samples [bytes] 4096 8192 50000 1\n",
        "write_bytes               -10 samples [bytes] 4096 8192 50000 1\n",
        "write_bytes               10 samples [bytes] 4096 8192 -50000 1\n",
        "write_bytes               10 samples [bytes] 4096 8192 50000 1 7\n",
        "write_bytes               10 samples bytes 4096 8192 50000 1\n",
        "write_bytes               18446744073709551616 samples [reqs]\n",
        "write_bytes               99999999999999999999999 samples [reqs]\n",
        "write_bytes               \u0663 samples [reqs]\n",
        "write bytes               10 samples [reqs]\n",
        "write_bytes               10 samples [bytes] 4096 8192 99999999999 1\n",
        "write_bytes               99999 samples [bytes] 4096 8192 50000 1\n",
        "write_bytes               99999 samples [bytes] 8192 4096 409595904 1\n",
        "write_bytes               10 samples [bytes] 4096 8192 50000 1 # end\n",
    ],
)
def test_rows_that_are_not_believed(line: str) -> None:
    found = parse_stats(HEADER + "open                      7 samples [reqs]\n" + line)
    assert found.rows == {"open": StatsRow(7, "reqs")}
    assert not found.is_whole
    assert len(found.problems) == 1


def test_rows_that_change_while_they_are_read() -> None:
    """Lustre sums up counters of processors that count on."""
    one_more = "write_bytes               10 samples [bytes] 4096 4096 45056 1\n"
    assert parse_stats(HEADER + one_more).rows["write_bytes"].total == 45056


def test_a_doubled_row_is_not_believed() -> None:
    found = parse_stats(HEADER + ROW + ROW + "open                      7 samples [reqs]\n" + ROW)
    assert found.rows == {"open": StatsRow(7, "reqs")}
    assert len(found.problems) == 2


def test_a_row_that_is_doubled_by_a_bad_one_is_not_believed() -> None:
    bad = "write_bytes               10 samples [bytes] 4096 8192 99999999999 1\n"
    assert parse_stats(HEADER + bad + ROW).rows == {}
    assert parse_stats(HEADER + ROW + bad).rows == {}


CALLS = """connect                   6 samples [reqs]
disconnect                4 samples [reqs]
statfs                    46806 samples [reqs]
preprw                    9 samples [reqs]
commitrw                  9 samples [reqs]
ping                      8229 samples [reqs]
"""
"""Of calls within a server of 2.12, which stand behind the counters of the target."""


def test_calls_within_the_server_are_not_what_clients_asked_for() -> None:
    asked = "statfs                    42297 samples [reqs]\n"
    found = parse_stats(HEADER + ROW + asked + CALLS)
    assert found.is_whole
    assert found.rows["statfs"] == StatsRow(42297, "reqs")
    assert found.rows["ping"] == StatsRow(8229, "reqs")
    assert "statfs" not in parse_stats(HEADER + ROW + CALLS).rows


def test_no_other_rows_may_be_there_twice_behind_calls() -> None:
    assert not parse_stats(HEADER + ROW + CALLS + ROW).is_whole
    assert not parse_stats(HEADER + CALLS + CALLS).is_whole


@pytest.mark.parametrize("text", ["", ROW, HEADER + HEADER, HEADER + ROW[:-1], "\n" + HEADER])
def test_texts_that_are_not_whole(text: str) -> None:
    assert not parse_stats(text).is_whole


def test_problems_are_few_and_printable() -> None:
    found = parse_stats(HEADER + "\x1b[31m\u202e\n" * 1000)
    assert len(found.problems) == 6
    assert found.problems[-1] == "995 more lines were left out"
    assert all(text.isprintable() and text.isascii() for text in found.problems)


def test_a_header_is_no_counter() -> None:
    found = parse_stats(ROW + "snapshot_time             10 samples [usecs] 1 9 20\n")
    assert found.rows.keys() == {"write_bytes"}
    assert not found.is_whole


@pytest.mark.parametrize(
    "other",
    ["start_time                1690000001.5 secs.nsecs\n", "start_time                169?\n"],
)
def test_a_start_that_is_there_twice_is_not_believed(other: str) -> None:
    start = "start_time                1690000000.5 secs.nsecs\n"
    found = parse_stats(HEADER + start + other + ROW)
    assert found.start_seconds is None
    assert found.problems
