# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds on a grid, steps of clocks, pauses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor.agent._collecting import Backoff, Grid, StepWatch
from support.monitor_parts import SetClock


def test_rounds_do_not_drift() -> None:
    grid = Grid(100.0, 15.0)
    starts = [grid.next(100.0 + 15.0 * k + 3.7)[0] for k in range(1000)]
    assert starts == [100.0 + 15.0 * (k + 1) for k in range(1000)]


def test_a_late_round_skips_and_says_how_many() -> None:
    grid = Grid(0.0, 10.0)
    assert grid.next(3.0) == (10.0, 0)
    assert grid.overdue(19.0) == 0
    assert grid.overdue(35.0) == 2
    assert grid.next(35.0) == (40.0, 2)
    assert grid.next(50.0) == (50.0, 0)


@given(st.lists(st.floats(0.0, 500.0), max_size=30), st.sampled_from([1.0, 15.0, 60.0]))
def test_each_point_of_the_grid_is_a_round_or_is_skipped(
    lengths: list[float], interval_seconds: float
) -> None:
    grid, now, rounds, skipped = Grid(0.0, interval_seconds), 0.0, 0, 0
    for length in lengths:
        now += length
        before = skipped + grid.overdue(now)
        at, missed = grid.next(now)
        rounds, skipped = rounds + 1, skipped + missed
        assert at >= now
        assert skipped >= before or now == at  # what is told meanwhile never falls
        now = at
        assert now == (rounds + skipped) * interval_seconds


def test_a_step_of_the_clock_is_told_once() -> None:
    clock = SetClock()
    watch = StepWatch(clock)  # type: ignore[arg-type]
    clock.pass_by(15)
    assert watch.look() == 0.0
    clock.wall_seconds -= 3600
    assert watch.look() == -3600.0
    clock.pass_by(15)
    assert watch.look() == 0.0
    clock.wall_seconds += 0.9  # slewed
    assert watch.look() == 0.0
    assert watch.count == 1


def test_pauses_grow_to_a_minute_and_begin_anew() -> None:
    pauses = Backoff()
    assert [pauses.next() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    pauses.reset()
    assert pauses.next() == 1
