# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the model has to know of reads of what other ranks wrote."""

from dataclasses import replace

import numpy as np
import pytest

from stripewise.bench import Case
from stripewise.bench.runners import find_runner
from stripewise.storage.stacks._pieces import Ranges
from stripewise.storage.stacks._romio import CallFacts

SHARED = Case(
    "line", operation="write-read", backend="mpiio", mode="collective", ranks_per_node=4,
    local="1024", cache="shift",
)  # fmt: skip


def test_reads_that_go_round_are_interleaved_as_romio_looks_at_them():
    """The fact behind it: rank r reads what rank r + 1 wrote, and the last one rank 0's."""
    rank = np.arange(4)

    def asked(shift):
        ranges = Ranges(rank, (rank + shift) % 4 * 8192, np.full(4, 8192))
        return CallFacts.by(ranges, False, 4, 0)

    assert asked(1).interleaved
    assert not asked(0).interleaved


@pytest.mark.parametrize("runner", ["kernel", "ior"])
@pytest.mark.parametrize("stack", ["romio", "romio-lustre", "cray", "pnetcdf", "pnetcdf-cray"])
def test_collective_reads_of_others_data_are_buffered(runner, stack):
    found = find_runner(runner).read_settings(SHARED, stack)
    assert found == {"mpiio.romio_cb_read": "enable"}


@pytest.mark.parametrize(
    ("changed", "stack"),
    [({"cache": "none"}, "romio"), ({"mode": "independent"}, "romio"),
     ({"ranks_per_node": 1}, "romio"), ({}, "ompio"), ({}, "posix-shared")],
)  # fmt: skip
def test_other_reads_are_as_the_hints_say(changed, stack):
    assert not find_runner("kernel").read_settings(replace(SHARED, **changed), stack)


@pytest.mark.parametrize(
    ("backend", "own", "stack"),
    [("mpiio", "cray", "cray"), ("netcdf4", "cray", "cray"), ("pnetcdf", "cray", "pnetcdf-cray"),
     ("pnetcdf", "romio-lustre", "pnetcdf"), ("adios2", "cray", "adios2")],
)  # fmt: skip
def test_libraries_go_through_the_mpi_of_the_storages_users(backend, own, stack):
    assert find_runner("kernel").stack(replace(SHARED, backend=backend), own) == stack
