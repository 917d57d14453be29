# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns that are known from the literature and from programs, by their names."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from owner_maps import blocks, pieces, selections

from stripewise.evidence.patterns import Pattern, PatternKind, describe, find_patterns, generate
from stripewise.evidence.trace import UNLISTED_ROW, Pieces, Selections


def one(access: Selections | Pieces) -> Pattern:
    (pattern,) = find_patterns([access])
    return pattern


GRID_2 = list(itertools.product(range(2), repeat=3))


@pytest.mark.parametrize(
    ("starts", "block", "extents", "notation"),
    [
        ([(6 * r, 0) for r in range(4)], (6, 24), (24, 24), "<2D, (BLOCK, *), (6, 24)>"),
        ([(8388608 * r,) for r in range(4)], (8388608,), (0,), "<1D, (BLOCK), (8388608)>"),
        (
            [(0, 0, 327680 * r) for r in range(4)],
            (1, 26, 327680),
            (1, 26, 1310720),
            "<3D, (*, *, BLOCK), (1, 26, 327680)>",
        ),
        (
            [(60 * i, 100 * j, 300 * k) for i, j, k in GRID_2],
            (60, 100, 300),
            (120, 200, 600),
            "<3D, (BLOCK, BLOCK, BLOCK), (60, 100, 300)>",
        ),
        (
            [(80 * r, 0, 0, 0) for r in range(4)],
            (80, 8, 8, 8),
            (320, 8, 8, 8),
            "<4D, (BLOCK, *, *, *), (80, 8, 8, 8)>",
        ),
    ],
    ids=["pH5Example", "VPIC", "GCRM", "VORPAL", "FLASH"],
)
def test_published_examples(
    starts: list[tuple[int, ...]], block: tuple[int, ...], extents: tuple[int, ...], notation: str
) -> None:
    pattern = one(blocks(range(len(starts)), starts, block, len(starts), extents))
    assert pattern.notation == notation
    assert pattern.kind == PatternKind.DISTRIBUTED
    assert pattern.rank_order == "C"
    assert pattern.collective == 1.0


def test_one_rank_cuts_nothing() -> None:
    pattern = one(blocks([0], [(0, 0)], (24, 24), 1, (24, 24)))
    assert (pattern.notation, pattern.kind) == ("<2D, (*, *), (24, 24)>", PatternKind.SINGLE)


def test_all_read_the_same() -> None:
    pattern = one(pieces(range(8), [0] * 8, [12288] * 8, 8, writing=False))
    assert (pattern.notation, pattern.kind) == ("<1D, (*), (12288)>", PatternKind.REPLICATED)


def test_a_subset_of_ranks() -> None:
    pattern = one(blocks([0, 4, 8, 12], [(10 * i,) for i in range(4)], (10,), 16, (40,)))
    assert (pattern.active_ranks, pattern.n_ranks, pattern.grid) == (4, 16, (4,))
    assert pattern.rank_strides == (4,)
    assert generate(pattern, 8).start.tolist() == [[20]]
    assert generate(pattern, 9).rank.size == 0


def test_fortran_order_of_ranks() -> None:
    starts = [(5 * i, 7 * j) for j in range(2) for i in range(3)]
    pattern = one(blocks(range(6), starts, (5, 7), 6, (15, 14)))
    assert (pattern.rank_order, pattern.rank_strides, pattern.grid) == ("F", (1, 3), (3, 2))


def test_chunks_that_one_rank_writes_make_one_block() -> None:
    corners = [(r, 8 * r + i, j) for r in range(3) for i in (0, 4) for j in (0, 5, 10)]
    ranks, starts = [c[0] for c in corners], [c[1:] for c in corners]
    pattern = one(blocks(ranks, starts, (4, 5), 3, (24, 15)))
    assert (pattern.notation, pattern.steps) == ("<2D, (BLOCK, *), (8, 15)>", 6)


def test_time_steps_make_a_dimension() -> None:
    corners = [(r, (t, 6 * r)) for t in range(5) for r in range(4)]
    ranks, starts = zip(*corners, strict=True)
    pattern = one(blocks(ranks, starts, (1, 6), 4, (5, 24)))
    assert (pattern.notation, pattern.steps) == ("<2D, (*, BLOCK), (5, 6)>", 5)


def test_repetitions_are_steps() -> None:
    pattern = one(blocks([0, 1] * 3, [(0,), (6,)] * 3, (6,), 2, (12,)))
    assert (pattern.notation, pattern.steps) == ("<1D, (BLOCK), (6)>", 3)


def test_steps_elsewhere_that_do_not_join() -> None:
    starts = [(r * 5 + at,) for at in (0, 40, 111) for r in range(4)]
    pattern = one(blocks([0, 1, 2, 3] * 3, starts, (5,), 4, (200,)))
    assert (pattern.notation, pattern.steps) == ("<1D, (BLOCK), (5)>", 3)
    assert "3 steps" in describe(pattern)


def test_a_dataset_that_grows_is_one() -> None:
    parts = [blocks([0, 1], [(t, 0), (t, 4)], (1, 4), 2, (t + 1, 8)) for t in range(3)]
    (pattern,) = find_patterns(parts)
    assert (pattern.notation, pattern.extents) == ("<2D, (*, BLOCK), (3, 4)>", (3, 8))


@pytest.mark.parametrize("halo", [1, 2])
def test_halos(halo: int) -> None:
    low = np.maximum(np.arange(5) * 10 - halo, 0)
    high = np.minimum(np.arange(5) * 10 + 10 + halo, 50)
    pattern = one(blocks(range(5), low, (high - low)[:, None], 5, (50,), writing=False))
    assert pattern.notation == f"<1D, (BLOCK), ({10 + 2 * halo})>"
    assert (pattern.halo, pattern.uneven) == ((2 * halo,), False)
    assert pattern.distributions[0].ghost == (halo, halo)
    found = generate(pattern)
    assert (found.start[:, 0].tolist(), found.block[:, 0].tolist()) == (
        low.tolist(),
        (high - low).tolist(),
    )


