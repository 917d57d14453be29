# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""POSIX in four ways: which calls each makes, and the same in classes."""

import pytest
from hypothesis import given, settings

from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from support.stack_workloads import (
    pattern_of,
    sums_of_phases,
    sums_of_requests,
    workloads,
)
from support.work import calls_and_peak

SETUP = Setup(Layout(stripe_count=4, stripe_size=1 << 16, targets=8))
WAYS = ("posix-process", "posix-node", "posix-shared", "posix-serial")


def _table(way, work):
    requests = find_stack(way).requests(work, SETUP)
    return [
        tuple(int(row[name]) for name in ("rank", "file", "offset", "size")) for row in requests
    ]


# 4 x 4 elements of 8 bytes in 2 x 2 blocks, on 2 nodes, twice.
QUARTERS = Workload((pattern_of((4, 4), (2, 2), steps=2),), 2, 2)


def test_a_file_per_process_has_its_blocks_one_after_another():
    assert _table("posix-process", QUARTERS) == [
        (rank, rank, step * 32, 32) for rank in range(4) for step in range(2)
    ]


def test_a_file_per_node_has_the_blocks_of_its_ranks():
    assert _table("posix-node", QUARTERS) == [
        (rank, rank // 2, step * 64 + rank % 2 * 32, 32) for rank in range(4) for step in range(2)
    ]


def test_one_file_gets_a_call_for_each_row_of_a_block():
    assert _table("posix-shared", QUARTERS)[4:8] == [
        (1, 0, 16, 16), (1, 0, 48, 16), (1, 0, 144, 16), (1, 0, 176, 16)
    ]  # fmt: skip


def test_rank_0_alone_writes_in_windows_of_4_mib():
    work = Workload((pattern_of((3 << 19,), (4,)),), 1, 4)
    assert _table("posix-serial", work) == [
        (0, 0, 0, 4 << 20), (0, 0, 4 << 20, 4 << 20), (0, 0, 8 << 20, 4 << 20)
    ]  # fmt: skip


def test_an_element_larger_than_the_window_is_one():
    work = Workload((pattern_of((2,), (2,), element_bytes=6 << 20),), 1, 2)
    assert [row[3] >> 20 for row in _table("posix-serial", work)] == [6, 6]
    assert find_stack("posix-serial").phases(work, SETUP)[-1].repeats == 2


def test_pieces_go_through_a_stage_of_4_mib_and_larger_ones_by_themselves():
    small = Workload((pattern_of((3, 1 << 19), (1, 2)),), 1, 2)  # rows of 2 MiB
    large = Workload((pattern_of((2, 3 << 19), (1, 2)),), 1, 2)  # rows of 6 MiB
    assert [row[3] >> 20 for row in _table("posix-process", small)] == [4, 2, 4, 2]
    assert [row[3] >> 20 for row in _table("posix-process", large)] == [6, 6, 6, 6]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("way", WAYS)
@given(work=workloads())
@settings(max_examples=60, deadline=None)
def test_classes_have_the_sums_of_the_requests(way, work):
    stack = find_stack(way)
    classes = sums_of_phases(stack.phases(work, SETUP))
    singles = sums_of_requests(stack.requests(work, SETUP))
    for direction in (True, False):
        assert classes[direction] == pytest.approx(singles[direction])


def test_only_the_shared_file_has_locks_that_change_hands():
    work = Workload((pattern_of((1 << 20,), (64,)),), 8, 8)
    flows = {way: find_stack(way).phases(work, SETUP)[-1].flows[0] for way in WAYS}
    assert flows["posix-shared"].handovers > 0.8
    assert flows["posix-shared"].writer_nodes > 1
    assert all(flows[way].handovers == 0 for way in WAYS if way != "posix-shared")
    assert flows["posix-process"].files == 64
    assert flows["posix-node"].files == 8


def test_blocks_of_47008_bytes_share_pages_and_blocks_of_whole_pages_do_not():
    def share(size):
        pattern = pattern_of((640,), (64,), ("1",), element_bytes=size)
        phases = find_stack("posix-shared").phases(Workload((pattern,), 8, 8), SETUP)
        return phases[-1].flows[0].shared_pages

    assert share(47008) == 1
    assert share(1 << 16) == 0


@pytest.mark.parametrize("way", WAYS)
def test_100000_ranks_cost_what_1000_do(way):
    def price(nodes):
        pattern = pattern_of((2048 * nodes, 1024, 1024), (8 * nodes, 4, 4), collective=1.0)
        work = Workload((pattern,), nodes, 128)
        return calls_and_peak(lambda: find_stack(way).phases(work, SETUP))

    calls, peak = price(800)
    few, little = price(8)
    assert calls < 2 * few
    assert peak < 2 * little + 10_000
