# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Connection

from stripewise.centre.database.queries import (
    NOBODY,
    JobFilter,
    PatternFilter,
    Period,
    list_jobs,
    public_patterns,
    public_seconds,
    search_patterns,
)
from stripewise.core.errors import UsageError
from support.survey_world import NOW, ran, staff, store, user

PERIOD = Period.parse({}, NOW)
CUBE, LINE = "<3D, (BLOCK, *, *)>", "<1D, (BLOCK)>"


@pytest.fixture
def filled(connection: Connection) -> Connection:
    store(connection, [
        ran(1, patterns=[(CUBE, True, 20.0), (CUBE, False, None), (LINE, True, 1.0)]),
        ran(2, program="other", patterns=[(CUBE, True, 5.0)]),
        ran(3, user="bob", project="p2", patterns=[(CUBE, True, 100.0)]),
        ran(4, days=200, patterns=[(CUBE, True, 999.0)]),
    ])  # fmt: skip
    return connection


def _found(connection: Connection, viewer: object, **words: str) -> list[tuple[object, ...]]:
    asked = PatternFilter.parse(words)
    rows = search_patterns(connection, viewer, asked, PERIOD)  # type: ignore[arg-type]
    return [tuple(row.values()) for row in rows]


def test_forms_by_what_they_lose(filled: Connection) -> None:
    assert _found(filled, user(filled, "ann")) == [
        (CUBE, True, 2, 2, 1, 25.0), (LINE, True, 1, 1, 1, 1.0), (CUBE, False, 1, 1, 1, None),
    ]  # fmt: skip
    assert _found(filled, staff())[0] == (CUBE, True, 3, 2, 2, 125.0)
    assert _found(filled, user(filled, "bob")) == [(CUBE, True, 1, 1, 1, 100.0)]
    assert _found(filled, user(filled, "bob", "p1"))[0] == (CUBE, True, 3, 2, 2, 125.0)
    assert _found(filled, NOBODY) == []


def test_a_search_as_people_write_it(filled: Connection) -> None:
    ann = user(filled, "ann")
    words = {"pattern": "<3D,(BLOCK,*,*)>", "direction": "write", "least_lost_seconds": "10"}
    assert _found(filled, ann, **words) == [(CUBE, True, 1, 1, 1, 20.0)]
    assert _found(filled, ann, pattern="BLOCK", direction="read") == [
        (CUBE, False, 1, 1, 1, None)
    ]  # fmt: skip
    assert _found(filled, ann, pattern="100%_") == []
    with pytest.raises(UsageError, match="direction"):
        PatternFilter.parse({"direction": "sideways"})


def test_jobs_of_a_pattern_lose_in_that_pattern(filled: Connection) -> None:
    """The form, the direction and the loss are of one row, not of any three."""
    ann = user(filled, "ann")

    def jobs(**words: str) -> list[int]:
        rows = list_jobs(filled, ann, JobFilter.parse({"since": "2026-03-01", **words})).rows
        return sorted(row.raw_id for row in rows)

    assert jobs(pattern="<3D,(BLOCK,*,*)>", least_lost_seconds="4") == [1, 2]
    assert jobs(pattern=CUBE, direction="write", least_lost_seconds="10") == [1]
    assert jobs(pattern=CUBE, direction="read", least_lost_seconds="10") == []
    assert jobs(pattern=LINE, least_lost_seconds="10") == []
    assert jobs(least_lost_seconds="10") == [1]


def test_all_users_together(connection: Connection) -> None:
    store(connection, [
        ran(n, user=f"user{n}", days=60, patterns=[(CUBE, True, 17.77), (LINE, True, n * 1.0)])
        for n in range(6)
    ])  # fmt: skip
    store(connection, [ran(99, user="user0", days=60, patterns=[("<2D, (*, *)>", True, 50.0)])])
    asked = PatternFilter.parse({"least_lost_seconds": "12"})
    rows = public_patterns(connection, asked, NOW)
    assert [tuple(row.values()) for row in rows] == [(CUBE, True, 5, 5, 110.0)]
    every = public_patterns(connection, PatternFilter(), NOW)
    assert {row["form"] for row in every} == {CUBE, LINE}


def test_what_few_users_lose_is_not_for_all(connection: Connection) -> None:
    store(connection, [
        ran(n, user=f"user{n}", days=60, patterns=[(CUBE, True, 10.0 if n < 4 else None)])
        for n in range(6)
    ])  # fmt: skip
    (row,) = public_patterns(connection, PatternFilter(), NOW)
    assert (row["user_count"], row["lost_seconds"]) == (5, None)


def test_least_losses_for_all_users_are_far_apart() -> None:
    found = [public_seconds(asked) for asked in (None, 0.0, 0.5, 1.0, 9.99, 10.0, 5e6)]
    assert found == [None, 0.0, 0.0, 1.0, 1.0, 10.0, 1000.0]
