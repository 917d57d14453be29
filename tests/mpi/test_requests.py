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


def _ompio(*place: tuple[int, int, int], **other: object) -> Cell:
    """A cell of OMPIO; settings without a layer are MCA parameters of io_ompio."""
    settings = {
        name if "." in name else f"mca.io_ompio_{name}": value
        for name, value in dict(other.pop("settings", {})).items()
    }
    return Cell("ompio", *place, settings=settings, **other)


_CUBE = (8, 8, 8)
_TURNS = ("*", "*", "CYCLIC(1)")
OMPIO_CELLS = [
    _ompio((1, 512, 512), (1, 2, 2)),
    _ompio((7, 9, 11), (3, 2, 1), settings={"mpiio.cb_nodes": 3, "mpiio.cb_buffer_size": 1000}),
    _ompio((7, 9, 11), (3, 2, 1), settings={"num_aggregators": 4, "bytes_per_agg": 900}, steps=3),
    _ompio((3, 9, 11), (4, 1, 1), settings={"num_aggregators": 3}, steps=2),
    _ompio((24, 64, 512), (24, 1, 1)),
    _ompio(
        (24, 64, 512), (24, 1, 1),
        settings={"max_aggregators_ratio": 2, "aggregators_cutoff_threshold": 0},
    ),
    _ompio(_CUBE, (4, 1, 1), settings={"grouping_option": 6}),
    _ompio(_CUBE, (2, 1, 1)),
    _ompio(_CUBE, (2, 2, 1), collective=False),
    _ompio(_CUBE, (2, 2, 1), collective=False, settings={"cycle_buffer_size": 300}),
    _ompio(_CUBE, (1, 1, 4), _TURNS, collective=False, reading=True),
    _ompio(
        _CUBE, (1, 1, 4), _TURNS, collective=False, reading=True,
        settings={"mca.fbtl_posix_read_datasieving": 0},
    ),
    _ompio((8, 8, 64), (2, 2, 2), reading=True,
           settings={"num_aggregators": 3, "bytes_per_agg": 1500}),
    _ompio(_CUBE, (2, 2, 1), settings={"mpiio.collective_buffering": "true"}),
    _ompio(_CUBE, (1, 2, 2), settings={"mca.fcoll": "dynamic", "num_aggregators": 2}),
    _ompio((32, 64, 64), (1, 2, 2),
           settings={"mca.fcoll": "dynamic_gen2", "num_aggregators": 2, "bytes_per_agg": 1 << 18}),
]  # fmt: skip

CELLS = [
    Cell("mpich", (1, 512, 512), (1, 2, 2)),
    Cell("mpich", (1, 512, 512), (1, 2, 2), settings={**SPREAD, "mpiio.cb_nodes": 3}),
    Cell("lustre", (1, 1024, 1024), (1, 2, 2), settings=SPREAD, stripes=(4, 1 << 20)),
    Cell("romio321", (1, 512, 512), (1, 2, 2), collective=False),
    *OMPIO_CELLS,
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
