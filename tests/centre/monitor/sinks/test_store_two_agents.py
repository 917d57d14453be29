# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two agents that tell of one target at the same time are named; those of a failover are not."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.tables import Event
from support.monitor_targets import T0, Target
from support.store_agents import Agent, rows

pytestmark = pytest.mark.extended


def both(engine: Engine) -> tuple[Agent, Agent]:
    agents = Agent(engine, "oss1"), Agent(engine, "other")
    for one in agents:
        one.sink.deliver()
    return agents


def events(engine: Engine) -> list[tuple[str, str]]:
    return rows(engine, select(Event.kind, Event.text))


def test_the_same_targets_by_two_names(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    target, mine = Target("OST0000"), Target("OST0007")
    first, second = both(engine)
    with caplog.at_level(logging.WARNING):
        for minute in range(40):
            target.work("7", "write", 100)
            first.run([target, mine], 60.0 * minute)
            second.run([target], 60.0 * minute + 7)
    said = [one.getMessage() for one in caplog.records if "twice" in one.getMessage()]
    assert len(said) == 2, "each says it once"
    assert (
        "1 target of scratch (OST0000) is reported by the agents of oss1 and of other" in said[0]
    )
    assert "stop one of the two" in said[0]
    assert {kind for kind, _ in events(engine)} == {"counted-twice"}


@pytest.mark.parametrize("first_look", range(0, 10, 3))
def test_a_target_that_moves_between_servers(engine: Engine, first_look: int) -> None:
    """Whose clocks differ by almost as much as is allowed for."""
    target = Target("OST0000")
    first, second = both(engine)
    for one in (first, second):
        one.sink._look_at = T0 + 60.0 * (first_look - 10)
    for minute in range(90):
        target.work("7", "write", 100)
        is_first = (minute // 30) % 2 == 0
        found = first.reader.round([target] if is_first else [], T0 + 60.0 * minute)
        first.sink.take(found)
        first.sink.deliver()
        moved = [] if is_first else [target]
        found = second.reader.round(moved, T0 + 60.0 * minute, shift=-110.0)
        second.sink.take(found)
        second.sink.deliver()
    assert events(engine) == []


def test_other_targets_and_other_file_systems(engine: Engine) -> None:
    first, second = both(engine)
    one, two, three = Target("OST0000"), Target("OST0001"), Target("OST0000", "home")
    for minute in range(30):
        first.run([one], 60.0 * minute)
        second.run([two, three], 60.0 * minute)
    assert events(engine) == []


def test_one_that_took_its_place(engine: Engine) -> None:
    """An agent that was given another name."""
    target = Target("OST0000")
    first, second = both(engine)
    first.run([target], *(60.0 * minute for minute in range(30)))
    second.run([target], *(60.0 * minute for minute in range(30, 60)))
    assert events(engine) == []
