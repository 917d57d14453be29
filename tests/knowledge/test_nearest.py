# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The index of a store finds what comparing every case finds."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace

import pytest
from lessons import MACHINE, case, lesson, of_version
from test_parts import of_two_classes

from stripewise.core import PatternSummary
from stripewise.learning.knowledge import (
    Case,
    Lesson,
    Store,
    as_part,
    compare,
    matches_of,
    parts_of,
)
from stripewise.learning.knowledge import _index as index
from stripewise.learning.knowledge._similarity import NEAR

SHAPES = (
    (("BLOCK",), (8,), (1 << 18,)),
    (("BLOCK", "*"), (8, 1), (64, 4096)),
    (("*", "BLOCK"), (1, 8), (64, 512)),
    (("BLOCK", "BLOCK", "BLOCK"), (2, 2, 2), (60, 100, 300)),
    (("CYCLIC(16)", "*"), (8, 1), (256, 3)),
    (("BLOCK", "*", "*", "*"), (8, 1, 1, 1), (80, 8, 8, 8)),
)


def some_case(chance: random.Random) -> Case:
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


def test_the_index_finds_the_nearest(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many)
    chance = random.Random(11)
    for question in (some_case(chance) for _ in range(10)):
        expected = matches_of(question, many)
        found, known = store.nearest(question, 400)
        assert known == len(many)
        assert found == expected
        few, _ = store.nearest(question, 8)
        limit = expected[:8][-1].likeness.distance if expected else 0
        assert all(match.likeness.distance <= limit + 0.03 for match in few)


def test_rows_that_are_ruled_out_early_are_not_among_the_nearest(tmp_path, many, monkeypatch):
    monkeypatch.setattr("stripewise.learning.knowledge._nearest.MANY", 20)
    monkeypatch.setattr("stripewise.learning.knowledge._nearest.PAGES_AT_ONCE", 1)
    monkeypatch.setattr(index, "PAGE_ROWS", 32)
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many)
    chance = random.Random(5)
    for question in (some_case(chance) for _ in range(10)):
        expected = matches_of(question, many)[:6]
        found, _ = store.nearest(question, 6)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert abs(one.likeness.distance - other.likeness.distance) < 0.02


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("many_rows", "page_rows", "pages"), [(2048, 2048, 8), (5, 16, 3)])
def test_rows_are_those_of_a_plain_loop_in_its_order(
    tmp_path, many, monkeypatch, many_rows, page_rows, pages
):
    from stripewise.learning.knowledge import _nearest as nearest

    monkeypatch.setattr(nearest, "MANY", many_rows)
    monkeypatch.setattr(nearest, "PAGES_AT_ONCE", pages)
    monkeypatch.setattr(index, "PAGE_ROWS", page_rows)
    store = Store(tmp_path / "knowledge.sqlite")
    twins = [replace(one, study_id=one.study_id[::-1]) for one in many]
    store.add([*many, *twins])
    chance = random.Random(13)
    for question in (some_case(chance) for _ in range(3)):
        studies = [one.study_id for one in (*many, *twins)]
        rows = list(zip(studies, told(store, question), strict=True))
        within = [row for row in rows if row[1] <= NEAR + nearest.SLACK]
        expected = [study for study, _ in sorted(within, key=lambda row: row[1])]
        for most in (3, 16, 1000):
            with store.opened(writing=False) as connection:
                found, known = nearest.nearest_rows(connection, question, most)
            assert [study for study, _ in found] == expected[:most]
            assert known == len(rows)


def test_codes_tell_the_distance(tmp_path, many):
    """Weights that change in one place only would show here."""
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many)
    question = some_case(random.Random(3))
    exact = [compare(question, one.case).distance for one in many]
    assert told(store, question) == pytest.approx(exact, abs=0.02)


def told(store: Store, question: Case) -> list[float]:
    """Return what the features of each row tell of its distance, one row at a time."""
    from stripewise.learning.knowledge._nearest import _tables, np

    with store.opened(writing=False) as connection:
        return [
            float(table.take(np.asarray([place])).distances(question)[0])
            for table in _tables(connection, question.stack.mpi_family)
            for place in range(table.rows.size)
        ]


def test_a_class_of_files_is_found_by_itself(tmp_path):
    store = Store(tmp_path / "knowledge.sqlite")
    study = lesson(of=of_two_classes())
    store.add([study])
    (_, _, checks) = parts_of(study.case)
    (match,), known = store.nearest(checks.case)
    assert (match.match, match.likeness.distance, known) == ("chk*.dat", 0, 1)
    assert match.lesson == as_part(study, "chk*.dat")


def test_what_is_forgotten_is_not_found(tmp_path, many, monkeypatch):
    monkeypatch.setattr(index, "PAGE_ROWS", 64)
    store = Store(tmp_path / "knowledge.sqlite")
    for start in range(0, 300, 100):
        store.add(many[start : start + 100])
    store.add(many[:5])
    gone = [one.study_id for one in many[::2]]
    assert store.forget([*gone, "0" * 32]) == len(gone)
    question = many[1].case
    found, known = store.nearest(question, 400)
    assert known == 150
    assert found == matches_of(question, many[1::2])


def test_a_store_of_an_older_version_is_read_and_indexed_when_written(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:50])
    of_version(store.path, 2)
    question = many[0].case
    expected = matches_of(question, many[:50])
    assert store.nearest(question, 400) == (expected, 50)
    assert Store(store.path, read_only=True).nearest(question, 400) == (expected, 50)
    store.add([many[0]])
    assert store.nearest(question, 400) == (expected, 50)


def test_a_damaged_study_is_said(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:20])
    question = many[0].case
    before, _ = store.nearest(question)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE study SET document = '{' WHERE id = ?", (many[0].study_id,))
    after, _ = store.nearest(question)
    assert after == before[1:]
    assert "passed over 1 study" in store.damage


def test_a_row_with_an_odd_identity_can_be_forgotten(tmp_path, many):
    store = Store(tmp_path / "knowledge.sqlite")
    store.add(many[:3])
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE study SET id = 'odd' WHERE id = ?", (many[0].study_id,))
    assert store.forget(["odd", many[1].study_id]) == 2
    found, _ = store.nearest(many[2].case)
    assert [one.study for one in found] == [many[2]]


def test_nothing_is_near_in_an_empty_store(tmp_path):
    assert Store(tmp_path / "none").nearest(case()) == ([], 0)
