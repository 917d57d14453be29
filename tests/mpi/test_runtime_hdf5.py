# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 under the library: what is counted, and properties whose effect is observed."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from runtime_harness import FAMILIES, Ran, flat, program, require, run, run_plain
from stacks import CASE_OF_HDF5_2, tool

from stripewise.evidence.trace import IoLayer, Op, ProcessFlag

pytestmark = pytest.mark.mpi

HDF5 = IoLayer.HDF5
DATASET = 64 * 512 * 8
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
READS = (Op.READ, Op.READ_COLLECTIVE)


@pytest.fixture(params=[*FAMILIES, CASE_OF_HDF5_2])
def stack(request: pytest.FixtureRequest) -> str:
    require("cmake")
    tool(request.param, "mpicc")
    tool(request.param, "mpiexec")
    return str(request.param)


def write(
    stack: str, where: Path, *options: str, n_ranks: int = 2, configuration: str = ""
) -> Ran:
    """Run the HDF5 program; it checks what it reads back."""
    command = [program(stack, "h5writer.c"), "out.h5", *options]
    ran = run(stack, n_ranks, command, where, configuration=configuration)
    assert (ran.code, ran.err) == (0, "")
    return ran


def creation(path: Path, name: str) -> h5py.h5p.PropDCID:
    """Creation properties as they are in the file."""
    with h5py.File(path) as file:
        return file[name].id.get_create_plist()


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize("options", [(), ("collective",)])
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_calls_and_bytes_are_counted(
    stack: str, options: tuple[str, ...], n_ranks: int, tmp_path: Path
) -> None:
    ran = write(stack, tmp_path, *options, n_ranks=n_ranks)
    kind = Op.WRITE_COLLECTIVE if options else Op.WRITE
    assert ran.ranks() == list(range(n_ranks))
    assert ran.bytes(HDF5, "out.h5", kind) == ran.bytes(HDF5, "out.h5", *WRITES) == 2 * DATASET
    assert ran.bytes(HDF5, "out.h5", *READS) == 2 * DATASET
    assert ran.profile.write_bytes == 2 * DATASET
    for record in ran.records(HDF5, "out.h5"):
        assert record["count"][[Op.OPEN, Op.CLOSE, Op.SYNC]].tolist() == [2, 2, 1]
    flags = ProcessFlag.HDF5 | ProcessFlag.HDF5_PARALLEL
    assert all(p["flags"] & flags == flags for p in ran.profile.processes if p["rank"] >= 0)


@pytest.mark.extended(keep=1)
def test_serial_files_are_not_parallel(stack: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path, "serial")
    flags = ProcessFlag.HDF5 | ProcessFlag.HDF5_PARALLEL
    assert {int(p["flags"] & flags) for p in ran.profile.processes if p["rank"] >= 0} == {
        int(ProcessFlag.HDF5)
    }
    assert ran.bytes(HDF5, "out.h5.0", *WRITES) == 2 * DATASET


@pytest.mark.extended(keep=1)
def test_the_file_is_the_same_as_without(stack: str, tmp_path: Path) -> None:
    command = [program(stack, "h5writer.c"), "out.h5"]
    assert run_plain(stack, 2, command, tmp_path).returncode == 0
    expected = (tmp_path / "out.h5").read_bytes()
    write(stack, tmp_path)
    assert (tmp_path / "out.h5").read_bytes() == expected


@pytest.mark.extended(keep=1)
def test_alignment_makes_aligned_writes(stack: str, tmp_path: Path) -> None:
    before = write(stack, tmp_path)
    assert before.aligned_writes("out.h5", 17) == 0
    after = write(stack, tmp_path, configuration=flat("file * 0", "hdf5 alignment 65536,1048576"))
    assert after.aligned_writes("out.h5", 17) in (4, 5)  # datasets, and metadata behind one
    assert after.applied(HDF5) == {"alignment": {"65536,1048576"}}
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["steps/a"].id.get_offset() % 1048576 == 0


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("override", "multiple"), [("0", 4096), ("1", 65536)])
def test_the_programs_own_alignment(
    stack: str, override: str, multiple: int, tmp_path: Path
) -> None:
    configuration = flat(f"file * {override}", "hdf5 alignment 1,65536")
    ran = write(stack, tmp_path, "align=4096", configuration=configuration)
    assert bool(ran.applied(HDF5)) == (override == "1")
    with h5py.File(tmp_path / "out.h5") as file:
        offset = file["steps/b"].id.get_offset()
    assert offset % multiple == 0
    assert (offset % 65536 == 0) == (override == "1")


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("meta_block_size", "65536"),
        ("small_data_block_size", "65536"),
        ("coll_metadata_write", "1"),
        ("all_coll_metadata_ops", "1"),
        ("libver", "v110,latest"),
        ("mdc", "1048576,4194304"),
        ("chunk_cache", "1009,2097152,0.5"),
        ("chunk_cache", "1009,2097152"),
    ],
)
def test_access_properties_keep_the_content(
    stack: str, key: str, value: str, tmp_path: Path
) -> None:
    write(stack, tmp_path)
    (tmp_path / "out.h5").rename(tmp_path / "expected.h5")
    ran = write(stack, tmp_path, configuration=flat("file *.h5 0", f"hdf5 {key} {value}"))
    assert ran.applied(HDF5) == {key: {value}}
    with h5py.File(tmp_path / "out.h5") as one, h5py.File(tmp_path / "expected.h5") as other:
        for name in ("steps/a", "steps/b"):
            assert np.array_equal(one[name][...], other[name][...])


