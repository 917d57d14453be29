# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever the calls, their runs hold each of them once, with offset, order and time."""

from __future__ import annotations

import random

import pytest
from native_hosts import NATIVE, Host, Programs

INCLUDES = (f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'runtime'}")
WRAP = 1 << 64
EDGES = (0, 1, 64, 4096, -64, 1 << 62, (1 << 63) - 1, -(1 << 63))

Call = tuple[int, int, int]
"""What it has in common with others, offset, sequence."""


def runs_of(host: Host, programs: Programs, calls: list[Call], *options: str) -> list[list[int]]:
    """The runs that fold.c makes of the calls."""
    script = host.directory / "calls"
    script.write_text("".join(f"{key} {offset} {number}\n" for key, offset, number in calls))
    program = programs.executable("folds", *INCLUDES, *options)
    lines = host.check(program, script, LD_PRELOAD="").decode().splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def signed(value: int) -> int:
    """As int64_t holds it."""
    return (value + (WRAP >> 1)) % WRAP - (WRAP >> 1)


def unfolded(runs: list[list[int]]) -> list[Call]:
    """Every call again, as trace.h says."""
    calls = []
    for key, offset, sequence, count, inner0, inner1, *rest in runs:
        stride, order = rest[:3], rest[3:6]
        for k in range(count):
            row, i = divmod(k, inner0) if inner0 else (0, k)
            plane, j = divmod(row, inner1) if inner1 else (0, row)
            at = [
                first + i * by[0] + j * by[1] + plane * by[2]
                for first, by in ((offset, stride), (sequence, order))
            ]
            calls.append((key, signed(at[0]), at[1] % WRAP))
    return calls


def stream(chance: random.Random) -> list[int]:
    """Offsets of nested loops, broken off, with a disturbance."""
    offsets = [chance.choice((0, 4096, *EDGES))]
    for _ in range(chance.randrange(0, 5)):
        stride = chance.choice((0, 8, 64, 100, -64, chance.randrange(1 << 20), *EDGES))
        number = chance.choice((1, 2, 2, 3, 4, 7))
        offsets = [signed(offset + i * stride) for offset in offsets for i in range(number)]
    if chance.random() < 0.5:
        del offsets[chance.randrange(len(offsets)) :]
    if offsets and chance.random() < 0.5:
        offsets[chance.randrange(len(offsets))] = chance.choice(EDGES)
    return offsets


def program(chance: random.Random, n_keys: int) -> list[Call]:
    """Streams of several keys in turns, regular or not, with gaps in the order of calls."""
    queues = {key: stream(chance) for key in range(1, n_keys + 1)}
    regular = chance.random() < 0.5
    calls: list[Call] = []
    number = chance.choice((1, 1, 1 << 40))
    while any(queues.values()):
        left = [key for key, queue in queues.items() if queue]
        for key in left if regular else [chance.choice(left)]:
            calls.append((key, queues[key].pop(0), number))
            number += 1 if chance.random() < 0.95 else chance.randrange(1, 50)
    return calls


@pytest.mark.parametrize("n_keys", [1, 2, 3, 20, 200])
def test_any_sequence_of_calls_comes_back(host: Host, programs: Programs, n_keys: int) -> None:
    chance = random.Random(n_keys)
    calls: list[Call] = []
    while len(calls) < 6_000:
        more = program(chance, n_keys)
        calls += [(key, offset, number + len(calls) * 1000) for key, offset, number in more]
    runs = runs_of(host, programs, calls)
    assert sorted(unfolded(runs)) == sorted(calls)
    assert all(run[12] == run[3] for run in runs)  # the histogram has every call
    assert sum(run[13] for run in runs) == sum(o % WRAP % 5000 for _, o, _ in calls)


def test_a_run_ends_before_its_histogram_runs_over(host: Host, programs: Programs) -> None:
    calls = [(1, 64 * k, k + 1) for k in range(1000)]
    limited = Programs(programs.directory / "limited")
    limited.directory.mkdir(exist_ok=True)
    runs = runs_of(host, limited, calls, "-DSW_MOST_CALLS=UINT64_C(300)")
    assert [run[3] for run in runs] == [300, 300, 300, 100]
    assert unfolded(runs) == calls


def test_twenty_streams_in_turns_are_twenty_runs(host: Host, programs: Programs) -> None:
    """Slots are shared by the keys that there are, whatever their hash."""
    calls = [(64 * key, row * 4096, row * 20 + key) for row in range(100) for key in range(1, 21)]
    runs = runs_of(host, programs, calls)
    assert len(runs) == 20
    assert sorted(unfolded(runs)) == sorted(calls)
