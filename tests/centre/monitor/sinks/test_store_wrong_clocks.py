# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clocks that are wrong by far, for a while or for long: no time is told twice, and it ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from stripewise.centre.database.tables import Event, MonitorState
from stripewise.centre.monitor.sinks._store_series import (
    DOUBT_SECONDS,
    FAR_SECONDS,
    SLEW_SHARE,
    SinkClock,
)
from support.monitor_targets import T0, Target
from support.store_agents import Agent, loads, rows, samples, started

YEAR = 365 * 86400.0
MINUTE = 60.0


class Server:
    """A server that does the same in each minute, and whose clock may be wrong."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.target = Target("OST0000")
        self.minute = 0
        self.restart()

    def restart(self) -> None:
        self.agent: Agent = started(self.engine)

    def run(self, minutes: int, shift: float = 0.0) -> None:
        for _ in range(minutes):
            now = T0 + MINUTE * self.minute
            self.minute += 1
            self.target.work("7", "write", 100, at=T0)
            found = self.agent.reader.round([self.target], now, shift=shift)
            self.agent.sink.take(found)
            self.agent.sink.deliver()

    def told(self) -> list[tuple[float, float, float]]:
        """Begin and end of samples in minutes, and amounts; none overlap, none is missing."""
        found = [
            ((row[3] - T0) / 60, (row[3] + row[4] - T0) / 60, row[5])
            for row in samples(self.engine, "write_bytes")
        ]
        assert all(one[1] <= two[0] for one, two in pairwise(found))
        return found

    def events(self) -> list[str]:
        return [row[0] for row in rows(self.engine, select(Event.text).order_by(Event.at))]


@pytest.mark.extended
def test_a_clock_that_is_wrong_for_some_minutes_is_not_believed(engine: Engine) -> None:
    server = Server(engine)
    server.run(5)
    server.run(8, shift=YEAR)
    server.run(5, shift=0.0)
    server.run(8, shift=-YEAR)
    server.run(30)
    found = server.told()
    assert [one for one in found if not 0 <= one[0] <= server.minute] == []
    assert sum(one[2] for one in found) == 100 * (server.minute - 1)
    assert max(one[1] - one[0] for one in found) <= 10
    assert all(0 <= (row[2] - T0) / 60 <= server.minute for row in loads(engine))
    assert server.events() == []


@pytest.mark.extended
def test_a_clock_that_is_a_year_ahead_at_the_start_is_set_right(engine: Engine) -> None:
    server = Server(engine)
    server.run(3, shift=YEAR)
    server.run(60)
    found = server.told()
    late = [one for one in found if one[0] > YEAR / 120]
    assert len(late) == 2, "what had been told before it was set"
    assert sum(one[2] for one in found) == 100 * (server.minute - 1)
    assert found[len(found) - len(late) - 1][1] == pytest.approx(server.minute - 1, abs=0.1)
    (text,) = server.events()
    assert "the clock of oss1 was ahead by" in text
    assert sum(row[5] for row in loads(engine) if row[0] == "7") <= 100 * server.minute
    ((at,),) = set(rows(engine, select(MonitorState.at).where(MonitorState.part == "series")))
    assert at == pytest.approx(T0 + MINUTE * (server.minute - 1), abs=70)


@pytest.mark.extended
@pytest.mark.parametrize("is_at_once", [True, False])
def test_it_is_so_across_a_restart(engine: Engine, is_at_once: bool) -> None:
    server = Server(engine)
    server.run(20, shift=YEAR)
    if not is_at_once:
        server.run(5)
    server.restart()
    server.run(15)
    server.restart()
    server.run(30)
    found = server.told()
    assert sum(one[2] for one in found) == 100 * (server.minute - 1)
    true = [one for one in found if one[0] < YEAR / 120]
    assert true[-1][1] == pytest.approx(server.minute - 1, abs=0.1)
    assert len(server.events()) == 1


@pytest.mark.extended
def test_a_clock_that_begins_in_1970_is_not_told(engine: Engine) -> None:
    server = Server(engine)
    server.run(20)
    server.restart()
    server.run(5, shift=-T0)
    server.run(30)
    found = server.told()
    assert found[0][0] >= 0
    assert found[-1][1] == pytest.approx(server.minute - 1, abs=0.1)
    assert sum(one[2] for one in found) == 100 * (server.minute - 1)


@pytest.mark.extended
def test_what_was_told_of_the_future_is_left_out_when_it_comes(engine: Engine) -> None:
    """A day instead of a year: a pause of over a day would have no date."""
    server = Server(engine)
    server.run(10, shift=0.9 * 86400)
    server.run(30)
    server.minute = 21 * 60
    server.run(90)
    found = server.told()  # none overlap
    assert found[-1][1] == pytest.approx(server.minute - 1, abs=1.1)
    assert sum(one[2] for one in found) == 100 * (10 + 30 + 90 - 1)


def test_where_all_has_been_told_it_comes_back_slowly() -> None:
    clock = SinkClock(T0 + 2 * 86400, 0.0)
    for second in range(0, 5 * 86400, 600):
        clock.note(T0 + 2 * 86400 + second, float(second))
    for second in range(5 * 86400, 6 * 86400, 60):
        clock.note(T0 + second, float(second))
    now = clock.wall(6 * 86400.0) - clock.lead_seconds
    ahead = now - (T0 + 6 * 86400)
    assert ahead == pytest.approx(2 * 86400 - SLEW_SHARE * 86400, abs=2 * DOUBT_SECONDS)
    assert clock.set_back() == []


steps = st.lists(
    st.tuples(
        st.integers(1, 40),
        st.sampled_from((-YEAR, -2 * FAR_SECONDS, -60.0, 0.0, 60.0, 2 * FAR_SECONDS, YEAR)),
    ),
    max_size=12,
)


@given(plan=steps, restarts=st.sets(st.integers(0, 11)))
def test_no_time_is_told_twice(plan: list[tuple[int, float]], restarts: set[int]) -> None:
    """What is cut every minute where it is not held, as a series is."""
    monotonic, clock = 0.0, SinkClock(T0, 0.0)
    told: list[tuple[float, float]] = []
    until, since = clock.wall(0.0), 0.0
    for number, (minutes, shift) in enumerate(plan):
        if number in restarts:
            clock = _again(clock, T0 + monotonic + shift, monotonic)
        for _ in range(minutes):
            monotonic += 60.0
            clock.note(T0 + monotonic + shift, monotonic)
            end = clock.wall(monotonic)
            begin = max(until, clock.floor, clock.wall(since))
            if not clock.is_held and end > begin:
                assert clock.wall(monotonic) >= until, "its own time never goes back"
                told.append((begin - clock.target_of_move(end), end - clock.target_of_move(end)))
                until, since = end, monotonic
                clock.note_cut()
    told.sort()
    assert all(one[1] <= two[0] + 1e-3 for one, two in pairwise(told))


def _again(clock: SinkClock, at: float, monotonic: float) -> SinkClock:
    memory: dict[str, Any] = clock.memory()
    told_at = clock.wall(monotonic)
    made = SinkClock(max(at + memory["lead"], told_at), monotonic, told_at)
    made.recall(memory)
    return made
