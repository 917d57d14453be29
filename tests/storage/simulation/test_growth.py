# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a simulation does not grow with the ranks (how long it takes: `make bench`)."""

import sys
import tracemalloc

import pytest

from stripewise.storage.simulation import simulate, workload_from_notation
from stripewise.storage.stacks import stack_names
from support.storages import GIB, described

STORAGE = described(
    {"client.process_write": GIB, "exchange.rank": 1e-6, "locks.revoke": 1e-3}, stack="cray"
)
MODEST, HUGE = (100, 100), (10_000, 100)


def simulated(size, notation, stack):
    work = workload_from_notation(notation, *size, steps=2)
    return simulate(STORAGE, work, stack, {"striping_factor": -1})


def calls(*case):
    count = 0

    def seen(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        simulated(*case)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("stack", stack_names())
@pytest.mark.parametrize(
    "notation", ["<3D,(BLOCK,BLOCK,BLOCK),(60,100,300)>", "<2D,(CYCLIC(4),*),(64,1024)>"]
)
def test_a_million_ranks_take_no_more_steps_than_ten_thousand(stack, notation):
    simulated(HUGE, notation, stack)
    assert calls(HUGE, notation, stack) < 1.5 * calls(MODEST, notation, stack) + 200
    tracemalloc.start()
    simulated(HUGE, notation, stack)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
