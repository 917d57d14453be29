# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ADIOS2's subfiles: who writes where and how much, and the same in classes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core.errors import UsageError
from stripewise.storage.simulation import simulate
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from support.stack_workloads import (
    pattern_of,
    patterns,
    sums_of_phases,
    sums_of_requests,
)
from support.storages import GIB, described
from support.work import calls_and_peak

LAYOUT = Layout(stripe_count=4, stripe_size=1 << 16, targets=8)
STACK = find_stack("adios2")


def _setup(hosts=1, **given):
    return Setup(LAYOUT, {f"adios2.{name}": value for name, value in given.items()}, hosts)


def _requests(ranks, hosts=1, steps=1, **given):
    """Rank, file, offset, size of ranks that have 1000 bytes each."""
    pattern = pattern_of((ranks,), (ranks,), element_bytes=1000, steps=steps)
    work = Workload((pattern,), hosts, ranks // hosts)
    found = STACK.requests(work, _setup(hosts, **given))
    return [tuple(int(row[name]) for name in ("rank", "file", "offset", "size")) for row in found]


def test_one_rank_a_host_writes_for_the_others():
    assert _requests(4, hosts=2) == [
        (0, 0, 0, 1000), (0, 0, 1000, 1000), (2, 1, 0, 1000), (2, 1, 1000, 1000)
    ]  # fmt: skip


def test_fewer_aggregators_than_hosts_are_one_a_host():
    assert {row[:2] for row in _requests(8, hosts=4, NumAggregators=2)} == {
        (0, 0), (2, 1), (4, 2), (6, 3)
    }  # fmt: skip


def test_aggregators_of_one_subfile_and_steps_begin_at_pages():
    assert _requests(4, steps=2, NumAggregators=2, NumSubFiles=1) == [
        (0, 0, 0, 1000), (0, 0, 1000, 1000), (0, 0, 8192, 1000), (0, 0, 9192, 1000),
        (2, 0, 4096, 1000), (2, 0, 5096, 1000), (2, 0, 12288, 1000), (2, 0, 13288, 1000),
    ]  # fmt: skip


def test_data_of_others_comes_in_pieces_of_half_the_shared_memory():
    assert [row[3] for row in _requests(2, MaxShmSize=1024)] == [1000, 448, 448, 104]


def test_everyone_writes_at_pages():
    assert _requests(2, AggregationType="EveryoneWrites") == [(0, 0, 0, 1000), (1, 0, 4096, 1000)]


def test_variables_of_a_step_are_one_call():
    both = tuple(
        pattern_of((4,), (2,), element_bytes=100).__class__(
            **{**pattern_of((4,), (2,), element_bytes=100).__dict__, "dataset": name}
        )
        for name in ("x", "y")
    )
    found = STACK.requests(Workload(both, 1, 2), _setup())
    assert found["size"].tolist() == [400, 400]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"engine": "BP3"}, "BP3"),
        ({"engine": "BP4"}, "BP4"),
        ({"AggregationType": "DataSizeBased"}, "DataSizeBased"),
        ({"NumAggregators": "some"}, "some"),
    ],
)
def test_what_is_not_modelled_is_said(given, said):
    with pytest.raises(UsageError, match=said):
        _requests(2, **given)


@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_classes_have_the_sums_of_the_requests(data):
    hosts = data.draw(st.integers(1, 3))
    work = Workload((data.draw(patterns(2 * hosts, file="a")),), hosts, 2)
    setup = _setup(
        hosts,
        NumAggregators=data.draw(st.integers(0, 6)),
        NumSubFiles=data.draw(st.integers(0, 3)),
        AggregationType=data.draw(st.sampled_from(["TwoLevelShm", "EveryoneWrites"])),
    )
    writing = work.patterns[0].writing
    phases = [one for one in STACK.phases(work, setup) if one.name != "index by rank 0"]
    requests = STACK.requests(work, setup)
    assert sums_of_phases(phases)[writing] == pytest.approx(sums_of_requests(requests)[writing])


def test_four_aggregators_a_node_share_the_writing_and_no_lock_changes_hands():
    pattern = pattern_of((2048, 1024, 1024), (16, 8, 8))
    work = Workload((pattern,), 8, 128)
    for per_node in (1, 4, 16, 64):
        setup = _setup(8, NumAggregators=8 * per_node)
        (flow,) = STACK.phases(work, setup)[1].flows
        assert (flow.processes, flow.files, flow.nodes) == (8 * per_node, 8 * per_node, 8)
        assert flow.count == 128 / per_node
        assert (flow.writers, flow.handovers) == (1, 0)


def test_data_of_others_is_copied_within_the_node_before_it_is_written():
    work = Workload((pattern_of((512, 512, 1024), (4, 4, 4)),), 4, 16)
    system = described({"client.memory": 2.0 * GIB})
    for per_node, share in ((1, 15 / 16), (4, 12 / 16), (16, 0.0)):
        settings = {"adios2.NumAggregators": 4 * per_node}
        found = simulate(system, work, "adios2", settings)
        assert found.seconds == pytest.approx(work.bytes / 4 * share / (2 * GIB))
        words = [one.words for one in found.limits]
        assert bool(share) == any("between the processes" in one for one in words)


def test_100000_ranks_cost_what_1000_do():
    def price(nodes):
        pattern = pattern_of((2048 * nodes, 1024, 1024), (8 * nodes, 4, 4))
        work, setup = Workload((pattern,), nodes, 128), _setup(nodes)
        return calls_and_peak(lambda: STACK.phases(work, setup))

    calls, peak = price(800)
    few, little = price(8)
    assert calls < 2 * few
    assert peak < 2 * little + 10_000
