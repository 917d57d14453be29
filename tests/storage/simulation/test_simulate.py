# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from math import inf
from random import Random
from statistics import median, pstdev

import pytest

from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.storage.machines import Transport, find_storage
from stripewise.storage.simulation import noise_factor, simulate, workload_from_notation
from support.storages import GIB, MIB, described, figure

WORK = workload_from_notation("<1D,BLOCK,131072>", 4, 4, steps=8)


def test_the_lustre_driver_takes_all_targets_where_only_their_size_is_given():
    """Seen with the real driver on emulated storage: ad_lustre_open.c asks for a count of -1."""
    storage = find_storage("lustre-flash")
    settings = {"striping_unit": 1 << 20}
    assert simulate(storage, WORK, "romio-lustre", settings).layout.stripe_count == 58
    assert simulate(storage, WORK, "romio", settings).layout.stripe_count < 58
    settings["striping_factor"] = 3
    assert simulate(storage, WORK, "romio-lustre", settings).layout.stripe_count == 3


def test_time_bandwidth_and_limits_go_together():
    found = simulate(described({"client.process_write": GIB}), WORK, "posix-process")
    assert found.seconds == pytest.approx(8 / 1024)
    assert found.bytes == 16 * 8 * MIB
    assert found.bandwidth_bytes_per_second == pytest.approx(16 * GIB)
    assert found.limits[0].words == "16 writers with a file each: 16 x 1 GiB/s"
    assert found.requests.requests == 128
    assert found.requests.size_bytes == MIB


def test_the_layout_is_that_of_the_settings():
    storage = described({"layout.stripe_count": 2})
    assert simulate(storage, WORK, "posix-shared").layout.stripe_count == 2
    every = simulate(storage, WORK, "posix-shared", {"striping_factor": -1, "striping_unit": MIB})
    assert (every.layout.stripe_count, every.layout.stripe_size) == (12, MIB)
    with pytest.raises(ConfigurationError, match="test has 12 targets; give at most that, or -1"):
        simulate(storage, WORK, "posix-shared", {"striping_factor": 13})


def test_a_burst_buffer_is_granted_by_capacity():
    storage = described({"layout.granularity": 200 * GIB}, kind="datawarp")
    found = simulate(storage, WORK, "posix-shared", capacity_bytes=900 * GIB)
    assert found.layout.stripe_count == found.layout.targets == 5
    with pytest.raises(ConfigurationError, match="needs 13 nodes of 200 GiB; test has 12"):
        simulate(storage, WORK, "posix-shared", capacity_bytes=2401 * GIB)
    with pytest.raises(ConfigurationError, match="fixed targets"):
        simulate(described(), WORK, "posix-shared", capacity_bytes=GIB)


def test_nodes_have_private_parts_of_a_burst_buffer():
    figures = {"layout.granularity": GIB, "servers.target_write": GIB, "metadata.growth": 1.0}
    storage = described(figures | {"metadata.create": 1e-3}, kind="datawarp")

    def on(granted, private, stack="posix-process"):
        return simulate(storage, WORK, stack, capacity_bytes=granted * GIB, private=private)

    # 32 MiB a node: two nodes share a target, or each has its own
    data = [sum(t.seconds for t in on(n, True).phases if t.flows) for n in (2, 4, 8)]
    assert data == pytest.approx([64 / 1024, 32 / 1024, 32 / 1024])
    assert on(4, True).seconds < on(4, False).seconds  # metadata of one target, not of four
    with pytest.raises(ConfigurationError, match="share no files, as posix-shared does"):
        on(4, True, "posix-shared")
    with pytest.raises(ConfigurationError, match="test is not a burst buffer"):
        simulate(described(), WORK, "posix-process", private=True)
    with pytest.raises(ConfigurationError, match=r"leave mpiio\.striping_factor out"):
        simulate(storage, WORK, "posix-process", {"striping_factor": 2}, private=True)


def test_a_transport_is_chosen_by_name_or_environment_and_may_hang():
    slow = {"client.node_write": figure(GIB)}
    storage = described(
        transports=(Transport("ofi"), Transport("ucx", {"NET": "ucx"}, slow, hangs_from_nodes=8))
    )
    assert simulate(storage, WORK, "posix-shared").transport == "ofi"
    by_name = simulate(storage, WORK, "posix-shared", transport="ucx")
    by_variable = simulate(storage, WORK, "posix-shared", transport={"NET": "ucx"})
    assert by_name == by_variable
    assert by_name.limits[0].resource == "node"
    many = workload_from_notation("<1D,BLOCK,131072>", 8, 4)
    hung = simulate(storage, many, "posix-shared", transport="ucx")
    assert (hung.seconds, hung.bandwidth_bytes_per_second) == (inf, 0.0)
    assert "jobs of 8 nodes and more hang" in hung.limits[0].words
    with pytest.raises(ConfigurationError, match="no transport 'tcp': use one of ofi, ucx"):
        simulate(storage, WORK, "posix-shared", transport="tcp")


def test_what_does_not_act_is_said():
    (note,) = simulate(described(), WORK, "posix-shared", {"cb_nodes": 4}).notes
    assert note == "The stack posix-shared ignores mpiio.cb_nodes."
    large = workload_from_notation("<1D,BLOCK,8>", 2000, 1)
    assert simulate(described(), large, "posix-shared").notes == (
        "The machine has 1,024 nodes, not 2,000.",
    )


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match="no software stack is called 'nfs'"):
        simulate(described(), WORK, "nfs")
    with pytest.raises(UsageError, match="no tunable is called 'cb_nods', did you mean"):
        simulate(described(), WORK, "posix-shared", {"cb_nods": 4})


@pytest.mark.parametrize("cv", [0.03, 0.11, 0.5])
def test_noise_has_an_upper_edge_and_the_asked_variation(cv):
    rng = Random(7)
    drawn = [noise_factor(rng, cv) for _ in range(20_000)]
    assert max(drawn) == median(drawn) == 1.0
    assert pstdev(drawn) / (sum(drawn) / len(drawn)) == pytest.approx(cv, rel=0.05)


def test_no_noise_and_impossible_noise():
    assert noise_factor(Random(1), 0.0) == 1.0
    with pytest.raises(UsageError, match="coefficient of variation of 1 is impossible"):
        noise_factor(Random(1), 1.0)
