# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Unaligned writes of 47008 bytes by turns into one file, against a file per process.

Source: IO500 lists, ior-hard over ior-easy: 0.1 to 1 % on Lustre, 1.6 to 14 % on DataWarp.
"""

import pytest

from stripewise.storage.machines import find_storage
from stripewise.storage.simulation import simulate
from stripewise.storage.stacks import Workload
from support.stack_workloads import pattern_of

HARD_BYTES, WRITES = 47008, 50_000


def _share(storage: str, nodes: int, **how) -> float:
    system, ranks = find_storage(storage), 8 * nodes
    hard = pattern_of(
        (ranks * WRITES * HARD_BYTES,), (ranks,), (str(HARD_BYTES),), element_bytes=1
    )
    easy = pattern_of((ranks * WRITES * HARD_BYTES // 8,), (ranks,))
    shared, own = (
        simulate(system, Workload((pattern,), nodes, 8), stack, settings, **how)
        for pattern, stack, settings in (
            (hard, "posix-shared", {} if how else {"striping_factor": -1}),
            (easy, "posix-process", {} if how else {"striping_factor": 1}),
        )
    )
    return shared.bandwidth_bytes_per_second / own.bandwidth_bytes_per_second


@pytest.mark.parametrize(
    "storage",
    [
        "archer2-hdd", "archer2-nvme", "shaheen2-lustre", "cori-lustre", "lustre-flash",
        pytest.param("archer", marks=pytest.mark.xfail(
            reason="0.1 % was measured: a flush of a part of a RAID stripe costs more than the"
            " description's 1 ms", strict=True)),
    ],
)  # fmt: skip
def test_on_lustre_less_than_a_hundredth_is_left(storage):
    assert 0.001 <= _share(storage, 10) <= 0.01


def test_a_burst_buffer_loses_less():
    whole = 268 * (368 << 30)
    share = _share("shaheen2-datawarp", 10, capacity_bytes=whole)
    assert 0.016 <= share <= 0.14
    assert share > 5 * _share("shaheen2-lustre", 10)
