# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cases of another size."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.bench import Case
from stripewise.bench.running._fit_here import LEAST_BYTES, in_slow_motion, of_rank_bytes


def size_of(case: Case) -> int:
    return 8 * prod(map(int, case.local.split(",")))


@given(st.integers(17, 34), st.sampled_from([2, 7, 16, 64, 256]))
def test_blocks_become_shorter_by_the_slowdown(power: int, slowdown: int) -> None:
    case = Case("x", local=str(2**power // 8))
    found = size_of(in_slow_motion(case, slowdown))
    wanted = max(2**power / slowdown, min(LEAST_BYTES, 2**power))
    assert found == pytest.approx(wanted, abs=4096)
    assert found % 4096 == 0


@given(st.lists(st.integers(16, 512), min_size=3, max_size=3), st.sampled_from([4, 64]))
def test_arrays_keep_their_last_dimension_where_they_can(sides: list[int], slow: int) -> None:
    case = Case("x", pattern="array3d", local=",".join(map(str, sides)))
    made = in_slow_motion(case, slow)
    wanted = max(size_of(case) / slow, min(LEAST_BYTES, size_of(case)))
    assert 0.6 * wanted < size_of(made) < 1.7 * wanted
    if wanted > 10 * 8 * sides[1] * sides[2]:
        assert made.local.split(",")[1:] == case.local.split(",")[1:]


def test_what_is_not_in_slow_motion_stays() -> None:
    case = Case("x", local="1000")
    assert in_slow_motion(case, 1) is case


def test_a_block_stays_a_multiple_of_its_transfer() -> None:
    case = Case("x", local=str((256 << 20) // 8), transfer_bytes=3 << 20)
    for slowdown in (2, 64, 1000):
        assert size_of(in_slow_motion(case, slowdown)) % (3 << 20) == 0


def test_fewer_files_of_metadata_but_not_too_few() -> None:
    case = Case("x", runner="metadata", operation="metadata", files=1000)
    assert in_slow_motion(case, 4).files == 250
    assert in_slow_motion(case, 64).files == 16
    assert in_slow_motion(Case("x", operation="metadata", files=20), 64).files == 10


def test_bytes_of_a_rank() -> None:
    assert size_of(of_rank_bytes(Case("x", local="512"), 64 << 20)) == 64 << 20
    of_steps = of_rank_bytes(Case("x", local="131072", steps=4), 64 << 20)
    assert size_of(of_steps) == 16 << 20
    assert of_rank_bytes(Case("x", pattern="btio"), 64 << 20) == Case("x", pattern="btio")
