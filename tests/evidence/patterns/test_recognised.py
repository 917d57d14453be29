# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Distributions that were dealt out by brute force are recognised again, and dealt out alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from owner_maps import Dealt, even_end, owned, owner_map, pieces_of, selections_of

from stripewise.evidence.patterns import Pattern, find_patterns, generate


@st.composite
def dealt(draw: st.DrawFn, extent: int) -> Dealt:
    kind = draw(st.sampled_from(["*", "BLOCK", "BLOCK", "CYCLIC"]))
    if kind == "*" or extent < 2:
        return Dealt("*", 1)
    parts = draw(st.integers(1, min(4, extent)))
    width = draw(st.integers(1, 3)) if kind == "CYCLIC" else 1
    return Dealt(kind, parts, width, draw(st.sampled_from(["even", "ceil"])))


@st.composite
def arrays(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[Dealt, ...], str]:
    extents = tuple(draw(st.lists(st.integers(1, 13), min_size=1, max_size=3)))
    return extents, tuple(draw(dealt(n)) for n in extents), draw(st.sampled_from("CF"))


def plain(extent: int, dealt: Dealt) -> str:
    """The plainest name of a dimension: what has one round only is BLOCK."""
    owners = {dealt.owner(i, extent) for i in range(extent)}
    if len(owners) == 1:
        return "*"
    if dealt.kind == "CYCLIC" and extent > dealt.width * dealt.parts:
        return f"CYCLIC({dealt.width})" if dealt.width > 1 else "CYCLIC"
    return "BLOCK"


def check(pattern: Pattern, owners: np.ndarray, unit: int = 1) -> None:
    """The pattern deals out exactly the same elements."""
    found = generate(pattern)
    expected = np.repeat(owners.reshape(-1), unit)
    if pattern.rank_order == "other" and len(pattern.rank_strides) == 0:
        same_parts(owned(found, expected.size), expected)
        return
    np.testing.assert_array_equal(owned(found, expected.size), expected)


def same_parts(one: np.ndarray, other: np.ndarray) -> None:
    pairs = np.unique(np.stack((one, other)), axis=1)
    assert pairs.shape[1] == np.unique(one).size == np.unique(other).size


@pytest.mark.extended
@settings(max_examples=200, deadline=None)
@given(arrays())
def test_from_selections(array: tuple[tuple[int, ...], tuple[Dealt, ...], str]) -> None:
    extents, parts, order = array
    owners = owner_map(extents, parts, order)
    n_ranks = math.prod(part.parts for part in parts)
    (pattern,) = find_patterns([selections_of(owners, n_ranks)])
    names = [str(part) for part in pattern.distributions]
    assert names == [plain(n, part) for n, part in zip(extents, parts, strict=True)]
    assert pattern.n_ranks == n_ranks
    assert math.prod(pattern.grid) == pattern.active_ranks == np.unique(owners).size
    check(pattern, owners)


@settings(max_examples=200, deadline=None)
@given(arrays(), st.sampled_from([1, 4, 8]), st.sampled_from([0, 512]))
def test_from_offset_lists(
    array: tuple[tuple[int, ...], tuple[Dealt, ...], str], element_bytes: int, shift: int
) -> None:
    extents, parts, order = array
    owners = owner_map(extents, parts, order)
    n_ranks = math.prod(part.parts for part in parts)
    (pattern,) = find_patterns([pieces_of(owners, n_ranks, element_bytes, shift)])
    assert pattern.file_offset == shift
    assert pattern.distributions, (extents, parts, order)
    check(pattern, owners, element_bytes)


@given(st.integers(1, 50), st.integers(1, 9))
def test_the_brute_force_is_a_partition(extent: int, parts: int) -> None:
    assert even_end(parts - 1, extent, parts) == extent
