# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated requests are those of the real libraries, as they were recorded; `tests/mpi` asks
the libraries themselves."""

from __future__ import annotations

import pytest

from stripewise.storage.stacks import STACKS
from support.real_requests import Cell, differences, setup, workload
from support.recorded_requests import recorded
from support.request_cells import CELLS
from support.stack_suite import sums


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_requests_are_the_recorded_ones(cell: Cell) -> None:
    simulated = STACKS[cell.stack].requests(workload(cell), setup(cell))
    assert not differences(recorded(cell), simulated), differences(recorded(cell), simulated)


@pytest.mark.parametrize("cell", [c for c in CELLS if c.halo and not c.kernel], ids=str)
def test_classes_count_what_buffers_with_gaps_cost(cell: Cell) -> None:
    stack, work = STACKS[cell.stack], workload(cell)
    single = stack.requests(work, setup(cell))
    for writing in (True, False):
        of_kind = single[single["writing"] == writing]
        count, size = sums(stack.phases(work, setup(cell)), writing)
        assert count == pytest.approx(len(of_kind), rel=0.02)
        assert size == pytest.approx(of_kind["size"].sum(), rel=0.02)


def test_a_difference_is_told() -> None:
    cell = next(cell for cell in CELLS if cell.mpi == "lustre" and cell.settings)
    real = recorded(cell)
    for field, value in (("offset", 1), ("size", 1), ("rank", 1)):
        other = real.copy()
        other[field][0] += value
        assert "rank 0" in differences(other, real)
    assert "rank 0" in differences(real[1:], real)
    assert "rank 0" in differences(real, real[1:])
    other = real.copy()
    other["writing"][0] = False
    assert "rank 0, request 0: real ('read'" in differences(other, real)
