# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of one rank that move a part of each run of its block: variables beside each other."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from owner_maps import blocks, pieces, selections

from stripewise.evidence.patterns import (
    Pattern,
    PatternKind,
    describe,
    find_patterns,
    generate,
    members_of,
    run_bytes,
)
from stripewise.evidence.trace import Pieces, Selections
from stripewise.storage.simulation import in_steps


def one(access: Selections | Pieces) -> Pattern:
    (pattern,) = find_patterns([access])
    return pattern


def variables(n_variables: int, *, ranks: int = 2) -> Selections:
    """Blocks of rows of a 3D array whose last dimension is moved one index a call."""
    calls = [(rank, v) for rank in range(ranks) for v in range(n_variables)]
    starts = [(8 * rank, 0, v) for rank, v in calls]
    owners = [rank for rank, _ in calls]
    return blocks(owners, starts, (8, 6, 1), ranks, (8 * ranks, 6, n_variables))


def test_variables_that_interleave_are_one_pattern_with_a_gap() -> None:
    pattern = one(variables(5))
    assert pattern.notation == "<3D, (BLOCK, *, *), (8, 6, 5)>"
    assert [how.interleave for how in pattern.distributions] == [(), (), (5, 1)]
    assert (pattern.steps, run_bytes(pattern)) == (5, 8)
    assert "5 calls interleave, each moves 1 of every 5 elements (8 of 40 bytes)" in describe(
        pattern
    )


def test_rows_one_after_the_other_do_not_interleave() -> None:
    starts = [(row, 0) for row in range(16)]
    pattern = one(blocks(np.arange(16) // 8, starts, (1, 6), 2, (16, 6)))
    assert (pattern.notation, pattern.steps) == ("<2D, (BLOCK, *), (8, 6)>", 8)
    assert not any(how.interleave for how in pattern.distributions)
    assert run_bytes(pattern) == 8 * 6 * 8


@pytest.mark.parametrize("width", [1, 3])
def test_members_of_records_interleave(width: int) -> None:
    calls = list(itertools.product(range(2), range(4)))
    slabs = [[[40 * width * r + m * width, 4 * width, 10, width]] for r, m in calls]
    ranks = [rank for rank, _ in calls]
    pattern = one(selections(ranks, np.array(slabs), 2, (80 * width,)))
    assert pattern.notation == f"<1D, (BLOCK), ({40 * width})>"
    assert pattern.distributions[0].interleave == (4 * width, width)


def test_views_of_members_interleave() -> None:
    """Four members of 8 bytes at a stride of 32, each by a call through a view of its own."""
    calls = [(rank, m, k) for rank in range(2) for m in range(4) for k in range(10)]
    offsets = [320 * rank + 8 * m + 32 * k for rank, m, k in calls]
    found = pieces(
        [rank for rank, _, _ in calls], offsets, [8] * len(calls), 2, source="view",
        element_bytes=8, call=np.repeat(np.arange(8), 10),
        order=np.tile(np.repeat(np.arange(4), 10), 2),
    )  # fmt: skip
    pattern = one(found)
    assert (pattern.notation, pattern.steps) == ("<1D, (BLOCK), (40)>", 4)
    assert pattern.distributions[0].interleave == (4, 1)


def test_tiles_are_shorter_runs_than_their_block() -> None:
    starts = [(16 * rank + 4 * i, 8 * j) for rank in range(2) for i in range(4) for j in range(2)]
    pattern = one(blocks(np.arange(16) // 8, starts, (4, 8), 2, (32, 16)))
    assert [how.interleave for how in pattern.distributions] == [(), (16, 8)]


def test_a_variable_that_is_left_out_leaves_no_claim() -> None:
    four = variables(5)
    keep = four.order % 5 != 2
    names = ("rank", "start", "stride", "count", "block", "order", "collective")
    kept = {name: getattr(four, name)[keep] for name in names}
    pattern = one(replace(four, **kept))
    assert not any(how.interleave for how in pattern.distributions)


def test_each_call_becomes_a_pattern_and_together_they_move_the_block() -> None:
    pattern = one(variables(3))
    parts = members_of(pattern)
    assert len(parts) == 3
    moved = np.zeros((16, 6, 3), int)
    for part in parts:
        assert (part.block, part.steps) == ((8, 6, 1), 1)
        own = generate(part)
        for start, stride, count, block in zip(
            own.start, own.stride, own.count, own.block, strict=True
        ):
            axes = [
                (s + np.arange(c)[:, None] * t + np.arange(b)).ravel()
                for s, t, c, b in zip(start, stride, count, block, strict=True)
            ]
            moved[np.ix_(*axes)] += 1
    assert (moved == 1).all()


def test_a_simulation_makes_the_requests_of_each_call() -> None:
    pattern = one(variables(5))
    key = (pattern.file, pattern.dataset, pattern.writing)
    found = in_steps([pattern], {key: 16 * 6 * 5 * 8})
    assert [one.steps for one in found] == [1] * 5
    assert {run_bytes(one) for one in found} == {8}


def test_pieces_that_lie_between_each_other_are_not_arrays_of_their_own() -> None:
    """The same irregular pieces in each rank's part: no pattern, and not one for each piece."""
    places, lengths = [0, 40, 104, 256, 328], [24, 8, 32, 8, 40]
    offsets = [1600 * rank + place for rank in range(4) for place in places]
    found = pieces(
        np.repeat(np.arange(4), 5), offsets, lengths * 4, 4, source="view", element_bytes=8,
        call=np.repeat(np.arange(4), 5), order=np.zeros(20, np.int64),
    )  # fmt: skip
    pattern = one(found)
    assert (pattern.kind, pattern.active_ranks) == (PatternKind.IRREGULAR, 4)


def test_arrays_that_follow_each_other_have_a_pattern_each() -> None:
    offsets = [place for rank in range(4) for place in (80 * rank, 1000 + 16 * rank)]
    found = find_patterns([pieces(np.repeat(np.arange(4), 2), offsets, [80, 16] * 4, 4)])
    assert [pattern.file_offset for pattern in found] == [0, 1000]
