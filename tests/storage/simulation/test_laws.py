# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the model must express, because published results turn on it: a test for each law."""

from random import Random

import numpy as np
import pytest

from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import (
    noise_factor,
    simulate,
    workload_from_kernel,
    workload_from_notation,
)
from support.storages import GIB, MIB, described

MB = 1e6
STREAM = GIB
LUSTRE = {
    "client.process_write": STREAM,
    "client.file_write": STREAM,
    "servers.target_write": 50 * GIB,
    "servers.whole_write": 10 * GIB,
}


def blocks(nodes, ranks_per_node=8):
    """A 3-D array of 8 MiB a rank, as benchmarks write it."""
    return workload_from_notation("<3D,(BLOCK,BLOCK,BLOCK),(64,64,256)>", nodes, ranks_per_node)


def bandwidth(figures, nodes, stack="cray", **settings):
    return simulate(described(figures), blocks(nodes), stack, settings).bandwidth_bytes_per_second


# ---- one writer per stripe ----------------------------------------------------------------------


@pytest.mark.parametrize("stack", ["cray", "romio-lustre", "ompio-lustre"])
@pytest.mark.parametrize("stripes", [1, 2, 4, 8])
@pytest.mark.parametrize("nodes", [1, 2, 4, 8, 64])
def test_a_shared_file_has_one_stream_per_stripe_or_node(stack, stripes, nodes):
    found = bandwidth(LUSTRE, nodes, stack, striping_factor=stripes)
    assert found == pytest.approx(STREAM * min(stripes, nodes), rel=0.03)


def test_until_the_whole_or_the_targets_saturate():
    assert bandwidth(LUSTRE, 64, striping_factor=12) == pytest.approx(10 * GIB, rel=0.03)
    slow = LUSTRE | {"servers.target_write": STREAM / 2}
    assert bandwidth(slow, 64, striping_factor=12) == pytest.approx(6 * GIB, rel=0.03)


def test_files_of_their_own_have_no_such_limit():
    own = bandwidth(LUSTRE, 8, "posix-process", striping_factor=1)
    assert own == pytest.approx(10 * GIB, rel=0.01)
    assert own > 9 * bandwidth(LUSTRE, 8, striping_factor=1)


# ---- aggregators --------------------------------------------------------------------------------


def aggregators(stack, work=None, **settings):
    found = simulate(described(LUSTRE), work or blocks(8), stack, settings)
    return found.requests.processes


def test_who_aggregates():
    assert aggregators("romio") == 8  # one a node
    assert aggregators("romio", cb_nodes=3) == 3
    assert aggregators("romio-lustre", striping_factor=4) == 4  # one a stripe
    assert aggregators("cray", striping_factor=4, cray_cb_nodes_multiplier=8) == 32
    assert aggregators("cray", striping_factor=4, cray_cb_nodes_multiplier=32) <= 64


def test_automatic_does_not_go_collective_where_ranks_do_not_interleave():
    work = workload_from_notation("<1D,BLOCK,1048576>", 8, 8)
    assert aggregators("romio", work) == 64
    assert aggregators("romio", work, romio_cb_write="enable") == 8


# ---- rounds -------------------------------------------------------------------------------------


def test_a_round_is_a_stripe_or_a_buffer_of_each_aggregator():
    work = blocks(8)
    lustre = simulate(described(LUSTRE), work, "cray", {"striping_factor": 4})
    assert lustre.requests.rounds == work.bytes / (4 * MIB)
    settings = {"cb_nodes": 4, "cb_buffer_size": 8 * MIB, "romio_cb_write": "enable"}
    generic = simulate(described(LUSTRE), work, "romio", settings)
    assert generic.requests.rounds == work.bytes / (4 * 8 * MIB)


def test_each_round_has_an_exchange():
    exchange = {"exchange.round": 0.01, "exchange.rank": 1e-5, "exchange.bandwidth": 4 * GIB}
    plain, with_exchange = (
        simulate(described(figures), blocks(8), "cray", {"striping_factor": 4}).seconds
        for figures in (LUSTRE, LUSTRE | exchange)
    )
    rounds = blocks(8).bytes / (4 * MIB)
    assert with_exchange - plain == pytest.approx(rounds * (0.01 + 64e-5 + MIB / 4 / GIB))


def test_where_writes_take_turns_a_node_reaches_one_target_at_a_time():
    figures = {"servers.target_write": GIB, "client.turns": 1.0}
    for nodes in (1, 2, 4):
        several = bandwidth(figures, nodes, striping_factor=8, cb_nodes=8)
        assert several == pytest.approx(nodes * GIB, rel=0.03)
    assert bandwidth(figures, 2, "posix-process") > 7.5 * GIB


def test_processes_of_a_node_contend_for_the_file_that_they_write():
    figures = {"client.file_write": GIB, "client.sharing": 0.1}
    on_node = {n: bandwidth(figures, 2, striping_factor=n, cb_nodes=n) for n in (2, 4, 8)}
    assert on_node[2] == pytest.approx(2 * GIB, rel=0.03)
    assert on_node[2] / on_node[4] == pytest.approx(1.1, rel=0.02)
    assert on_node[2] / on_node[8] == pytest.approx(1.3, rel=0.02)
    assert bandwidth(figures, 2, "posix-process") == pytest.approx(16 * GIB, rel=0.03)


# ---- locks --------------------------------------------------------------------------------------

LOCKS = LUSTRE | {"locks.revoke": 2e-3, "locks.page": 1e-3, "client.file_write": 8 * STREAM}


def test_an_objects_lock_changes_hands_between_nodes():
    found = simulate(described(LOCKS), blocks(4), "posix-shared", {"striping_factor": 1})
    assert found.limits[0].resource == "lock"
    assert "changes hands" in found.limits[0].words
    alone = simulate(described(LOCKS), blocks(1), "posix-shared", {"striping_factor": 1})
    assert alone.limits[0].resource != "lock"


