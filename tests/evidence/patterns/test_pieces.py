# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays are recovered from file views and from lists of offsets."""

from __future__ import annotations

import numpy as np
import pytest
from owner_maps import Dealt, owner_map, pieces, pieces_of

from stripewise.evidence.patterns import Pattern, PatternKind, find_patterns
from stripewise.evidence.trace import Pieces


def one(access: Pieces) -> Pattern:
    (pattern,) = find_patterns([access])
    return pattern


def folded(
    offsets: np.ndarray,
    size: int,
    inner: int,
    times: int,
    strides: tuple[int, int],
    **other: object,
) -> Pieces:  # fmt: skip
    """One record a rank: times rows, of which inner make a plane."""
    n = len(offsets)
    return pieces(
        range(n), offsets, [size] * n, n, repeat=np.full(n, times), source="view",
        inner=np.tile((inner, 0), (n, 1)), stride=np.tile((*strides, 0), (n, 1)), **other,
    )  # fmt: skip


def subarray(element_bytes: int) -> Pieces:
    """The view of a 3-D block (4, 5, 6) of each of 2 x 3 x 2 ranks."""
    i, j, k = np.unravel_index(np.arange(12), (2, 3, 2))
    offsets = ((i * 4 * 15 + j * 5) * 12 + k * 6) * 8
    return folded(offsets, 48, 5, 20, (96, 1440), element_bytes=element_bytes)


def test_a_subarray_through_a_view() -> None:
    pattern = one(subarray(8))
    assert pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (4, 5, 6)>"
    assert (pattern.grid, pattern.extents) == ((2, 3, 2), (8, 15, 12))
    assert (pattern.element_bytes, pattern.source, pattern.steps) == (8, "view", 1)


def test_without_the_type_sizes_are_bytes() -> None:
    pattern = one(subarray(1))
    assert pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (4, 5, 48)>"
    assert "sizes are in bytes, all of them multiples of 16" in pattern.notes


def test_rows_that_are_written_one_by_one() -> None:
    owners = owner_map((8, 9, 10), [Dealt("BLOCK", 2), Dealt("BLOCK", 3), Dealt("BLOCK", 2)])
    pattern = one(pieces_of(owners, 12, 8, 4096))
    assert pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (4, 3, 40)>"
    assert (pattern.file_offset, pattern.rank_order) == (4096, "C")


def test_strided_pieces_are_a_dimension() -> None:
    offsets = [8 * r + 64 * i for r in range(8) for i in range(100)]
    pattern = one(pieces(np.repeat(np.arange(8), 100), offsets, [8] * 800, 8))
    assert pattern.notation == "<2D, (*, BLOCK), (100, 8)>"


def test_strided_pieces_that_do_not_come_out_even_are_cyclic() -> None:
    owners = owner_map((83,), [Dealt("CYCLIC", 4, 3)])
    assert one(pieces_of(owners, 4, 8)).notation == "<1D, (CYCLIC(24)), (168)>"


def test_a_record_that_ends_in_the_middle_of_a_row() -> None:
    access = folded(np.array([0]), 8, 5, 13, (100, 1000))
    pattern = one(access)
    assert (pattern.kind, pattern.notation) == (PatternKind.SINGLE, "<single>")
    assert any("13 separate pieces" in text or "3 separate" in text for text in pattern.notes)


def test_several_arrays_in_one_file() -> None:
    sizes = (100, 36)
    offsets = [512 + 100 * r for r in range(4)] + [2048 + 36 * r for r in range(4)]
    found = find_patterns(
        [pieces([0, 1, 2, 3] * 2, offsets, np.repeat(sizes, 4), 4, call=np.repeat((0, 1), 4))]
    )
    assert [one.notation for one in found] == ["<1D, (BLOCK), (100)>", "<1D, (BLOCK), (36)>"]
    assert [one.file_offset for one in found] == [512, 2048]


def test_a_file_read_again_in_small_calls() -> None:
    offsets = np.tile(np.arange(25) * 4, 3)
    pattern = one(pieces([0] * 75, offsets, [4] * 75, 4, writing=False))
    assert (pattern.notation, pattern.steps) == ("<1D, (*), (100)>", 3)


@pytest.mark.parametrize("seed", range(3))
def test_random_offsets_have_no_pattern(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = rng.integers(0, 1 << 30, 400)
    pattern = one(pieces(rng.integers(0, 16, 400), offsets, rng.integers(1, 5000, 400), 16))
    assert pattern.kind == PatternKind.IRREGULAR
