# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""benchio of ARCHER2: a 3-D array of 16 MiB a rank, 128 ranks a node, 12 stripes of 1 MiB."""

from __future__ import annotations

import pytest

from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack

BLOCK = Distribution("BLOCK")
MIB = 1 << 20


def benchio(nodes):
    grid = (nodes * 2, 8, 8)
    extents = tuple(128 * parts for parts in grid)
    pattern = Pattern(
        "benchio", "array", True, PatternKind.DISTRIBUTED, (BLOCK,) * 3, (128,) * 3, grid,
        extents, 8, nodes * 128, nodes * 128, collective=1.0, rank_strides=(64, 8, 1),
    )  # fmt: skip
    return Workload((pattern,), nodes, 128)


def writes(nodes, stack="cray", **settings):
    setup = Setup(Layout(12, MIB, 12), {f"mpiio.{k}": v for k, v in settings.items()}, nodes)
    return [one for one in find_stack(stack).phases(benchio(nodes), setup) if one.flows]


@pytest.mark.parametrize(
    ("nodes", "multiplier", "on_nodes"), [(1, 1, 1), (64, 1, 12), (16, 4, 16)]
)
def test_aggregators_are_stripes_times_the_multiplier_on_all_nodes(nodes, multiplier, on_nodes):
    full, _ = writes(nodes, cray_cb_nodes_multiplier=multiplier)
    assert full.flows[0].processes == 12 * multiplier
    assert full.flows[0].nodes == on_nodes
    assert full.flows[0].size == full.exchange_bytes == MIB
    assert full.ranks == nodes * 128


def test_every_byte_is_written_once_and_a_round_is_one_stripe_of_each():
    phases = writes(64, cray_cb_nodes_multiplier=16)
    total = sum(p.repeats * f.processes * f.count * f.size for p in phases for f in p.flows)
    assert total == 64 * 128 * 16 * MIB
    assert sum(p.repeats for p in phases) == -(-64 * 128 * 16 // 192)


def test_one_aggregator_for_each_stripe_never_gives_a_lock_away():
    flow = writes(64)[0].flows[0]
    assert (flow.writers, flow.handovers, flow.lock_mode) == (1, 0, 0)


def test_several_aggregators_for_each_stripe_meet_at_its_lock():
    flow = writes(64, cray_cb_nodes_multiplier=4, cray_cb_write_lock_mode=2)[0].flows[0]
    assert (flow.writers, flow.writer_nodes, flow.handovers, flow.lock_mode) == (4, 4, 1, 2)
    # On 4 nodes the aggregators of one stripe are on the same node: 12 is a multiple of 4.
    assert writes(4, cray_cb_nodes_multiplier=4)[0].flows[0].handovers == 0


def test_cb_nodes_and_the_list_of_hosts_go_before_the_multiplier():
    assert writes(4, cb_nodes=6, cray_cb_nodes_multiplier=8)[0].flows[0].processes == 6
    assert writes(4, cb_config_list="*:2", cray_cb_nodes_multiplier=8)[0].flows[0].processes == 8


@pytest.mark.parametrize("multiplier", [1, 4])
def test_pnetcdf_writes_through_the_same_aggregators_behind_its_header(multiplier):
    header, *data = writes(4, "pnetcdf-cray", cray_cb_nodes_multiplier=multiplier)
    assert (header.flows[0].processes, header.flows[0].size) == (1, 200)
    full = max(data, key=lambda one: one.repeats)
    assert full.flows[0].processes == 12 * multiplier
    assert sum(p.repeats * f.processes * f.count * f.size for p in data for f in p.flows) == (
        4 * 128 * 16 * MIB
    )
