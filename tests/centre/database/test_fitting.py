# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, select

from stripewise.centre.database.store._jobs import NameKeys, fitted, key_text, storable
from stripewise.centre.database.tables import Job, JobFile, Member, Person

texts = st.text(alphabet=st.characters(), max_size=300)
numbers = st.integers() | st.floats() | st.integers(-(1 << 90), 1 << 90)


@given(one=texts, other=texts)
def test_names_that_differ_stay_different(one: str, other: str) -> None:
    kept, again = key_text(one, 64), key_text(other, 64)
    assert len(kept) <= 64
    assert (kept == again) == (one == other)
    kept.encode()


@given(text=texts)
def test_text_is_kept_but_for_what_is_refused(text: str) -> None:
    kept = storable(text)
    assert "\x00" not in kept
    kept.encode()
    if "\x00" not in text and text.isascii():
        assert kept == text


@given(number=numbers)
def test_numbers_fit(number: Any) -> None:
    job = fitted(Job, {"raw_id": number, "node_count": number, "io_seconds": number})
    file = fitted(JobFile, {"read_bytes": number, "rank_count": number})
    for value, bits in ((job["raw_id"], 63), (job["node_count"], 31)):
        assert value is None or (isinstance(value, int) and abs(value) < 1 << bits)
        assert value is None or value == int(number)
    assert file["read_bytes"] is None or abs(file["read_bytes"]) < 1 << 63
    assert abs(file["rank_count"]) < 1 << 31
    assert job["io_seconds"] is None or abs(job["io_seconds"]) < float("inf")


def test_names_are_made_once(connection: Connection) -> None:
    first, second = NameKeys(connection), NameKeys(connection)
    for make in ("cluster", "program", "project", "person"):
        keys = {getattr(names, make)("n\x00ame") for names in (first, second, first)}
        assert len(keys) == 1
        assert getattr(first, make)("other") not in keys
    assert connection.scalars(select(Person.name).order_by(Person.id)).all() == [
        key_text("n\x00ame", 255), "other",
    ]  # fmt: skip
    assert [first.person(""), first.program(""), first.project("")] == [None] * 3
    assert first.cluster("") == second.cluster("")


def test_a_manager_stays_one(connection: Connection) -> None:
    names = NameKeys(connection)
    project_id, person_id = names.project("p"), names.person("x")
    values = {"project_id": project_id, "person_id": person_id, "is_manager": True}
    connection.execute(insert(Member).values(**values))
    names.member(project_id, person_id)
    assert connection.scalars(select(Member.is_manager)).all() == [True]


def test_whose_a_number_is(connection: Connection) -> None:
    names = NameKeys(connection)
    a, b = names.cluster("a"), names.cluster("b")
    x, y = names.person("x"), names.person("y")
    names.note_uid(a, 1, x)
    names.note_uid(a, 1, x)
    names.note_uid(b, 1, y)
    assert (names.owner(a, 1), names.owner(b, 1), names.owner(a, 2)) == (x, y, None)
    again = NameKeys(connection)
    again.note_uid(a, 1, x)
    assert again.remapped == set()
    again.note_uid(a, 1, y)
    again.note_uid(a, 1, x)
    assert again.remapped == {(a, 1)}
    assert (again.owner(a, 1), again.owner(a, None)) == (None, None)
