# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Equal calls fold into runs, and every single call can be told from them again."""

from __future__ import annotations

import random

import numpy as np
import pytest
from capture_hosts import NAMES, Call, calls_of, play, rows_named
from native_hosts import Host, Programs

from stripewise.evidence.trace import EventFlag


def expected(calls: list[Call]) -> list[tuple[int, str, int, int]]:
    """What the trace says of a script of one thread: open is call 1."""
    told = []
    position = 0
    for number, (what, first, size) in enumerate(calls, 2):
        offset = first if what in "wrt" else 0
        if what == "s":
            position = first
        if what == "W":
            offset = position
            position += size
        told.append((number, NAMES[what], offset, size if what in "wrW" else 0))
    return told


def loop(*levels: tuple[int, int], size: int = 64, what: str = "w", start: int = 0) -> list[Call]:
    """Nested loops, the innermost one last: (number, stride)."""
    offsets = [start]
    for number, stride in levels:
        offsets = [offset + i * stride for offset in offsets for i in range(number)]
    return [(what, offset, size) for offset in offsets]


@pytest.mark.parametrize(
    ("levels", "inner", "stride"),
    [
        (((100, 64),), (0, 0), (64, 0, 0)),
        (((7, 0),), (0, 0), (0, 0, 0)),
        (((20, 1000), (10, 64)), (10, 0), (64, 1000, 0)),
        (((5, 100_000), (7, 1000), (9, 64)), (9, 7), (64, 1000, 100_000)),
        (((3, 9), (2, -700), (2, 5000)), (2, 2), (5000, -700, 9)),
    ],
)
def test_nested_loops_are_one_record(
    host: Host,
    programs: Programs,
    levels: tuple[tuple[int, int], ...],
    inner: tuple[int, int],
    stride: tuple[int, int, int],
) -> None:
    calls = loop(*levels, start=1000)
    trace = play(host, programs, calls)
    rows = rows_named(trace, "pwrite")
    assert len(rows) == 1
    assert rows[0]["count"] == len(calls)
    assert tuple(rows[0]["inner"]) == inner
    assert tuple(rows[0]["stride"]) == stride
    assert calls_of(trace, rows) == expected(calls)


def test_turns_of_two_functions_fold_by_function(host: Host, programs: Programs) -> None:
    calls = [call for k in range(100) for call in (("s", k * 500, 0), ("W", 0, 64))]
    trace = play(host, programs, calls)
    assert [len(rows_named(trace, name)) for name in ("lseek", "write")] == [1, 1]
    assert calls_of(trace, rows_named(trace, "write"))[7] == (17, "write", 3500, 64)
    flags = EventFlag(int(rows_named(trace, "write")[0]["flags"]))
    assert flags == EventFlag.POINTER


def test_random_offsets_cost_less_than_an_event_each(host: Host, programs: Programs) -> None:
    chance = random.Random(1)
    calls: list[Call] = [("w", chance.randrange(1 << 20), 64) for _ in range(3000)]
    trace = play(host, programs, calls)
    rows = rows_named(trace, "pwrite")
    assert len(rows) <= 1001
    assert calls_of(trace, rows) == expected(calls)


def phases(chance: random.Random, n_phases: int) -> list[Call]:
    """Loops, turns and noise, broken off anywhere."""
    calls: list[Call] = []
    for _ in range(n_phases):
        levels = tuple(
            (chance.randrange(1, 9), chance.choice((0, 64, 100, 4096, -64)))
            for _ in range(chance.randrange(1, 5))
        )
        size = chance.choice((1, 64, 64, 100, 4096))
        some = loop(*levels, size=size, what=chance.choice("wwr"), start=1 << 20)
        some = some[: chance.randrange(1, len(some) + 1)]
        for call in some:
            calls.append(call)
            if chance.random() < 0.02:
                calls.append(chance.choice((("f", 0, 0), ("t", 1 << 22, 0), ("s", 7, 0))))
            if chance.random() < 0.05:
                calls.append(("W", 0, chance.choice((10, 64))))
    return calls


@pytest.mark.parametrize("capture", ["fold", "all"])
@pytest.mark.parametrize("seed", range(4))
def test_every_call_comes_back(host: Host, programs: Programs, seed: int, capture: str) -> None:
    calls = [("t", 1 << 23, 0), *phases(random.Random(seed), 150)]
    trace = play(host, programs, calls, capture=capture)
    told = calls_of(trace)
    assert told[0][1] == "open"
    assert told[-1][1] == "close"
    assert told[1:-1] == expected(calls)
    if capture == "fold":
        assert len(trace.rows) < len(told) / 2
    else:
        assert (trace.rows["count"] == 1).all()


def test_figures_of_a_run(host: Host, programs: Programs) -> None:
    trace = play(host, programs, loop((1000, 64)))
    row = rows_named(trace, "pwrite")[0]
    assert int(row["durations"].sum()) == 1000
    assert 0 < row["min_ns"] <= row["busy_ns"] // 1000 <= row["max_ns"] <= row["busy_ns"]
    assert row["start_ns"] < row["last_start_ns"] < row["end_ns"]
    assert row["busy_ns"] < row["end_ns"] - row["start_ns"]


def test_open_says_what_was_asked_for(host: Host, programs: Programs) -> None:
    trace = play(host, programs, loop((3, 64)))
    row = rows_named(trace, "open")[0]
    assert row["offset"] == 0x1 | 0x2 | 0x4 | 0x8
    assert row["depth"] == 0
    assert row["parent"] == -1


def test_more_functions_than_slots(host: Host, programs: Programs) -> None:
    """Runs give way to others, and none of their calls is lost."""
    calls: list[Call] = [
        ("w", k * 64 + size * 100_000, size) for k in range(20) for size in range(1, 200)
    ]
    trace = play(host, programs, calls)
    assert calls_of(trace, rows_named(trace, "pwrite")) == expected(calls)
    assert np.unique(trace.rows["sequence"]).size == len(trace.rows)
