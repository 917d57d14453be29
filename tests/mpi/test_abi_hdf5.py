# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 1.14 and 2 under the library: the calls that HDF5 1.10 does not have.

What both have is shown in test_runtime_hdf5.py and test_runtime_errors.py.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from runtime_harness import Ran, flat, program, run, run_plain
from stacks import HDF5_1_14, HDF5_2

from stripewise.evidence.trace import IoLayer, Op

pytestmark = [pytest.mark.mpi, pytest.mark.roots]

HDF5 = IoLayer.HDF5
DATASET = 64 * 512 * 8
READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)


@pytest.fixture(params=[HDF5_1_14, HDF5_2])
def stack(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def events(stack: str, where: Path, *options: str, configuration: str = "") -> Ran:
    """Run the program of asynchronous and multi-dataset calls; it checks what it reads back."""
    command = [program(stack, "h5events.c"), "out.h5", *options]
    ran = run(stack, 2, command, where, configuration=configuration)
    assert (ran.code, ran.err) == (0, "")
    return ran


@pytest.mark.parametrize("mode", ["async", "multi"])
@pytest.mark.parametrize("collective", [False, True])
def test_calls_and_bytes_are_counted(
    stack: str, mode: str, collective: bool, tmp_path: Path
) -> None:
    ran = events(stack, tmp_path, mode, *(["collective"] if collective else []))
    kind = Op.WRITE_COLLECTIVE if collective else Op.WRITE
    assert ran.ranks() == [0, 1]
    assert ran.bytes(HDF5, "out.h5", kind) == ran.bytes(HDF5, "out.h5", *WRITES) == 2 * DATASET
    assert ran.bytes(HDF5, "out.h5", *READS) == 2 * DATASET
    assert (ran.profile.write_bytes, ran.profile.read_bytes) == (2 * DATASET, 2 * DATASET)
    for record in ran.records(HDF5, "out.h5"):
        count = record["count"]
        assert count[[Op.OPEN, Op.CLOSE, Op.SYNC]].tolist() == [2, 2, int(mode == "async")]
        assert count[kind] == (2 if mode == "async" else 1)
        assert record["outermost_seconds"] > 0


def test_no_lower_call_is_outermost(stack: str, tmp_path: Path) -> None:
    """Every call with an event set is wrapped: what it does below is inside of it."""
    ran = events(stack, tmp_path, "async")
    lower = [ran.records(layer, "out.h5") for layer in (IoLayer.MPIIO, IoLayer.POSIX)]
    assert all(lower)
    assert {float(record["outermost_seconds"]) for records in lower for record in records} == {0}


@pytest.mark.parametrize("mode", ["async", "multi"])
def test_the_content_is_the_same_as_without(stack: str, mode: str, tmp_path: Path) -> None:
    command = [program(stack, "h5events.c"), "out.h5", mode]
    assert run_plain(stack, 2, command, tmp_path).returncode == 0
    (tmp_path / "out.h5").rename(tmp_path / "expected.h5")
    events(stack, tmp_path, mode)
    with h5py.File(tmp_path / "out.h5") as one, h5py.File(tmp_path / "expected.h5") as other:
        for name in ("steps/a", "steps/b"):
            assert np.array_equal(one[name][...], other[name][...])


@pytest.mark.parametrize("mode", ["async", "multi"])
def test_settings_are_adopted(stack: str, mode: str, tmp_path: Path) -> None:
    newest = "v200" if stack == HDF5_2 else "v114"
    configuration = flat(
        "file * 0",
        "hdf5 alignment 65536,1048576",
        f"hdf5 libver {newest},latest",
        "hdf5 transfer collective",
        "dataset /steps/a",
        "hdf5 chunk 32,512",
        "hdf5 fill_time never",
        "hdf5 alloc_time early",
    )
    ran = events(stack, tmp_path, mode, configuration=configuration)
    assert ran.applied(HDF5) == {
        "alignment": {"65536,1048576"},
        "libver": {f"{newest},latest"},
        "transfer": {"collective"},
        "/steps/a:chunk": {"32,512"},
        "/steps/a:fill_time": {"never"},
        "/steps/a:alloc_time": {"early"},
    }
    assert ran.bytes(HDF5, "out.h5", Op.WRITE_COLLECTIVE) == 2 * DATASET
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["steps/a"].chunks == (32, 512)
        assert file["steps/b"].id.get_offset() % 1048576 == 0


def test_transfer_of_several_datasets_is_the_first_ones(stack: str, tmp_path: Path) -> None:
    """HDF5 takes one transfer list for all of them."""
    configuration = flat("file * 0", "dataset /steps/a", "hdf5 transfer collective")
    ran = events(stack, tmp_path, "multi", configuration=configuration)
    assert ran.bytes(HDF5, "out.h5", Op.WRITE_COLLECTIVE) == 2 * DATASET