def test_blocks_of_any_lengths() -> None:
    pattern = one(blocks(range(3), [(0,), (5,), (7,)], [[5], [2], [9]], 3, (16,)))
    assert (pattern.uneven, pattern.distributions[0].lengths) == (True, (5, 2, 9))
    assert generate(pattern).block[:, 0].tolist() == [5, 2, 9]


def test_every_second_element() -> None:
    values = np.array([[[20 * r, 2, 10, 1]] for r in range(4)])
    pattern = one(selections(range(4), values, 4, (80,)))
    assert pattern.notation == "<1D, (BLOCK), (10)>"
    assert pattern.distributions[0].lattice == (2, 1)
    np.testing.assert_array_equal(generate(pattern).start[:, 0], values[:, 0, 0])


def bt_cells(q: int, n: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """Cells of BT-IO: rank i * q + j has (k, (i + k) mod q, (j + k) mod q)."""
    places = list(itertools.product(range(q), repeat=3))
    ranks = [i * q + j for i, j, _ in places]
    return ranks, [(k * n, (i + k) % q * n, (j + k) % q * n, 0) for i, j, k in places]


def test_multipartition() -> None:
    ranks, starts = bt_cells(3, 4)
    pattern = one(blocks(ranks, starts, (4, 4, 4, 5), 9, (12, 12, 12, 5)))
    assert pattern.kind == PatternKind.MULTIPARTITION
    assert pattern.notation == "<4D, (BLOCK, BLOCK, BLOCK, *), (4, 4, 4, 5)>"
    assert (pattern.grid, pattern.steps) == ((3, 3, 3, 1), 3)
    again = one(generate(pattern))
    assert (again.kind, again.notation) == (pattern.kind, pattern.notation)


def test_irregular_is_described_not_forced() -> None:
    rng = np.random.default_rng(1)
    ranks = np.repeat(np.arange(6), 3)
    pattern = one(blocks(ranks, rng.integers(0, 40, (18, 2)), (7, 3), 6, (50, 50)))
    assert (pattern.notation, pattern.kind) == ("<irregular>", PatternKind.IRREGULAR)
    assert any("separate pieces" in text for text in pattern.notes)
    assert any("more than once" in text for text in pattern.notes)


def test_nothing() -> None:
    pattern = one(blocks([], np.zeros((0, 2)), (1, 1), 4, (5, 5)))
    assert pattern.kind == PatternKind.EMPTY
    assert one(pieces([], [], [], 4)).kind == PatternKind.EMPTY


def unlisted(ranks: list[int], calls: int = 1, *, together: bool = True) -> np.ndarray:
    rows = np.zeros(len(ranks), UNLISTED_ROW)
    rows["rank"], rows["calls"], rows["collective"] = ranks, calls, together
    return rows


def test_ranks_and_calls_of_selections_that_are_not_listed_count() -> None:
    pattern = one(blocks([], np.zeros((0, 1)), (1,), 4, (5,), unlisted=unlisted([0, 1, 3], 7)))
    assert pattern.kind == PatternKind.IRREGULAR
    assert "21 irregular selections are not part of it" in pattern.notes
    assert (pattern.active_ranks, pattern.collective, pattern.steps) == (3, 1.0, 7)
    assert describe(pattern).startswith("3 of 4 ranks write an array")


def test_a_pattern_of_which_one_call_in_a_hundred_is_unknown_keeps_its_name() -> None:
    ranks = np.arange(200) // 50
    starts = np.arange(200)[:, None]
    few = blocks(ranks, starts, (1,), 4, (200,), unlisted=unlisted([0]))
    many = blocks(ranks, starts, (1,), 4, (200,), unlisted=unlisted([0], 9, together=False))
    assert one(few).notation == "<1D, (BLOCK), (50)>"
    assert one(many).kind == PatternKind.IRREGULAR
    assert one(many).collective == pytest.approx(200 / 209)


def test_several_boxes_of_one_call_are_one_step() -> None:
    ranks = np.repeat(np.arange(4), 2)
    starts = np.array([[place, 8 * rank] for rank in range(4) for place in (0, 40)])
    both = one(blocks(ranks, starts, (16, 8), 4, (64, 32), order=np.zeros(8, np.int64)))
    assert (both.notation, both.steps) == ("<2D, (*, BLOCK), (32, 8)>", 1)
    assert both.distributions[0].lattice == (40, 16)
    one_call = np.tile([[0, 0], [33, 5]], (4, 1)) + np.repeat(np.arange(4)[:, None] * [0, 8], 2, 0)
    separate = one(blocks(ranks, one_call, (16, 8), 4, (64, 32), order=np.zeros(8, np.int64)))
    assert (separate.kind, separate.steps) == (PatternKind.IRREGULAR, 1)


def test_strided_selections_that_interleave_out_of_step_are_counted_by_piece() -> None:
    """Each rank's stride reaches into the part of the next, as in h5bench's strided writes."""
    slabs = np.array([[[0, 10, 2048, 2]], [[16384, 10, 2048, 2]]])
    pattern = one(selections([0, 1], slabs, 2, (65536,)))
    assert pattern.kind == PatternKind.IRREGULAR
    assert "4096 separate pieces, 2048 a rank" in pattern.notes
    assert "of each rank 2 of every 10 elements of dimension 0" in pattern.notes
