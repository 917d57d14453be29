# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures over all users: of enough of them, and not of one who makes most of a figure."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.queries import FEWEST_USERS
from support.portal_world import (
    LOST_SECONDS,
    NOW,
    OTHERS,
    PLAIN,
    World,
    ask,
    client,
    make_world,
    store_bob,
)


def _everybody(world: World, words: str = "") -> list[dict[str, Any]]:
    with client(world) as made:
        answer = ask(made, f"/patterns?as=json{words}", world.headers("alice"))
    rows: list[dict[str, Any]] = answer.json()["everybody"]["rows"]
    return rows


def _programs(world: World) -> str:
    with client(world) as made:
        return str(ask(made, "/programs?as=json", world.headers("alice")).text)


def test_of_four_users_nothing_is_shown(world: World) -> None:
    assert len(OTHERS) + 1 == FEWEST_USERS - 1  # with bob
    assert _everybody(world) == []
    assert "common" not in _programs(world)


@pytest.mark.extended
def test_from_five_users_on_figures_are_shown_rounded(engine: Engine) -> None:
    world = make_world(engine, with_bob=False, more_users=("henry", "irene", "jack"))
    (row,) = _everybody(world)
    assert (row["form"], row["job_count"], row["user_count"]) == (PLAIN, 5, 5)
    assert row["lost_seconds"] == 18.0
    assert "common" in _programs(world)


@pytest.mark.extended
def test_what_one_user_makes_for_the_most_part_is_not_shown(engine: Engine) -> None:
    world = make_world(engine, more_users=("henry",))  # and bob loses more than all others
    (row,) = _everybody(world)
    assert row["lost_seconds"] is None
    assert f"{LOST_SECONDS:.2g}" not in str(_everybody(world))


@pytest.mark.extended
@pytest.mark.parametrize("least", ["0", "0.5", "1", "2.9", "3", "3.1", "100", "5000", "1e17"])
def test_thresholds_do_not_single_out_a_user(engine: Engine, least: str) -> None:
    world = make_world(engine, more_users=("henry", "irene"))
    rows = _everybody(world, f"&least_lost_seconds={least}")
    assert all(row["job_count"] >= FEWEST_USERS for row in rows)
    assert all(row["lost_seconds"] is None for row in rows)


@pytest.mark.extended
def test_periods_do_not_single_out_a_user(engine: Engine) -> None:
    """The time of figures over everybody cannot be chosen."""
    world = make_world(engine, more_users=("henry", "irene"))
    whole = _everybody(world)
    for days in range(1, 90, 8):
        words = f"&since={NOW - days * 86400}&until={NOW - (days - 1) * 86400}"
        assert _everybody(world, words) == whole


@pytest.mark.extended
def test_one_more_job_of_somebody_shows_nothing_of_it(engine: Engine) -> None:
    world = make_world(engine, with_bob=False, more_users=("henry", "irene"))
    before = _everybody(world), _programs(world)
    store_bob(engine)
    after = _everybody(world)
    assert [row["job_count"] for row in after] == [row["job_count"] for row in before[0]]
    assert f"{LOST_SECONDS:.2g}" not in str(after)
