# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import PatternKind, generate
from stripewise.storage.simulation import parse_notation, workload_from_notation
from stripewise.storage.simulation._notation import process_grid


def test_blocks_are_a_processs_and_lie_in_a_grid_in_c_order():
    work = workload_from_notation("<3D, (BLOCK,BLOCK,BLOCK), (64, 32, 16)>", 4, 6, steps=3)
    (pattern,) = work.patterns
    assert pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (64, 32, 16)>"
    assert pattern.grid == (4, 3, 2)
    assert pattern.extents == (256, 96, 32)
    assert pattern.rank_strides == (6, 2, 1)
    assert work.bytes == 3 * 24 * 64 * 32 * 16 * 8


def test_datasets_follow_each_other_in_one_file():
    work = workload_from_notation("<1D,BLOCK,1000>", 1, 2, element_bytes=4, steps=2, datasets=3)
    assert [one.file_offset for one in work.patterns] == [0, 16000, 32000]
    assert len({one.dataset for one in work.patterns}) == 3


@pytest.mark.parametrize("notation", ["<2D,(CYCLIC(4),*),(12,5)>", "<1D,CYCLIC,7>"])
def test_cyclic_ranks_move_what_they_own(notation):
    (pattern,) = workload_from_notation(notation, 1, 3).patterns
    moved = generate(pattern)
    every = (moved.count * moved.block).prod(axis=1).sum()
    assert every == math.prod(pattern.extents) == 3 * math.prod(pattern.block)


def test_what_nobody_divides_all_ranks_move():
    work = workload_from_notation("<1D,(*),(12288)>", 2, 640, element_bytes=1, writing=False)
    assert work.patterns[0].kind == PatternKind.REPLICATED
    assert work.bytes == 1280 * 12288


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("<3D,(BLOCK,BLCK,BLOCK),(2,2,2)>", 12, "'BLCK'"),
        ("<2D,(BLOCK),(2)>", 11, "')'"),
        ("<1D,BLOCK,0>", 11, "'0'"),
        ("<1D,CYCLIC(x),8>", 12, "'x'"),
        ("<1D,BLOCK,8> twice", 14, "'twice'"),
        ("<1D,BLOCK,8", 12, "the end"),
        ("", 1, "the end"),
    ],
)
def test_what_is_no_notation_is_refused_at_its_place(text, place, found):
    with pytest.raises(UsageError, match=rf"character {place}: expected .*found") as error:
        parse_notation(text)
    assert f"found {found}" in str(error.value)
    assert "\n" not in str(error.value)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>(),*BLOCKDYI 0123456789", max_size=40))
def test_any_text_is_a_pattern_or_one_line(text):
    try:
        distributions, block = parse_notation(text)
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert len(distributions) == len(block)


@pytest.mark.parametrize(
    ("ranks", "cut", "grid"),
    [
        (12, [1, 1], (4, 3)),
        (128, [1, 1, 1], (8, 4, 4)),
        (24, [1, 1, 1], (4, 3, 2)),
        (6, [0, 1, 1], (1, 3, 2)),
        (7, [1, 1], (7, 1)),
        (100_000, [1, 1, 1], (50, 50, 40)),
    ],
)
def test_grids_are_those_of_mpi(ranks, cut, grid):
    assert process_grid(ranks, [bool(one) for one in cut]) == grid
