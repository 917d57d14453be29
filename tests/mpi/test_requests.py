# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated requests are those that real MPI libraries make: who, how many, where, how large."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.simulation.stacks import STACKS
from support.real_requests import Cell, differences, real_requests, setup, workload

pytestmark = pytest.mark.mpi

SPREAD = {"mpiio.cb_config_list": "*:*"}
"""Several aggregators on one host."""

CELLS = [
    Cell("mpich", (1, 512, 512), (1, 2, 2)),
    Cell("mpich", (1, 512, 512), (1, 2, 2), settings={**SPREAD, "mpiio.cb_nodes": 3}),
    Cell("lustre", (1, 1024, 1024), (1, 2, 2), settings=SPREAD, stripes=(4, 1 << 20)),
    Cell("romio321", (1, 512, 512), (1, 2, 2), collective=False),
    Cell("ompio", (1, 512, 512), (1, 2, 2)),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_requests_are_the_real_ones(cell: Cell, tmp_path: Path) -> None:
    if cell.stack not in STACKS:
        pytest.skip(f"no stack {cell.stack} yet")
    real = real_requests(cell, tmp_path)
    simulated = STACKS[cell.stack].requests(workload(cell), setup(cell))
    assert not differences(real, simulated), differences(real, simulated)


def test_the_lustre_driver_gives_each_stripe_one_writer(tmp_path: Path) -> None:
    """Of the real driver, whatever we simulate: stripe s belongs to aggregator s mod 4."""
    cell = Cell("lustre", (1, 1024, 1024), (1, 2, 2), settings=SPREAD, stripes=(4, 1 << 20))
    real = real_requests(cell, tmp_path)
    assert real["writing"].all()
    assert (real["size"] == 1 << 20).all()
    assert (real["offset"] >> 20).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert real["rank"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
