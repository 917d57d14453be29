# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of processes that use the same kind of resource at the same time."""

import numpy as np
import pytest

from stripewise.storage.simulation import Rates, phase_times, simulate, workload_from_notation
from stripewise.storage.stacks import REQUEST_DTYPE, Flow, Layout, Phase, Setup, find_stack
from support.player import play
from support.storages import GIB, MIB, described


def of(processes, size, nodes, **more):
    return Flow(True, processes, nodes, 1, size, objects=4, **more)


def seconds(storage, flows, nodes):
    (time,) = phase_times(
        [Phase("round", 1, flows, nodes=nodes)], Rates.of(storage), Layout(4, MIB, 12)
    )
    return time.seconds


@pytest.mark.parametrize(
    ("figure", "nodes", "expected"),
    [
        ("client.file_write", 4, 1.0),  # the small one has a node to itself
        ("client.file_write", 2, 2.0),  # it is on one with a large one, two large ones are worse
        ("client.node_write", 1, 3.5),
        ("servers.target_write", 4, 1.0),
        ("servers.whole_write", 4, 3.5),
    ],
)
def test_an_instance_has_as_many_as_if_all_were_equal(figure, nodes, expected):
    storage = described({figure: MIB})
    flows = (of(3, MIB, min(3, nodes)), of(1, MIB / 2, 1))
    assert seconds(storage, flows, nodes) == pytest.approx(expected)


def test_edges_of_a_collective_call_take_what_they_do_one_by_one():
    storage = described(
        {"client.file_write": GIB, "client.process_write": 2 * GIB, "servers.target_write": GIB}
    )
    work = workload_from_notation("<1D,BLOCK,131840>", 4, 1, steps=6)
    settings = {"mpiio.striping_factor": 4, "mpiio.cb_nodes": 4, "mpiio.romio_cb_write": "enable"}
    found = simulate(storage, work, "romio-lustre", settings)
    requests = find_stack("romio-lustre").requests(work, Setup(found.layout, settings, 4))
    played = play(requests, storage, found.layout, np.arange(4)).ends.max()
    data = sum(one.seconds - one.metadata * one.phase.repeats for one in found.phases)
    assert data == pytest.approx(played, rel=0.03)


def rows_read_and_written(ranks, count):
    """Each rank reads and then writes windows of its own part of a new file."""
    found = np.zeros(ranks * count * 2, REQUEST_DTYPE)
    number = np.arange(found.size)
    found["rank"], found["order"] = np.divmod(number, 2 * count)
    found["offset"] = (found["rank"].astype(np.int64) * count + found["order"] // 2) * MIB
    found["size"], found["writing"] = MIB, found["order"] % 2 == 1
    return found


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("revoke", [0.0, 0.1])
def test_windows_that_are_read_before_they_are_written(ranks, revoke):
    storage = described(
        {"client.process_write": 20 * MIB, "client.process_read": 20 * MIB, "locks.revoke": revoke}
    )
    layout, count = Layout(1, MIB, 12), 16
    requests = rows_read_and_written(ranks, count)
    played = play(requests, storage, layout, np.arange(ranks)).ends.max()
    more = {"handovers": float(ranks > 1), "writers": ranks, "writer_nodes": ranks}
    reading = Flow(False, ranks, ranks, count, MIB, absent=1 / ranks, **more)
    writing = Flow(True, ranks, ranks, count, MIB, **more)
    phases = [Phase("read", 1, (reading,)), Phase("write", 1, (writing,))]
    closed = sum(one.seconds for one in phase_times(phases, Rates.of(storage), layout))
    assert closed == pytest.approx(played, rel=0.1)


@pytest.mark.parametrize("stack", ["romio", "romio-lustre", "ompio"])
def test_a_phase_says_over_how_many_nodes_its_classes_spread(stack):
    work = workload_from_notation("<1D,BLOCK,131840>", 4, 1, steps=3)
    settings = {"mpiio.striping_factor": 4, "mpiio.cb_nodes": 4, "mpiio.romio_cb_write": "enable",
                "mpiio.cb_buffer_size": MIB}  # fmt: skip
    phases = simulate(described({}), work, stack, settings).phases
    several = [one.phase for one in phases if len(one.phase.flows) > 1]
    assert all(one.nodes == min(4, sum(flow.processes for flow in one.flows)) for one in several)
    assert not any(one.phase.copied_bytes for one in phases)
