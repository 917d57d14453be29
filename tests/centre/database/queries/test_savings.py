# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Proofs and what came of them: counted once, for those who may see them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from stripewise.centre.database.queries import (
    NOBODY,
    Period,
    Role,
    Viewer,
    pair_settings,
    program_pairs,
    savings_ledger,
)
from stripewise.centre.database.queries._gains import _Sum, visible_settings
from stripewise.centre.database.tables import PairedRun, Program, Project
from support.survey_world import CONFIGURATION, NOW, proved, ran, staff, store, user

PERIOD = Period.parse({}, NOW, 365)
FOUR = [("cb_nodes", "4")]


def _sums(connection: Connection, viewer: Viewer) -> list[tuple[Any, ...]]:
    ledger = savings_ledger(connection, viewer, PERIOD)
    assert sum(row["run_count"] for row in ledger.projects) == sum(
        one.run_count for one in ledger.savings
    )
    return [(one.run_count, one.saved_seconds, one.saved_node_seconds) for one in ledger.savings]


def test_later_runs_with_all_settings_count(connection: Connection) -> None:
    store(connection, [
        [proved(saved=30.0)], ran(1, days=10, nodes=2, settings=FOUR),
        ran(2, days=9, nodes=8, settings=[*FOUR, ("striping_unit", "1")]),
        ran(3, days=8, settings=[("cb_nodes", "8")]), ran(4, days=7),
        ran(5, days=30, settings=FOUR), ran(6, days=6, program="other", settings=FOUR),
    ])  # fmt: skip
    assert _sums(connection, user(connection, "ann")) == [(2, 60.0, 300.0)]
    [row] = savings_ledger(connection, staff(), PERIOD).projects
    assert row == {
        "project": "p1", "program": "ocean", "run_count": 2, "saved_seconds": 60.0,
        "saved_node_seconds": 300.0, "missing": {},
    }  # fmt: skip


def test_files_that_the_settings_are_not_for_do_not_count(connection: Connection) -> None:
    other = CONFIGURATION.replace("*.h5", "*.nc")
    store(connection, [[proved(configuration=other)], ran(1, settings=FOUR)])
    assert _sums(connection, staff()) == [(0, 0.0, 0.0)]


def test_a_run_counts_once_for_the_newest_proof(connection: Connection) -> None:
    store(connection, [
        [proved("old", days=40, saved=10.0)], [proved("new", days=20, saved=25.0)],
        ran(1, days=30, settings=FOUR), ran(2, days=5, settings=FOUR),
    ])  # fmt: skip
    assert _sums(connection, staff()) == [(1, 25.0, 50.0), (1, 10.0, 20.0)]


@pytest.mark.extended(keep=1)
def test_settings_that_no_profile_shows_cannot_be_traced(connection: Connection) -> None:
    store(connection, [
        [proved("job", configuration='version = 1\n\n[job]\nenvironment = { A = "1" }\n')],
        [proved("bad", configuration="not [toml", days=19)], ran(1, settings=FOUR),
    ])  # fmt: skip
    ledger = savings_ledger(connection, staff(), PERIOD)
    assert [one.is_traceable for one in ledger.savings] == [False, False]
    assert ledger.projects == []


def test_settings_of_a_configuration() -> None:
    assert visible_settings(CONFIGURATION) == (("*.h5", {"cb_nodes": "4"}),)
    assert (
        visible_settings('version = 1\n\n[[file]]\nmatch = "a"\nhdf5 = { page_size = 1 }\n') == ()
    )


@pytest.fixture
def filled(connection: Connection) -> Connection:
    store(connection, [
        [proved()], ran(1, settings=FOUR), ran(2, user="bob", settings=FOUR),
        ran(3, user="eve", project="p2", settings=FOUR),
    ])  # fmt: skip
    return connection


def test_who_sees_a_proof(filled: Connection) -> None:
    for viewer, expected in (
        (user(filled, "ann"), [(1, 30.0, 60.0)]),
        (user(filled, "bob"), []),
        (user(filled, "bob", "p1"), [(2, 60.0, 120.0)]),
        (user(filled, "eve", "p2"), []),
        (staff(), [(3, 90.0, 180.0)]),
        (NOBODY, []),
    ):
        assert _sums(filled, viewer) == expected
        key = filled.scalar(select(Program.id).where(Program.name == "ocean"))
        assert key is not None
        assert len(program_pairs(filled, viewer, key)) == len(expected)


def test_a_proof_of_a_user_with_two_projects_is_of_none(filled: Connection) -> None:
    store(filled, [ran(9, user="ann", project="p2")])
    assert _sums(filled, user(filled, "bob", "p1")) == []
    key = filled.scalar(select(Project.id).where(Project.name == "p1"))
    filled.execute(update(PairedRun).values(project_id=key))
    assert len(_sums(filled, user(filled, "bob", "p1"))) == 1
    assert _sums(filled, user(filled, "eve", "p2")) == []


def test_settings_are_for_the_owner_and_the_staff(filled: Connection) -> None:
    key = filled.scalar(select(PairedRun.id))
    assert key is not None
    for viewer, is_allowed in (
        (user(filled, "ann"), True), (staff(), True), (staff(Role.ADMIN), True),
        (user(filled, "bob", "p1"), False), (user(filled, "bob"), False), (NOBODY, False),
    ):  # fmt: skip
        found = pair_settings(filled, viewer, key)
        assert (found is not None) == is_allowed
        if found is not None:
            assert (found.configuration, found.hints) == (CONFIGURATION, "export A=1")
    for other in (0, -1, key + 1, 1 << 70):
        assert pair_settings(filled, staff(), other) is None


def test_what_is_not_known_of_a_saving_is_not_zero() -> None:
    """A run without nodes, and one after a proof that does not tell what it saves."""
    both = _Sum()
    both.add(30.0, 2)
    both.add(30.0, None)
    assert both.figures == {
        "saved_seconds": 60.0, "saved_node_seconds": 60.0,
        "missing": {"saved_node_seconds": "the nodes of a run are not known"},
    }  # fmt: skip
    unknown = _Sum()
    unknown.add(None, 2)
    assert (unknown.run_count, unknown.figures["saved_seconds"]) == (1, None)
    assert set(unknown.figures["missing"]) == {"saved_seconds", "saved_node_seconds"}
