# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ids of jobs: any bytes, and no two of them the same tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor.collectors.lustre._job_stats import (
    MOST_TAG_CHARACTERS,
    raw_id,
    tag_of,
)
from support.job_stats_text import printed_id

RAW = st.binary(min_size=1, max_size=31).filter(lambda raw: b"\0" not in raw)


@given(RAW)
def test_what_is_printed_is_read(raw: bytes) -> None:
    assert raw_id(printed_id(raw, "2.16")) == raw


@given(RAW | st.binary(max_size=300), RAW | st.binary(max_size=300))
def test_two_ids_are_two_tags(one: bytes, other: bytes) -> None:
    assert (tag_of(one) == tag_of(other)) == (one == other)
    assert len(tag_of(one)) <= MOST_TAG_CHARACTERS


@given(st.text(max_size=31))
def test_text_of_an_id_is_no_other_ids(text: str) -> None:
    """The tag of an odd id, taken as an id, is another tag."""
    raw = text.encode("utf-16")
    tag = tag_of(raw)
    assert tag_of(tag.encode()) != tag or tag.encode() == raw


@pytest.mark.parametrize(
    ("printed", "tag"),
    [
        (b"4711", "4711"), (b'"@x"', "@x"), (b'"a:b"', "a:b"), (rb'"a\x20b"', "a b"),
        (b"a b", "a b"), (b'"a b"', '"a b"'), (rb'"\x"', '"\\x5Cx"'), (b'"', '"'),
        (rb'"\xC3\xA9"', "é"), (rb'"\xFF"', "\\xFF"), (rb'"\x5CxFF"', "\\x5CxFF"),
    ],
)  # fmt: skip
def test_forms(printed: bytes, tag: str) -> None:
    assert tag_of(raw_id(printed)) == tag


def test_long_ids_keep_apart() -> None:
    one, other = tag_of(b"x" * 200), tag_of(b"x" * 199 + b"y")
    assert one != other
    assert one.startswith("x" * 100)
    assert len(one) == MOST_TAG_CHARACTERS
