# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of requests in closed form, and every single request played: the same time."""

import numpy as np
import pytest

from stripewise.storage.simulation import simulate, workload_from_notation
from stripewise.storage.stacks import Setup, find_stack
from support.player import play
from support.storages import GIB, described

STORAGE = described(
    {
        "client.process_write": GIB,
        "client.file_write": 1.5 * GIB,
        "client.sharing": 0.3,
        "client.node_write": 9 * GIB,
        "client.request": 5e-5,
        "servers.target_write": 2 * GIB,
        "servers.target_request": 1e-4,
        "servers.whole_write": 20 * GIB,
        "locks.revoke": 1e-3,
        "locks.page": 5e-4,
    }
)


COLLECTIVE = ("cray", "romio-lustre", "ompio-lustre", "romio", "ompio")
OWN_FILES = ("adios2", "posix-process", "posix-node", "posix-serial")
CUBES, ROWS = "<3D,(BLOCK,BLOCK,BLOCK),(64,64,128)>", "<1D,BLOCK,524288>"


@pytest.mark.parametrize("stripes", [1, 4])
@pytest.mark.parametrize("nodes", [4, 8])
@pytest.mark.parametrize(
    ("stack", "notation"),
    [(stack, CUBES) for stack in COLLECTIVE] + [(stack, ROWS) for stack in OWN_FILES],
)
def test_a_stacks_requests_take_what_its_classes_take(stack, notation, nodes, stripes):
    work = workload_from_notation(notation, nodes, 16 // nodes, steps=2)
    settings = {"mpiio.striping_factor": stripes}
    found = simulate(STORAGE, work, stack, settings)
    requests = find_stack(stack).requests(work, Setup(found.layout, settings, nodes))
    mixed = np.random.default_rng(1).permutation(work.ranks)
    on = np.arange(work.ranks) // work.ranks_per_node
    played = play(requests, STORAGE, found.layout, on, places=mixed).ends.max()
    data = sum(one.seconds - one.metadata * one.phase.repeats for one in found.phases)
    assert data == pytest.approx(played, rel=0.1)
