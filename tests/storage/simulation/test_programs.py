# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core import PatternSummary, ProgramFacts
from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import simulate, simulated_program, workload_from_notation

BLOCKS = PatternSummary(True, ("BLOCK", "BLOCK"), (4, 2), (256, 512), 8, 1, 1.0)
FACTS = ProgramFacts(
    n_ranks=8,
    mpi_family="mpich",
    mpiio_implementation="romio",
    mpiio_driver="LUSTRE",
    patterns=(BLOCKS,),
)
STORAGE = find_storage("archer")


def test_the_workload_is_that_of_the_pattern():
    program = simulated_program(FACTS, STORAGE, ranks_per_node=1)
    whole = workload_from_notation("<2D,(BLOCK,BLOCK),(256,512)>", 8, 1)
    assert program.workload.bytes == whole.bytes == 8 * 256 * 512 * 8
    assert (program.workload.nodes, program.workload.ranks_per_node) == (8, 1)
    told = simulate(STORAGE, whole, "romio-lustre", hosts=1).seconds
    assert program.seconds({}) == pytest.approx(told)


def test_datasets_and_steps_are_moved_one_after_another():
    once = 8 * 256 * 512 * 8
    several = replace(FACTS, patterns=(replace(BLOCKS, steps=3, datasets=2),))
    for times in (1, 3):
        moved = replace(several, write_bytes=2 * times * once)
        program = simulated_program(moved, STORAGE, ranks_per_node=1)
        assert program.workload.bytes == 2 * times * once


def test_calls_that_together_make_an_array_are_not_repetitions():
    rows = PatternSummary(True, ("*", "BLOCK"), (1, 8), (8, 4096), 4, 8, 1.0)
    facts = replace(FACTS, patterns=(rows,), write_bytes=8 * 8 * 4096 * 4)
    (row,) = simulated_program(facts, STORAGE, ranks_per_node=1).workload.patterns
    assert (row.extents, row.steps) == ((1, 8 * 4096), 8)


def test_stripes_and_aggregators_count():
    program = simulated_program(FACTS, STORAGE, ranks_per_node=1)
    striped = {"mpiio.striping_factor": 8, "mpiio.cb_config_list": "*:*", "mpiio.cb_nodes": 8}
    assert program.seconds(striped) < program.seconds({"mpiio.striping_factor": 1}) / 2
    assert {"mpiio.striping_factor", "mpiio.cb_nodes"} <= program.tunables


def test_settings_that_the_stack_ignores_change_nothing():
    program = simulated_program(FACTS, STORAGE, ranks_per_node=1)
    assert program.seconds({"hdf5.meta_block_size": 1 << 20}) == program.seconds({})


def test_impossible_settings_cannot_be_simulated():
    program = simulated_program(FACTS, STORAGE, ranks_per_node=1)
    assert program.seconds({"mpiio.striping_factor": 4000}) is None


def test_the_choice_of_mpi_io_changes_the_stack():
    facts = replace(
        FACTS, mpi_family="openmpi", mpiio_implementation="ompio", mpiio_driver="",
        mpiio_alternatives=("ompio", "romio321"),
    )  # fmt: skip
    program = simulated_program(facts, STORAGE, ranks_per_node=1)
    assert {"mpiio.romio_cb_write", "mca.io_ompio_num_aggregators"} <= program.tunables
    romio = program.seconds({"mca.io": "romio321"})
    assert romio == pytest.approx(simulated_program(
        replace(FACTS, mpiio_driver=""), STORAGE, ranks_per_node=1
    ).seconds({}))  # fmt: skip


def test_nothing_is_simulated_without_a_pattern_or_with_uneven_nodes():
    assert simulated_program(replace(FACTS, patterns=()), STORAGE, 1) is None
    assert simulated_program(FACTS, STORAGE, 3) is None


def test_a_variable_of_the_network_chooses_its_setup():
    archer2, name = find_storage("archer2-hdd"), "environment.FI_OFI_RXM_SAR_LIMIT"
    program = simulated_program(FACTS, archer2, ranks_per_node=1)
    assert name in program.tunables
    slow = program.seconds({name: "256K"})
    assert slow > 5 * program.seconds({})
    fixed = simulated_program(FACTS, archer2, 1, "ofi")
    assert name not in fixed.tunables
    assert fixed.seconds({name: "64K"}) == pytest.approx(slow)


def test_of_bytes_that_are_not_all_known_those_of_the_patterns_count():
    facts = ProgramFacts(
        write_bytes=5, patterns=(PatternSummary(True, bytes=100), PatternSummary(False, bytes=7))
    )
    assert facts.moved_bytes(writing=True) == 5
    partly = replace(facts, missing={"write_bytes": "not counted"})
    assert (partly.moved_bytes(writing=True), partly.moved_bytes(writing=False)) == (100, 0)
