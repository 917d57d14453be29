# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""InfluxDB's line protocol: any label, any number, times that only go on."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stripewise.centre.monitor import Reading, counter, histogram, level
from stripewise.centre.monitor.agent import render_influx
from stripewise.centre.monitor.sinks._lines import LineWriter
from support.line_protocol import Line, parse_lines
from support.monitor_rounds import (
    FREE,
    READ,
    SIZES,
    START,
    STRANGE,
    STRANGE_COUNT,
    made_round,
    whole_round,
)

NS = int(START * 1e9)
UNHELD = re.compile("\\\\(?=[\\\\ ,=]|\\Z)|[\x00\n\r\ud800-\udfff]")


def test_a_text_is_as_the_protocol_says():
    readings = (
        Reading(READ, ("a b", "x=y,z"), 2**53 + 1),
        Reading(FREE, ("", "t"), 3),
        Reading(histogram("rpc_pages", "pages", "Pages.", ("fs",)), ("a",), SIZES),
        Reading(counter("wait_seconds", "seconds", "Wait."), (), 2),
        Reading(counter("odd_joules", "joules", "Of a plug-in."), (), 2),
    )
    assert render_influx([made_round(readings)], "oss1") == (
        f"lustre_target_read_bytes,fs=a\\ b,server=oss1,target=x\\=y\\,z value=9007199254740993i"
        f" {NS}\n"
        f"lustre_target_free_bytes,server=oss1,target=t value=3.0 {NS}\n"
        f"rpc_pages,fs=a,server=oss1,le=4096.0 value=3i {NS}\n"
        f"rpc_pages,fs=a,server=oss1,le=1.048576e+06 value=7i {NS}\n"
        f"rpc_pages,fs=a,server=oss1,le=+Inf value=8i {NS}\n"
        f"rpc_pages_sum,fs=a,server=oss1 value=5500000.0 {NS}\n"
        f"wait_seconds,server=oss1 value=2.0 {NS}\n"
        f"odd_joules,server=oss1 value=2.0 {NS}\n"
    )


@given(
    labels=st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5, unique=True),
    server=st.text(),
)
@example(labels=[("a\\", "b\\ c"), (" ", ","), ("=", "\\\\"), ("\n", "\r\n")], server="")
@example(labels=[("\ud800", "é\u2028"), ("\\a", '"')], server="\\")
def test_any_label_survives_as_far_as_the_protocol_can_hold_it(
    labels: list[tuple[str, str]], server: str
):
    writer = LineWriter(server)
    found = made_round(Reading(READ, pair, index) for index, pair in enumerate(labels))
    lines = parse_lines("".join(writer.lines(found)))
    expected: dict[tuple[str, ...], int] = {}
    for index, pair in enumerate(labels):
        expected.setdefault(tuple(UNHELD.sub("\ufffd", text) for text in pair), index)
    got = {(line.tags.get("fs", ""), line.tags.get("target", "")): line.value for line in lines}
    assert got == expected
    assert len(lines) + writer.problems == len(labels)
    assert all(line.tags.get("server", "") == UNHELD.sub("\ufffd", server) for line in lines)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1))
def test_any_number_survives(value: float):
    readings = [Reading(FREE, ("a", "b"), value), Reading(READ, ("a", "b"), value)]
    writer = LineWriter("oss1")
    lines = parse_lines("".join(writer.lines(made_round(readings))))
    assert lines[0].value == float(value)
    if abs(value) >= 2**63:
        assert (len(lines), writer.problems) == (1, 1)
    else:
        assert lines[1].value == int(value)
        assert isinstance(lines[1].value, int)


def test_a_counter_always_has_one_type():
    """A field that once was an integer takes nothing else."""
    for value in (0, 1.0, 1.5, True):
        text = render_influx([made_round([Reading(READ, ("a", "b"), value)])], "oss1")
        assert f" value={int(value)}i " in text


def test_every_metric_is_a_line():
    lines = parse_lines(render_influx([whole_round()], "oss1"))
    assert {line.field for line in lines} == {"value"}
    assert {line.time_ns for line in lines} == {NS}


def test_strange_readings_are_left_out_and_counted():
    writer = LineWriter("oss1")
    for number in range(2):
        lines = parse_lines("".join(writer.lines(replace(STRANGE, at=START + number))))
        assert [line.tags["target"] for line in lines] == ["twice", "good"]
    assert writer.problems == 2 * STRANGE_COUNT


def times(steps: list[tuple[float, float]]) -> list[int]:
    """Times of rounds at pairs of the wall and the monotonic clock, in ns after START."""
    writer = LineWriter("oss1")
    found = []
    for at, monotonic in steps:
        made = made_round([Reading(FREE, ("a", "b"), 1)])
        text = "".join(writer.lines(replace(made, at=START + at, monotonic=monotonic)))
        found += [line.time_ns - NS for line in parse_lines(text)]
    return found


@pytest.mark.parametrize(
    ("steps", "seconds"),
    [
        ([(0, 0), (15, 15), (30, 30)], [0, 15, 30]),
        ([(0, 0), (75, 15), (90, 30)], [0, 75, 90]),  # set ahead
        ([(60, 0), (15, 15), (30, 30), (200, 45)], [60, 75, 90, 200]),  # back, and ahead again
        ([(0, 0), (5, 15)], [0, 5]),  # back, by less than a round
        ([(0, 0), (-7200, 15), (-7185, 30)], [0, -7200, -7185]),  # it had been wrong
    ],
)
def test_times_only_go_on(steps: list[tuple[float, float]], seconds: list[float]):
    assert times(steps) == [int(1e9 * one) for one in seconds]


def test_no_two_values_have_one_time():
    assert times([(0, 0), (0, 0), (0, 0)]) == [0, 1, 2]


@given(st.lists(st.tuples(st.floats(-3600, 3600), st.floats(0, 60)), max_size=20))
def test_steps_of_less_than_an_hour_never_turn_time_back(steps: list[tuple[float, float]]):
    monotonic, pairs = 0.0, []
    for at, passed in steps:
        monotonic += passed
        pairs.append((at / 4, monotonic))
    found = times(pairs)
    assert all(early < late for early, late in pairwise(found))


def test_collectors_have_times_of_their_own():
    rounds = [
        made_round([Reading(level("a_share", "share", "A."), (), 1)], 4, "one"),
        made_round([Reading(level("b_share", "share", "B."), (), 1)], 0, "two"),
    ]
    lines = parse_lines(render_influx(rounds, "oss1"))
    assert [line.time_ns for line in lines] == [NS + 60 * 10**9, NS]
    assert lines[1] == Line("b_share", {"server": "oss1"}, "value", 1.0, NS)
