# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where requests meet that are under way together; classes against every single request played."""

from dataclasses import replace

import numpy as np
import pytest

from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import Rates, phase_times
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from stripewise.storage.stacks._base import at_once, spread
from support.player import play
from support.stack_workloads import pattern_of

MIB = 1 << 20
LAYOUT = Layout(8, MIB, 48)


def _met(distance, count=8):
    begins = np.arange(count) * distance
    return at_once(begins, MIB, np.arange(count) // 2, count, LAYOUT)


def test_parts_that_are_all_stripes_apart_meet_at_one_object():
    assert _met(8 * MIB).objects == 1
    assert (_met(8 * MIB).writers, _met(8 * MIB).nodes) == (8, 4)
    assert _met(4 * MIB).objects == 2
    assert (_met(9 * MIB).objects, _met(9 * MIB).writers) == (8, 1)


def test_processes_drift_apart_over_many_stripes_and_not_within_one():
    one = _met(8 * MIB)
    assert spread(one, 1, MIB, MIB, 8, MIB) == 1
    assert spread(one, 64, MIB / 64, MIB, 8, MIB) == 1
    assert spread(one, 1000, MIB, 1000 * MIB, 8, MIB) == pytest.approx(8, rel=0.01)


@pytest.mark.parametrize("storage", ["archer2-hdd", "shaheen2-datawarp"])
@pytest.mark.parametrize(
    ("stack", "pattern", "stripes", "settings"),
    [
        ("posix-shared", pattern_of((1 << 24,), (64,), writing=False), 24, {}),
        ("posix-shared", pattern_of((64, 64, 512), (4, 4, 4), writing=False), 12, {}),
        ("posix-node", pattern_of((256, 256, 256), (4, 4, 4)), 4, {}),
        ("ompio", pattern_of((256, 256, 256), (4, 4, 4), collective=1.0), 8,
         {"mpiio.cb_nodes": 1}),
        ("ompio", pattern_of((256, 256, 256), (4, 4, 4), collective=1.0, writing=False), 8,
         {"mpiio.cb_nodes": 8, "mpiio.cb_buffer_size": 2 * MIB}),
        ("ompio-lustre", pattern_of((256, 256, 256), (4, 4, 4), collective=1.0), 8, {}),
        ("adios2", pattern_of((256, 256, 256), (4, 4, 4)), 4, {"adios2.NumAggregators": 8}),
    ],
)  # fmt: skip
def test_classes_take_the_time_of_the_requests(storage, stack, pattern, stripes, settings):
    """Where neither locks change hands nor targets are chosen, by chance; without exchanges."""
    system, member = find_storage(storage), find_stack(stack)
    even = {name: one for name, one in system.figures.items() if name != "servers.jitter"}
    system = replace(system, figures=even)
    targets = int(system.value("servers.targets"))
    setup = Setup(Layout(min(stripes, targets), MIB, targets), settings, hosts=8)
    work = Workload((pattern,), 8, 8)
    phases = [one for one in member.phases(work, setup) if one.flows and one.name[:5] != "index"]
    times = phase_times(phases, Rates.of(system), setup.layout)
    seconds = sum(one.seconds - one.exchange * one.phase.repeats for one in times)
    played = play(member.requests(work, setup), system, setup.layout, np.arange(64) // 8)
    assert seconds == pytest.approx(played.ends.max(), rel=0.15)
