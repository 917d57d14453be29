# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A store finds what comparing every study as a whole finds."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace

import pytest
from lessons import MACHINE, case, lesson
from test_parts import of_two_classes

from stripewise.core import PatternSummary
from stripewise.learning.knowledge import (
    Lesson,
    Store,
    StudiedCase,
    compare,
    lesson_of_part,
    matches_of,
    parts_of,
)

SHAPES = (
    (("BLOCK",), (8,), (1 << 18,)),
    (("BLOCK", "*"), (8, 1), (64, 4096)),
    (("*", "BLOCK"), (1, 8), (64, 512)),
    (("BLOCK", "BLOCK", "BLOCK"), (2, 2, 2), (60, 100, 300)),
    (("CYCLIC(16)", "*"), (8, 1), (256, 3)),
    (("BLOCK", "*", "*", "*"), (8, 1, 1, 1), (80, 8, 8, 8)),
)


def some_case(chance: random.Random) -> StudiedCase:
    plain = case(
        replace(MACHINE, cpu=chance.choice(["A", "B"]), kernel=f"{chance.randint(4, 6)}.1")
    )
    patterns = []
    for share in (0.8, 0.2)[: chance.randint(1, 2)]:
        names, grid, block = chance.choice(SHAPES)
        scale = 2 ** chance.randint(0, 5)
        patterns.append(
            PatternSummary(
                chance.random() < 0.9, names, grid, (block[0] * scale, *block[1:]),
                chance.choice([4, 8]), collective=chance.choice([0.0, 1.0]), share=share,
            )
        )  # fmt: skip
    fingerprint = replace(
        plain.fingerprint,
        n_ranks=8 * 2 ** chance.randint(0, 6),
        patterns=tuple(patterns),
        volume_log2=round(chance.uniform(20, 40), 3),
        bytes_per_call_log2=round(chance.uniform(10, 24), 3),
        calls_per_rank_log2=round(chance.uniform(0, 12), 3),
        collective_share=float(chance.random() < 0.5),
        executable_sha256=chance.choice(["", f"{chance.randint(0, 9):064x}"[::-1]]),
    )
    stack = replace(plain.stack, mpi_version=chance.choice(["4.0.2", "4.1.1", "3.4"]))
    return replace(plain, fingerprint=fingerprint, stack=stack)


@pytest.fixture
def many() -> list[Lesson]:
    chance = random.Random(7)
    return [lesson(of=some_case(chance), at=float(at)) for at in range(300)]


def studies(question: StudiedCase, lessons: list[Lesson]) -> list[Lesson]:
    """Return what comparing every study as a whole finds."""
    return [match.study for match in matches_of(question, lessons)]


def test_the_nearest_are_those_of_a_comparison_of_all(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many)
    chance = random.Random(11)
    for question in (some_case(chance) for _ in range(10)):
        expected = studies(question, many)
        assert store.nearest(question, 400) == (expected, len(many))
        assert store.nearest(question, 8) == (expected[:8], len(many))


def test_no_case_is_ruled_out_that_is_near(many):
    chance = random.Random(5)
    for question in (some_case(chance) for _ in range(10)):
        near = [one for one in many if compare(question, one.case).is_near]
        assert sorted(one.study_id for one in near) == sorted(
            one.study_id for one in studies(question, many)
        )


def test_a_class_of_files_is_found_by_itself(tmp_path):
    store = Store(tmp_path / "knowledge.sqlite")
    study = lesson(of=of_two_classes())
    store.add([study])
    checks = parts_of(study.case)["chk*.dat"]
    assert store.nearest(checks) == ([study], 1)
    (match,) = matches_of(checks, [study])
    assert (match.match, match.likeness.distance) == ("chk*.dat", 0)
    assert match.lesson == lesson_of_part(study, "chk*.dat")


def test_what_is_forgotten_is_not_found(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many)
    gone = [one.study_id for one in many[::2]]
    assert store.forget([*gone, "0" * 32]) == len(gone)
    question = many[1].case
    found, known = store.nearest(question, 400)
    assert known == 150
    assert found == studies(question, many[1::2])


def test_a_damaged_study_is_said(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:20])
    question = many[0].case
    before, _ = store.nearest(question)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE study SET document = '{' WHERE id = ?", (many[0].study_id,))
    after, _ = store.nearest(question)
    assert after == before[1:]
    assert "skipped 1 study" in store.damage


def test_a_row_with_an_odd_identity_can_be_forgotten(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:3])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE study SET id = 'odd' WHERE id = ?", (many[0].study_id,))
    assert store.forget(["odd", many[1].study_id]) == 2
    found, _ = store.nearest(many[2].case)
    assert found == [many[2]]


def test_nothing_is_near_in_an_empty_store(tmp_path):
    assert Store(tmp_path / "none").nearest(case()) == ([], 0)


def test_a_study_with_an_impossible_pattern_is_passed_over(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:20])
    question = many[0].case
    before, _ = store.nearest(question)
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE study SET document = json_set(document,"
            " '$.case.fingerprint.patterns[0].grid[0]', -7) WHERE id = ?",
            (many[0].study_id,),
        )
    after, known = store.nearest(question)
    assert (after, known) == (before[1:], 20)
    assert "skipped 1 study" in store.damage
