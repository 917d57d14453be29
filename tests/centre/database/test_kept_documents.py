# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database._records import LISTS, join, pack, split, unpack
from stripewise.present import finite

texts = st.text(alphabet=st.characters(), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(data=values)
def test_what_is_kept_comes_back(data: Any) -> None:
    assert unpack(pack(data)) == finite(data)


@given(head=st.dictionaries(texts, values, max_size=5), lists=st.lists(values, max_size=4))
def test_a_profile_is_split_and_joined(head: dict[str, Any], lists: list[Any]) -> None:
    document = {**head, **{name: lists for name in LISTS}}
    parts = split(document)
    assert join(*parts) == finite(document)
    assert not set(unpack(parts[0])) & set(LISTS)


def test_surrogates_and_nul_come_back() -> None:
    text = "\x00 \ud800 \udcff \N{GRINNING FACE}"
    assert unpack(pack([text, {text: 1}])) == [text, {text: 1}]
