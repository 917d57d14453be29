# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stripewise.centre.database.queries._quality import statements

GIB = 1 << 30


def told(direction: str, **amounts: int | None) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(
        f"{begin}{way}_bytes" for begin in ("", "server_", "slurm_") for way in ("read", "write")
    )
    begins = {"profile": "", "server": "server_", "slurm": "slurm_"}
    return row | {f"{begins[name]}{direction}_bytes": value for name, value in amounts.items()}


@pytest.mark.parametrize(
    ("direction", "amounts", "words"),
    [
        ("read", {"profile": 10 * GIB, "server": 2 * GIB}, ["cache of the nodes", "Data-on-MDT"]),
        ("write", {"profile": 10 * GIB, "server": 2 * GIB}, ["before it leaves the cache"]),
        ("read", {"profile": 2 * GIB, "server": 10 * GIB}, ["not profiled", "Reading ahead"]),
        ("write", {"profile": 2 * GIB, "server": 10 * GIB}, ["ranks that were not profiled"]),
        ("read", {"profile": 2 * GIB, "slurm": 10 * GIB}, ["programs and libraries"]),
        ("write", {"server": 10 * GIB, "slurm": 2 * GIB}, ["at intervals"]),
    ],
)
def test_disagreement_is_explained(
    direction: str, amounts: dict[str, int], words: list[str]
) -> None:
    found = {one.direction: one for one in statements(told(direction, **amounts))}
    assert found[direction].agree is False
    text = " ".join(found[direction].reasons)
    assert all(word in text for word in words)
    other = found["write" if direction == "read" else "read"]
    assert (other.agree, other.reasons) == (None, ())


def test_a_profile_that_is_not_complete_is_named_as_the_reason() -> None:
    row = told("write", profile=1 * GIB, server=9 * GIB)
    assert "not complete" in statements(row, is_partial=True)[1].reasons[0]


_AMOUNTS = st.none() | st.integers(0, 1 << 60) | st.integers(90, 110).map(lambda n: n * GIB)


@given(amounts=st.tuples(*[_AMOUNTS] * 3))
@example(amounts=(100 * GIB, 109 * GIB, 92 * GIB))
def test_reasons_are_given_for_each_disagreement_alone(amounts: tuple[int | None, ...]) -> None:
    row = told("read", **dict(zip(("profile", "server", "slurm"), amounts, strict=True)))
    found = statements(row)[0]
    assert bool(found.reasons) == (found.agree is False)
    known = [one for one in amounts if one is not None]
    assert (found.agree is None) == (len(known) < 2)
    if len(set(known)) == 1 and len(known) > 1:
        assert found.agree