def test_lock_ahead_removes_that_and_costs_by_itself():
    sharing = {"striping_factor": 4, "cray_cb_nodes_multiplier": 4}
    modes = [
        bandwidth(
            LOCKS | {"locks.ahead": ahead}, 16, **sharing, cray_cb_write_lock_mode=mode
        )
        for mode, ahead in ((0, 0.0), (1, 0.0), (2, 0.0), (2, 5e-3))
    ]  # fmt: skip
    assert modes[1] == pytest.approx(modes[2])
    assert modes[2] > 1.5 * modes[0]
    assert modes[3] < 0.7 * modes[2]
    # with one writer a stripe there is nothing to hand over, and locks ahead only cost
    one = {"striping_factor": 4, "cray_cb_nodes_multiplier": 1}
    figures = LOCKS | {"locks.ahead": 5e-4}
    assert bandwidth(figures, 16, **one, cray_cb_write_lock_mode=2) < bandwidth(figures, 16, **one)


def test_writers_that_are_not_aligned_share_pages():
    aligned, unaligned = (
        simulate(
            described(LOCKS),
            workload_from_notation(f"<1D,BLOCK,{elements}>", 4, 4),
            "posix-shared",
            {"striping_factor": 1},
        ).bandwidth_bytes_per_second
        for elements in (131072, 131072 - 100)
    )
    assert unaligned < 0.8 * aligned


def test_pieces_with_gaps_are_read_before_they_are_written():
    work = workload_from_notation("<2D,(*,CYCLIC),(256,512)>", 2, 4, collective=False)
    found = simulate(described(LUSTRE), work, "romio", {"romio_ds_write": "enable"})
    assert found.requests.read_modify_write_bytes > 0
    plain = simulate(described(LUSTRE), work, "romio", {"romio_ds_write": "disable"})
    assert plain.requests.read_modify_write_bytes == 0
    assert plain.requests.requests > found.requests.requests


def test_a_file_per_process_has_none_of_it():
    with_locks, without = (
        bandwidth(figures, 8, "posix-process", striping_factor=1)
        for figures in (LOCKS, {**LOCKS, "locks.revoke": 0.0, "locks.page": 0.0})
    )
    assert with_locks == without


# ---- burst buffers ------------------------------------------------------------------------------

# BT-IO on Shaheen II: 50 GiB by 256 ranks on 8 nodes, 64 aggregators.  Source: Markomanolis,
# "ExPBB: a framework to explore the performance of Burst Buffer", Cray User Group 2017.
GRANT = 368 * GIB


def btio(unit, nodes=1, multiplier=64):
    work = workload_from_kernel("btio --size 1103,1103,1103 --type double", 8, 32)
    settings = {"striping_unit": unit, "cray_cb_nodes_multiplier": multiplier}
    storage = find_storage("shaheen2-datawarp")
    return simulate(storage, work, settings=settings, capacity_bytes=nodes * GRANT)


def test_smaller_stripes_make_more_system_writes():
    large, small = btio(8 * MIB), btio(MIB)
    assert large.requests.requests == pytest.approx(6411, rel=0.01)
    assert small.requests.requests == pytest.approx(51211, rel=0.01)
    assert large.bandwidth_bytes_per_second == pytest.approx(2897 * MB, rel=0.05)
    assert small.bandwidth_bytes_per_second == pytest.approx(2165 * MB, rel=0.05)


def test_another_burst_buffer_node_nearly_doubles_that():
    one, two = btio(MIB), btio(MIB, nodes=2, multiplier=32)
    assert 1.6 < one.seconds / two.seconds < 2.05
    assert two.bandwidth_bytes_per_second == pytest.approx(3850 * MB, rel=0.15)


def test_capacity_grants_nodes_with_one_aggregator_each_by_default():
    storage = find_storage("shaheen2-datawarp")
    work = workload_from_kernel("btio --size 512,512,512", 8, 32)
    for capacity, granted in ((1, 1), (GRANT, 1), (GRANT + 1, 2), (40 * GRANT, 40)):
        found = simulate(storage, work, capacity_bytes=capacity)
        assert found.layout.stripe_count == granted
        assert found.requests.processes == granted


def test_64_times_the_nodes_are_less_than_8_times_as_fast():
    one, many = btio(8 * MIB, 1, 1), btio(8 * MIB, 64, 1)
    ratio = many.bandwidth_bytes_per_second / one.bandwidth_bytes_per_second
    assert 1 < ratio < 8


@pytest.mark.parametrize(("nodes", "seconds"), [(2, 0.67), (40, 36.6)])
def test_a_small_file_that_all_ranks_read_gets_dearer_with_nodes(nodes, seconds):
    storage = find_storage("shaheen2-datawarp")
    namelist = workload_from_notation(
        "<1D,(*),(12288)>", 40, 32, element_bytes=1, collective=False, writing=False
    )
    found = simulate(storage, namelist, "posix-shared", capacity_bytes=nodes * GRANT)
    assert found.seconds == pytest.approx(seconds, rel=0.03)
    assert found.limits[0].resource == "metadata"


# ---- noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [0.03, 0.1, 0.5])
def test_bandwidth_has_a_sharp_upper_edge_and_a_long_tail_below(cv):
    rng = Random(1)
    drawn = np.array([noise_factor(rng, cv) for _ in range(20_000)])
    assert drawn.std() / drawn.mean() == pytest.approx(cv, rel=0.05)
    assert (drawn == 1).mean() == pytest.approx(0.5, abs=0.02)
    assert drawn.mean() - drawn.min() > 2 * (drawn.max() - drawn.mean())
