# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The published tables: whole, with a source, and split before anything is fitted."""

import pytest
from published import PLANS, UNITS, load_table, table_names
from published._plans import REASONS

from stripewise.core.errors import UsageError

CALIBRATED = {
    "archer-file-per-process": 2,
    "archer-mpiio": 5,
    "archer2-hdd-adios2": 3,
    "archer2-hdd-hdf5-lock2": 2,
    "archer2-hdd-mpiio-lock0": 2,
    "archer2-hdd-mpiio-lock2": 12,
    "archer2-nvme-adios2": 1,
    "edison-kernels-model": 2,
    "hopper-kernels-model": 3,
    "shaheen2-datawarp-btio": 2,
    "shaheen2-datawarp-small-files": 2,
    "stampede-kernels-genetic": 1,
    "stampede-kernels-model": 2,
}
"""Table -> cells that a fit may use; no other table has one."""


@pytest.mark.parametrize("name", table_names())
def test_a_table_is_whole(name: str) -> None:
    table = load_table(name)
    assert table.name == name
    assert table.unit in UNITS
    assert table.title
    assert table.source
    assert table.rule
    assert table.cells
    for cell in table.cells:
        assert 0 < cell.low <= cell.value <= cell.high
        assert "stack" in cell.workload


def test_the_cells_to_fit_are_those_that_were_chosen_first() -> None:
    chosen = {
        name: sum(cell.calibrate for cell in load_table(name).cells) for name in table_names()
    }
    assert {name: number for name, number in chosen.items() if number} == CALIBRATED


def test_the_cells_to_fit_follow_the_rule() -> None:
    chosen = {
        (cell.settings["cray_cb_nodes_multiplier"], cell.workload["nodes"])
        for cell in load_table("archer2-hdd-mpiio-lock2").cells
        if cell.calibrate
    }
    assert chosen == {(m, nodes) for m in (1, 4, 16) for nodes in (1, 4, 16, 64)}


def test_a_cell_has_what_its_table_says() -> None:
    cell = load_table("archer2-hdd-mpiio-lock2").cells[0]
    assert cell.settings["cray_cb_write_lock_mode"] == 2
    assert cell.workload["ranks_per_node"] == 128
    assert cell.value == pytest.approx(1.334 * 2**30)
    assert cell.repeats == 20


def test_an_unknown_table_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="archer-mpiio"):
        load_table("none")


def test_what_a_fit_expects_has_a_document_or_a_reason():
    for plan in PLANS.values():
        for one in plan.free:
            assert one.source or REASONS[one.name]
