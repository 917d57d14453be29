# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections import Counter

import profiles
import pytest

from stripewise.core import to_json
from stripewise.evidence.patterns import Distribution, PatternKind, describe
from stripewise.evidence.report._profile_patterns import (
    GAP,
    MOST_PATTERNS,
    NOBODY,
    cell_counts,
    drawn_dimensions,
    owner,
    pattern_chart,
    patterns,
    shown_cells,
)
from stripewise.present.chart import write_picture

BLOCK, CYCLIC, WHOLE = Distribution("BLOCK"), Distribution("CYCLIC"), Distribution("*")


def sheet(distributions, grid, **changes):
    return profiles.blocks(
        distributions=distributions, grid=grid, extents=(), block=(1,) * len(grid), **changes
    )


def owners(pattern):
    counts = cell_counts(pattern)
    down, across = map(range, counts)
    return [[owner(pattern, counts, (i, j)) for j in across] for i in down]


def test_blocks_belong_to_ranks_in_c_order():
    assert owners(sheet((BLOCK, BLOCK), (2, 3))) == [[0, 1, 2], [3, 4, 5]]


def test_blocks_belong_to_ranks_in_fortran_order():
    assert owners(sheet((BLOCK, BLOCK), (2, 3), rank_order="F")) == [[0, 2, 4], [1, 3, 5]]


def test_cyclic_dimension_shows_rounds():
    assert owners(sheet((CYCLIC, WHOLE), (2, 1))) == [[0], [1], [0], [1]]


def test_other_orders_are_not_numbered():
    assert owners(sheet((BLOCK, WHOLE), (2, 1), rank_order="other")) == [[NOBODY], [NOBODY]]


def test_many_cells_are_elided():
    assert cell_counts(sheet((BLOCK, WHOLE), (1000, 1))) == (1000, 1)
    assert shown_cells(1000) == (0, 1, 2, 3, 4, 5, GAP, 999)


def test_four_dimensions_show_three_of_which_the_cut_ones_come_first():
    pattern = sheet((BLOCK, WHOLE, BLOCK, BLOCK), (2, 1, 2, 2))
    counts = cell_counts(pattern)
    assert drawn_dimensions(counts) == [0, 2, 3]
    assert owner(pattern, counts, (1, 0, 0, 1)) == 5
    assert "Not drawn: dimension 1." in pattern_chart(pattern).description


def test_multipartition_gives_each_rank_one_block_in_every_plane():
    pattern = next(p for p in profiles.PATTERNS if p.kind is PatternKind.MULTIPARTITION)
    counts = cell_counts(pattern)
    side = range(4)
    for z in side:
        for plane in (
            [(z, a, b) for a in side for b in side],
            [(a, z, b) for a in side for b in side],
            [(a, b, z) for a in side for b in side],
        ):
            ranks = [owner(pattern, counts, cell) for cell in plane]
            assert set(Counter(ranks).values()) == {1}


@pytest.mark.parametrize("pattern", profiles.PATTERNS, ids=lambda p: p.dataset or p.file)
def test_drawings_are_sound_and_say_what_they_show(pattern, tmp_path):
    chart = pattern_chart(pattern)
    if pattern.kind is PatternKind.IRREGULAR:
        assert chart is None
        return
    assert chart.description.startswith(describe(pattern))
    assert chart.spec["data"]["values"]
    write_picture(chart.spec, tmp_path / "p.svg")
    assert "<path" in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_drawings_stay_small():
    pattern = sheet((BLOCK,) * 3, (1000, 1000, 1000))
    assert len(pattern_chart(pattern).data) < 60_000


def test_a_sheet_numbers_its_cells():
    cells = pattern_chart(sheet((BLOCK, BLOCK), (2, 2))).spec["data"]["values"]
    assert [(cell["y"], cell["x"], cell["text"]) for cell in cells] == [
        (0, 0, "0"), (0, 1, "1"), (1, 0, "2"), (1, 1, "3"),
    ]  # fmt: skip


def blocks_of(found):
    """The sentences about patterns, and their drawings."""
    points, drawings = patterns({"patterns": to_json(found)})
    return points, drawings.charts


def test_equal_patterns_stand_together_and_distributed_ones_first():
    points, charts = blocks_of(tuple(reversed(profiles.PATTERNS)))
    assert points.items[0].text == (
        "write 2 datasets /scratch/me/out.h5:/*: <3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)>"
    )
    assert points.items[0].note.endswith("; /density, /pressure")
    assert points.items[-1].text.endswith("<single>")
    assert len(points.items) == 7
    assert len(charts) == 6  # what is irregular cannot be drawn


def test_what_is_known_of_a_pattern_is_said():
    points, _ = blocks_of(profiles.PATTERNS)
    notes = {item.text.rpartition("<")[2]: item.note for item in points.items}
    assert "14, 15 and 24 more" in notes["irregular>"]
    assert "17 selections of scattered points; from HDF5 selections" in notes["irregular>"]
    assert "from file views" in notes["multipartition>"]
    assert "4 of 64 ranks write" in notes["1D, (CYCLIC(16)), (64)>"]
    assert "an element is 8 bytes long" in notes["1D, (CYCLIC(16)), (64)>"]
    other, _ = blocks_of((profiles.blocks(rank_order="other", steps=3, halo=(1, 1, 1)),))
    for words in ("an order of their own", "in 3 steps", "overlap by 1 x 1 x 1", "collective"):
        assert words in other.items[0].note


def test_only_the_first_are_shown_and_drawn():
    many = [profiles.blocks(block=(n + 1, 1, 1)) for n in range(MOST_PATTERNS + 5)]
    points, charts = blocks_of(many)
    assert len(points.items) == len(charts) == MOST_PATTERNS
    assert "5 more patterns are not shown" in points.note
