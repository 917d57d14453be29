# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The strategy `auto` on burst buffers, and beside `expbb` on the description of Shaheen II."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import workload_from_notation
from stripewise.study.procedure import simulated_workload
from support.burst_buffer import (
    FILES,
    NODES,
    BtIo,
    Wrf,
    best,
    nodes_of,
    search,
)

RUNGS = (1, 2, 4, 8, 16, 32, 64)


@pytest.mark.parametrize(("program", "rungs"), [(BtIo(), RUNGS), (Wrf(), (2, 4, 8, 16, 32))])
def test_auto_gets_as_far_with_fewer_runs(program, rungs):
    by_rules = search("expbb", program, rungs)[2]
    by_itself = search("auto", program, rungs)[2]
    assert len(by_itself) < len(by_rules)
    assert best(by_itself).io_ratio < best(by_rules).io_ratio * 1.05


def test_auto_chooses_a_hybrid_run_where_a_small_file_is_costly():
    proposals, trials = search("auto", Wrf(), (40, 80))[1:]
    assert proposals[1].settings[FILES] == "wrfout*,wrfrst*"
    assert "namelist.input" in proposals[1].reason
    assert best(trials).settings[FILES] == "wrfout*,wrfrst*"


def test_auto_leaves_a_burst_buffer_that_is_slower():
    strategy, proposals, _ = search("auto", BtIo(on_lustre=1.0), (1, 2))
    assert any(NODES in p.settings for p in proposals)
    assert NODES not in proposals[-1].settings
    assert "burst_buffer_nodes" not in strategy.finished_because


def simulated(nodes, settings, programs={}):  # noqa: B006 - a cache
    """Return the I/O time of BT I/O on Shaheen II's burst buffer with so many nodes."""
    if nodes not in programs:
        storage = find_storage("shaheen2-datawarp")
        work = workload_from_notation("<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>", 8, 32)
        gib = round(storage.value("layout.granularity"))
        programs[nodes] = simulated_workload(storage, work, capacity_bytes=nodes * gib)
    return programs[nodes].seconds({n: v for n, v in settings.items() if n != NODES})


@pytest.mark.parametrize("name", ["expbb", "auto"])
def test_on_the_description_of_shaheen2(name):
    @dataclass
    class Shaheen(BtIo):
        def large(self, settings):
            nodes = settings.get(NODES)
            seconds = simulated(nodes, settings) if nodes else self.on_lustre
            assert seconds is not None
            return seconds

    program = Shaheen(written=32 << 30, on_lustre=20.0)
    proposals, trials = search(name, program, (1, 2, 4, 8, 16, 32, 64))[1:]
    assert max(map(nodes_of, proposals)) <= 16  # opening by 256 ranks takes longer on more nodes
    tuned = best(trials)
    assert tuned.settings[NODES] == 4
    assert tuned.io_ratio * program.on_lustre < simulated(64, {}) / 3
