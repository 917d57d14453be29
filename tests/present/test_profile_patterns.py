# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections import Counter

import profiles
import pytest

from stripewise.evidence.patterns import Distribution, PatternKind
from stripewise.evidence.report._profile_patterns import (
    GAP,
    MOST_PATTERNS,
    NOBODY,
    cell_counts,
    describe,
    drawn_dimensions,
    owner,
    pattern_chart,
    pattern_groups,
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


def test_equal_patterns_stand_together_and_distributed_ones_first():
    groups = pattern_groups(tuple(reversed(profiles.PATTERNS)))
    assert groups[0].pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)>"
    assert list(groups[0].members) == ["written"]
    assert set(groups[0].members["written"]) == {
        "/scratch/me/out.h5:/pressure", "/scratch/me/out.h5:/density",
    }  # fmt: skip
    assert groups[-1].pattern.kind is PatternKind.SINGLE


def test_read_and_written_alike_is_one_group():
    (group,) = pattern_groups((profiles.blocks(), profiles.blocks(writing=False)))
    assert list(group.members) == ["written", "read"]


def test_what_single_ranks_move_is_one_group_with_what_they_share():
    single = [
        profiles.blocks(kind=PatternKind.SINGLE, distributions=(), grid=(), extents=(n,),
                        dataset=f"/{n}", active_ranks=1)
        for n in range(1, 100)
    ]  # fmt: skip
    (group,) = pattern_groups(single)
    assert len(group.members["written"]) == 99
    assert not any("array of" in fact for fact in group.facts)
    assert "1 of 64 ranks take part" in group.facts


def test_only_the_first_are_drawn():
    many = [profiles.blocks(block=(n + 1, 1, 1)) for n in range(MOST_PATTERNS + 5)]
    groups = pattern_groups(many)
    assert sum(group.picture is not None for group in groups) == MOST_PATTERNS


def test_deviating_ranks_are_named():
    facts = pattern_groups((profiles.PATTERNS[-1],))[0].facts
    assert any(fact.endswith("14, 15 and 24 more") for fact in facts)
    assert "17 selections of scattered points" in facts
