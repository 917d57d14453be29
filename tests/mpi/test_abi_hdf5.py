# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 2 under the library: the calls that HDF5 1.10 does not have.

What both have is shown in test_runtime_hdf5.py and test_runtime_errors.py.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from abis import HDF5_2, hdf5_2_flags
from runtime_harness import Ran, flat, program, require, run, run_plain

from stripewise.model import IoLayer, Op
from stripewise.runtime._libraries import find_hdf5

pytestmark = pytest.mark.mpi

HDF5 = IoLayer.HDF5
DATASET = 64 * 512 * 8
READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)


def events(where: Path, *options: str, n_ranks: int = 2, configuration: str = "") -> Ran:
    """Run the program of asynchronous and multi-dataset calls; it checks what it reads back."""
    require("cmake")
    command = [program(HDF5_2, "h5events.c"), "out.h5", *options]
    ran = run(HDF5_2, n_ranks, command, where, configuration=configuration)
    assert (ran.code, ran.err) == (0, "")
    return ran


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["async", "multi"])
@pytest.mark.parametrize("collective", [False, True])
def test_calls_and_bytes_are_counted(mode: str, collective: bool, tmp_path: Path) -> None:
    ran = events(tmp_path, mode, *(["collective"] if collective else []))
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


def test_no_lower_call_is_outermost(tmp_path: Path) -> None:
    """Every call with an event set is wrapped: what it does below is inside of it."""
    ran = events(tmp_path, "async")
    lower = [ran.records(layer, "out.h5") for layer in (IoLayer.MPIIO, IoLayer.POSIX)]
    assert all(lower)
    assert {float(record["outermost_seconds"]) for records in lower for record in records} == {0}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["async", "multi"])
def test_the_content_is_the_same_as_without(mode: str, tmp_path: Path) -> None:
    command = [program(HDF5_2, "h5events.c"), "out.h5", mode]
    assert run_plain(HDF5_2, 2, command, tmp_path).returncode == 0
    (tmp_path / "out.h5").rename(tmp_path / "expected.h5")
    events(tmp_path, mode)
    with h5py.File(tmp_path / "out.h5") as one, h5py.File(tmp_path / "expected.h5") as other:
        for name in ("steps/a", "steps/b"):
            assert np.array_equal(one[name][...], other[name][...])


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["async", "multi"])
def test_settings_are_adopted(mode: str, tmp_path: Path) -> None:
    configuration = flat(
        "file * 0",
        "hdf5 alignment 65536,1048576",
        "hdf5 libver v200,latest",
        "hdf5 transfer collective",
        "dataset /steps/a",
        "hdf5 chunk 32,512",
        "hdf5 fill_time never",
        "hdf5 alloc_time early",
    )
    ran = events(tmp_path, mode, configuration=configuration)
    assert ran.applied(HDF5) == {
        "alignment": {"65536,1048576"},
        "libver": {"v200,latest"},
        "transfer": {"collective"},
        "/steps/a:chunk": {"32,512"},
        "/steps/a:fill_time": {"never"},
        "/steps/a:alloc_time": {"early"},
    }
    assert ran.bytes(HDF5, "out.h5", Op.WRITE_COLLECTIVE) == 2 * DATASET
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["steps/a"].chunks == (32, 512)
        assert file["steps/b"].id.get_offset() % 1048576 == 0


def test_transfer_of_several_datasets_is_the_first_ones(tmp_path: Path) -> None:
    """HDF5 takes one transfer list for all of them."""
    configuration = flat("file * 0", "dataset /steps/a", "hdf5 transfer collective")
    ran = events(tmp_path, "multi", configuration=configuration)
    assert ran.bytes(HDF5, "out.h5", Op.WRITE_COLLECTIVE) == 2 * DATASET


def test_the_build_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `stripewise runtime build` does for the kernel."""
    require("mpicc.mpich")
    prefix = Path(next(word[2:] for word in hdf5_2_flags() if word.startswith("-I"))).parent
    monkeypatch.setenv("HDF5_DIR", str(prefix))
    found = find_hdf5(Path("mpicc.mpich"), "mpich")
    assert found is not None
    assert found.version.split(".")[0] == "2"
