# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated requests are those that real MPI libraries make: who, how many, where, how large."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from stripewise.storage.stacks import STACKS
from support.real_requests import Cell, differences, real_requests, setup, workload
from support.request_cells import CELLS, CUT_2D, SPREAD

pytestmark = pytest.mark.mpi
# Of all cells a part, and the others among the long tests; Open MPI takes longer to start.
QUICK = {str(cell) for cell in [c for c in CELLS if c.mpi in ("mpich", "lustre")][::4]} | {
    str(cell) for cell in [c for c in CELLS if c.mpi in ("romio321", "ompio")][::9]
}


def _cells(*, quick: bool) -> list[ParameterSet]:
    return [
        pytest.param(cell, marks=[pytest.mark.lustre_mpi] if cell.mpi == "lustre" else [])
        for cell in CELLS
        if (str(cell) in QUICK) == quick
    ]


def _compared(cell: Cell, where: Path) -> None:
    real = real_requests(cell, where)
    simulated = STACKS[cell.stack].requests(workload(cell), setup(cell))
    assert not differences(real, simulated), differences(real, simulated)


@pytest.mark.extended(keep=4)
@pytest.mark.parametrize("cell", _cells(quick=True), ids=str)
def test_requests_are_the_real_ones(cell: Cell, tmp_path: Path) -> None:
    _compared(cell, tmp_path)


@pytest.mark.extended(keep=1)
@pytest.mark.long
@pytest.mark.parametrize("cell", _cells(quick=False), ids=str)
def test_further_requests_are_the_real_ones(cell: Cell, tmp_path: Path) -> None:
    _compared(cell, tmp_path)


@pytest.mark.lustre_mpi
def test_the_lustre_driver_gives_each_stripe_one_writer(tmp_path: Path) -> None:
    """Of the real driver, whatever we simulate: stripe s belongs to aggregator s mod 4."""
    cell = Cell("lustre", **CUT_2D, settings=SPREAD, stripes=(4, 256 << 10))
    real = real_requests(cell, tmp_path)
    assert real["writing"].all()
    assert (real["size"] == 256 << 10).all()
    assert (real["offset"] // (256 << 10)).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert real["rank"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
