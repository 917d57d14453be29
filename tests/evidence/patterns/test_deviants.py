# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One rank that does something else is found and named, and the rest keeps its pattern."""

from __future__ import annotations

import numpy as np
import pytest
from owner_maps import blocks, pieces, selections

from stripewise.evidence.patterns import Pattern, PatternKind, find_patterns
from stripewise.evidence.trace import Selections

MILLION = 1_000_000


def line(n: int, length: int = 10) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n)[:, None] * length, np.full((n, 1), length)


def one(access: Selections) -> Pattern:
    (pattern,) = find_patterns([access])
    return pattern


def test_one_in_a_million() -> None:
    start, count = line(MILLION)
    start[123456] += 3
    pattern = one(blocks(range(MILLION), start, count, MILLION, (MILLION * 10,)))
    assert (pattern.deviating_ranks, pattern.n_deviating) == ((123456,), 1)
    assert (pattern.notation, pattern.grid) == ("<1D, (BLOCK), (10)>", (MILLION,))


@pytest.mark.parametrize("rank", [0, 1, 50, 98, 99])
@pytest.mark.parametrize("what", ["shorter", "longer", "moved", "doubled", "absent", "twice"])
def test_whatever_it_does(rank: int, what: str) -> None:
    start, count = line(100)
    ranks = np.arange(100)
    if what == "shorter":
        count[rank] = 4
    elif what == "longer":
        count[rank] = 25
    elif what == "moved":
        start[rank] = 503
    elif what == "doubled":
        start[rank] = start[(rank + 7) % 100]
    elif what == "absent":
        start, count, ranks = (np.delete(values, rank, axis=0) for values in (start, count, ranks))
    else:
        ranks = np.append(ranks, rank)
        start, count = np.append(start, [[777]], axis=0), np.append(count, [[2]], axis=0)
    pattern = one(blocks(ranks, start, count, 100, (0,)))
    if (what in ("shorter", "absent") and rank == 99) or (what, rank) == ("absent", 0):
        assert pattern.n_deviating == 0  # the end of an array may be so
        return
    if what in ("longer",) and rank == 99:
        assert pattern.notation == "<1D, (BLOCK), (10)>"
        return
    assert pattern.notation == "<1D, (BLOCK), (10)>"
    assert pattern.deviating_ranks == (rank,)


@pytest.mark.parametrize("rank", [0, 17, 63])
def test_in_a_grid(rank: int) -> None:
    places = np.stack(np.unravel_index(np.arange(64), (4, 4, 4)), axis=1)
    start = places * (6, 10, 30)
    start[rank, 1] += 2
    pattern = one(blocks(range(64), start, (6, 10, 30), 64, (24, 42, 120)))
    assert pattern.notation == "<3D, (BLOCK, BLOCK, BLOCK), (6, 10, 30)>"
    assert (pattern.deviating_ranks, pattern.grid) == ((rank,), (4, 4, 4))


def test_among_offsets() -> None:
    offsets = np.arange(200) * 4096
    offsets[7] += 100
    (pattern,) = find_patterns([pieces(range(200), offsets, [4096] * 200, 200)])
    assert (pattern.notation, pattern.deviating_ranks) == ("<1D, (BLOCK), (4096)>", (7,))


def test_at_most_sixteen_are_named() -> None:
    start, count = line(10_000)
    start[1000:1050] += 3
    pattern = one(blocks(range(10_000), start, count, 10_000, (100_000,)))
    assert (len(pattern.deviating_ranks), pattern.n_deviating) == (16, 50)


def test_single_blocks_among_strides_of_many_kinds_are_irregular() -> None:
    slabs = np.array([[[100 * r, 5 + r, 3 if r % 2 else 1, 2]] for r in range(8)])
    assert one(selections(range(8), slabs, 8, (5000,))).kind == PatternKind.IRREGULAR


def test_a_stride_of_terabytes_costs_no_memory() -> None:
    slabs = np.array([[[1000 * r + (r == 3), 10**12, 3, 1]] for r in range(8)])
    assert one(selections(range(8), slabs, 8, (0,))).kind == PatternKind.IRREGULAR
