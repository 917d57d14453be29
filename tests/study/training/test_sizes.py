# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from stripewise.study.training._plan import (
    LEAST,
    TrainingCell,
    published_counts,
    share_out,
    total_seconds,
)


def cell(ranks: int, run_seconds: float, possible: int) -> TrainingCell:
    return TrainingCell(("vpic",), ranks, run_seconds=run_seconds, possible=possible)


CELLS = [cell(ranks, seconds, 10_000) for ranks, seconds in ((512, 10), (1024, 20), (2048, 40))]


def test_the_published_numbers():
    assert share_out(CELLS, 4) == [336, 180, 96]
    assert share_out(CELLS, 4, most=112) == [112, 60, 32]


def test_larger_scales_go_on_as_the_last_step():
    counts = published_counts({8, 16, 32, 64}, 336)
    assert list(counts.values()) == [336, 180, 96, 51]


def test_a_budget_is_kept_in_the_same_proportions():
    numbers = share_out(CELLS, 3, 10_000.0)
    assert 9_000 < total_seconds(CELLS, numbers, 3) <= 10_000
    assert numbers == sorted(numbers, reverse=True)
    assert abs(numbers[0] / numbers[1] - 336 / 180) < 0.1


def test_no_fewer_than_a_model_needs():
    assert share_out(CELLS, 3, 1.0) == [LEAST] * 3


def test_no_more_than_can_act():
    assert share_out([cell(8, 1.0, 7)], 3) == [7]
    assert share_out([cell(8, 1.0, 7)], 3, 1.0) == [7]