@pytest.mark.extended(keep=1)
def test_sieve_buffer_acts_on_serial_files(stack: str, tmp_path: Path) -> None:
    configuration = flat("file * 0", "hdf5 sieve_buf_size 1048576")
    assert write(stack, tmp_path, "serial", configuration=configuration).applied(HDF5)
    ran = write(stack, tmp_path, configuration=configuration)
    assert ran.applied(HDF5) == {}
    assert any("no data sieve" in note for note in ran.profile.notes)


@pytest.mark.extended(keep=1)
def test_libver_changes_the_format(stack: str, tmp_path: Path) -> None:
    write(stack, tmp_path, configuration=flat("file * 0", "hdf5 libver latest,latest"))
    with h5py.File(tmp_path / "out.h5") as file:
        assert file.id.get_create_plist().get_version()[0] >= 2


@pytest.mark.extended(keep=1)
def test_chunks_where_they_fit(stack: str, tmp_path: Path) -> None:
    configuration = flat(
        "file * 0",
        "dataset /steps/a",
        "hdf5 chunk 32,512",
        "hdf5 fill_time never",
        "hdf5 alloc_time early",
        "dataset b",
        "hdf5 chunk 65,512",
    )
    ran = write(stack, tmp_path, configuration=configuration)
    assert creation(tmp_path / "out.h5", "steps/a").get_chunk() == (32, 512)
    assert creation(tmp_path / "out.h5", "steps/a").get_fill_time() == h5py.h5d.FILL_TIME_NEVER
    assert creation(tmp_path / "out.h5", "steps/b").get_layout() == h5py.h5d.CONTIGUOUS
    assert ran.applied(HDF5)["/steps/a:chunk"] == {"32,512"}
    assert ran.applied(HDF5)["/steps/a:alloc_time"] == {"early"}
    assert any("larger than the dataset" in note for note in ran.profile.notes)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("chunk", ["32", "32,512,1", "0,512", "nonsense", "1,99999999999"])
def test_chunks_that_cannot_be_are_skipped(stack: str, chunk: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path, configuration=flat("file * 1", f"hdf5 chunk {chunk}"))
    assert creation(tmp_path / "out.h5", "steps/a").get_layout() == h5py.h5d.CONTIGUOUS
    assert ran.profile.notes


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("override", "rows"), [("0", 4), ("1", 16)])
def test_the_programs_own_chunks(stack: str, override: str, rows: int, tmp_path: Path) -> None:
    configuration = flat(f"file * {override}", "hdf5 chunk 16,512")
    write(stack, tmp_path, "chunk", configuration=configuration)
    assert creation(tmp_path / "out.h5", "steps/a").get_chunk() == (rows, 512)


@pytest.mark.extended(keep=1)
def test_allocation_time_of_the_programs_own_chunks(stack: str, tmp_path: Path) -> None:
    configuration = flat("file * 0", "hdf5 alloc_time early")
    ran = write(stack, tmp_path, "serial", "chunk", n_ranks=1, configuration=configuration)
    assert ran.applied(HDF5)["/steps/a:alloc_time"] == {"early"}
    found = creation(tmp_path / "out.h5.0", "steps/a").get_alloc_time()
    assert found == h5py.h5d.ALLOC_TIME_EARLY


@pytest.mark.extended(keep=1)
def test_collective_transfer(stack: str, tmp_path: Path) -> None:
    configuration = flat("file * 0", "dataset /steps/a", "hdf5 transfer collective")
    ran = write(stack, tmp_path, configuration=configuration)
    assert ran.bytes(HDF5, "out.h5", Op.WRITE_COLLECTIVE) == DATASET
    assert ran.bytes(HDF5, "out.h5", Op.WRITE) == DATASET
    assert ran.bytes(IoLayer.MPIIO, "out.h5", Op.WRITE_COLLECTIVE) == DATASET
    assert ran.applied(HDF5) == {"transfer": {"collective"}}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("override", "expected"), [("0", 0), ("1", 2 * DATASET)])
def test_independent_transfer(stack: str, override: str, expected: int, tmp_path: Path) -> None:
    configuration = flat(f"file * {override}", "hdf5 transfer independent")
    ran = write(stack, tmp_path, "collective", configuration=configuration)
    assert ran.bytes(HDF5, "out.h5", Op.WRITE) == expected


@pytest.mark.extended(keep=1)
def test_transfer_of_a_serial_file_is_left_alone(stack: str, tmp_path: Path) -> None:
    configuration = flat("file * 1", "hdf5 transfer collective")
    ran = write(stack, tmp_path, "serial", configuration=configuration)
    assert ran.bytes(HDF5, "out.h5.1", Op.WRITE_COLLECTIVE) == 0


@pytest.mark.extended(keep=1)
def test_hints_reach_hdf5_through_mpi_io(stack: str, tmp_path: Path) -> None:
    configuration = flat("file *.h5 0", "mpiio striping_unit 65536", "hdf5 meta_block_size 4096")
    ran = write(stack, tmp_path, configuration=configuration)
    assert ran.applied() == {"striping_unit": {"65536"}}
    assert ran.applied(HDF5) == {"meta_block_size": {"4096"}}


@pytest.mark.extended(keep=1)
def test_unmatched_calls_are_not_made_collective_by_counting(stack: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path, "partial")
    assert ran.bytes(HDF5, "out.h5", *WRITES) == DATASET
