# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of I/O at a target."""

from __future__ import annotations

from math import inf

import pytest

from stripewise.centre.monitor.collectors.lustre._stats import Buckets, parse_brw_stats

HEADER = "snapshot_time:            1700000000.123456789 secs.nsecs\n"
COLUMNS = "\n                           read      |     write\n"
TITLES = {
    "pages": "pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %\n",
    "discontiguous_pages": "discontiguous pages    rpcs  % cum % |  rpcs        % cum %\n",
    "in_flight": "disk I/Os in flight    ios   % cum % |  ios         % cum %\n",
    "io_milliseconds": "I/O time (1/1000s)     ios   % cum % |  ios         % cum %\n",
    "io_bytes": "disk I/O size          ios   % cum % |  ios         % cum %\n",
    "block_map_milliseconds": "block maps msec        maps  % cum % |  maps        % cum %\n",
}


def section(name: str, *rows: tuple[str, int, int]) -> str:
    lines = [f"{key}:\t\t{read:>10}   0   0   | {write:>4}   0 100\n" for key, read, write in rows]
    return COLUMNS + TITLES[name] + "".join(lines)


def of(name: str, *rows: tuple[str, int, int]) -> Buckets | None:
    found = parse_brw_stats(HEADER + section(name, *rows))
    assert bool(found.problems) == (name not in found.sections)
    return found.sections.get(name)


def test_powers_of_two() -> None:
    found = of("io_bytes", ("512", 1, 0), ("1K", 0, 0), ("2K", 3, 4), ("4K", 5, 6))
    assert found == Buckets(
        ((512, 1), (1024, 0), (2048, 3), (4096, 5)), ((512, 0), (1024, 0), (2048, 4), (4096, 6))
    )


def test_the_last_bucket_has_no_bound() -> None:
    linear = of("discontiguous_pages", ("30", 1, 2), ("31", 3, 4))
    assert linear == Buckets(((30, 1), (inf, 3)), ((30, 2), (inf, 4)))
    scaled = of("pages", ("1024M", 1, 2), ("2048M", 3, 4))
    assert scaled == Buckets(((1 << 30, 1), (inf, 3)), ((1 << 30, 2), (inf, 4)))


def test_in_flight_of_older_and_newer_versions() -> None:
    older = of("in_flight", ("30", 1, 0), ("31", 2, 0))
    assert older == Buckets(((30, 1), (inf, 2)), ((30, 0), (inf, 0)))
    newer = of("in_flight", ("16", 1, 0), ("32", 2, 0))
    assert newer == Buckets(((16, 1), (32, 2)), ((16, 0), (32, 0)))
    assert of("in_flight", ("1", 1, 0), ("2", 2, 0), ("3", 1, 1)) is not None
    assert of("in_flight", ("1", 1, 0), ("2", 2, 0), ("4", 1, 1)) is not None


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("io_bytes", ["4K", "16K"]), ("io_bytes", ["4K", "4K"]), ("io_bytes", ["8K", "4K"]),
        ("io_bytes", ["3K"]), ("io_bytes", ["0"]), ("discontiguous_pages", ["0", "2"]),
        ("discontiguous_pages", ["32"]), ("in_flight", ["1", "2", "3", "6"]),
        ("in_flight", ["1", "2", "4", "5"]), ("in_flight", ["3", "6"]), ("pages", ["1", "1"]),
    ],
)  # fmt: skip
def test_rows_that_are_lost_or_doubled_are_seen(name: str, keys: list[str]) -> None:
    assert of(name, *[(key, 1, 1) for key in keys]) is None


def test_a_damaged_section_does_not_harm_the_others() -> None:
    text = (
        HEADER
        + section("pages", ("1", 5, 6))
        + section("io_bytes", ("4K", 1, 2)).replace("0   | ", "0   ! ")
        + section("io_milliseconds")
    )
    found = parse_brw_stats(text)
    assert found.sections == {"pages": Buckets(((1, 5),), ((1, 6),)), "io_milliseconds": Buckets()}
    assert found.problems


def test_rows_without_a_title_are_of_no_section() -> None:
    lost = section("io_bytes", ("2", 1, 2)).replace(TITLES["io_bytes"], "")
    found = parse_brw_stats(HEADER + section("pages", ("1", 5, 6)) + lost)
    assert found.sections == {"pages": Buckets(((1, 5),), ((1, 6),))}
    assert len(found.problems) == 1


def test_a_doubled_section_is_not_believed() -> None:
    found = parse_brw_stats(HEADER + section("pages", ("1", 5, 6)) + section("pages", ("1", 5, 6)))
    assert found.sections == {}
    assert found.problems


def test_unknown_sections_are_told() -> None:
    unknown = COLUMNS + "disk dreams            ios   % cum % |  ios         % cum %\n"
    found = parse_brw_stats(HEADER + unknown + "1:  1 0 0 | 1 0 0\n" + section("pages"))
    assert list(found.sections) == ["pages"]
    assert len(found.problems) == 1


def test_start_and_torn_end() -> None:
    text = HEADER + "start_time:               1684865295.500000000 secs.nsecs\n"
    assert parse_brw_stats(text).start_seconds == 1684865295.5
    torn = parse_brw_stats((text + section("pages", ("1", 5, 6)))[:-1])
    assert torn.problems
    assert "pages" not in torn.sections, "a row is lost"
