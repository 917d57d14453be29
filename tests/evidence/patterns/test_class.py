# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of patterns."""

import pytest

from stripewise.core import PatternSummary
from stripewise.evidence.patterns import class_of


@pytest.mark.parametrize(
    ("distributions", "grid", "block", "steps", "shape"),
    [
        (("BLOCK",), (8,), (1 << 20,), 1, "contiguous"),
        (("BLOCK", "*", "*", "*"), (8, 1, 1, 1), (80, 8, 8, 8), 1, "contiguous"),
        (("*", "BLOCK"), (1, 8), (26, 20480), 1, "interleaved"),
        (("*", "BLOCK"), (1, 8), (8, 20480), 8, "contiguous"),
        (("BLOCK", "BLOCK", "BLOCK"), (2, 2, 2), (60, 100, 300), 6000, "interleaved"),
        (("BLOCK", "BLOCK"), (4, 4), (1, 300), 1, "contiguous"),
        (("CYCLIC(4)",), (8,), (64,), 1, "interleaved"),
        (("CYCLIC(64)",), (8,), (64,), 1, "contiguous"),
        (("BLOCK",), (1,), (64,), 1, "contiguous"),
        ((), (), (), 1, "irregular"),
    ],
)
def test_shape_is_of_what_a_rank_moves_in_a_call(distributions, grid, block, steps, shape):
    summary = PatternSummary(True, distributions, grid, block, 8, steps, 1.0)
    assert str(class_of(summary)) == f"write collective {shape}"


def test_direction_and_way():
    summary = PatternSummary(False, ("BLOCK",), (4,), (8,), collective=0.2)
    assert str(class_of(summary)) == "read independent contiguous"
    assert class_of(summary, mpiio=False).way == "posix"
