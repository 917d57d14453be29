# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules about requests: each with a run that has it and one that has not."""

import numpy as np
import pytest
from runs import GIB, KIB, MIB, RunBuilder

from stripewise.diagnosis import Severity, diagnose
from stripewise.model import IoLayer, Op, ShapeKind, TraceObject, TraceShape

FILE = "/scratch/out.h5"


def codes(run, **fields):
    return [found.code for found in diagnose(run.evidence(**fields)).findings]


def only(run):
    (found,) = diagnose(run.evidence()).findings
    return found


def independent(op=Op.WRITE, layer=IoLayer.HDF5, count=10_000, size=4 * KIB, seconds=28.0):
    run = RunBuilder(n_ranks=4, elapsed=120.0)
    run.everyone(FILE, layer, {op: (count, count * size, seconds), Op.OPEN: (1, 0, 0.01)})
    return run


def test_small_independent_writes_to_a_shared_file():
    found = only(independent())
    assert found.code == "small-independent"
    assert found.severity is Severity.HIGH
    assert found.phrase == "4 KiB independent writes to out.h5"
    assert found.stake_seconds == pytest.approx(28.0)
    assert found.cost_seconds == pytest.approx(28.0 - 4 * 10_000 * 4 * KIB / GIB)
    assert found.evidence["calls"] == 40_000
    assert found.evidence["ranks"] == 4
    assert "H5FD_MPIO_COLLECTIVE" in found.remedy
    assert found.lines == ()  # hints act on collective calls alone
    assert found.tune == "stripewise tune --allow contract -- mpiexec -n 4 ./program"


def test_the_summary_names_the_costliest_finding():
    told = diagnose(independent().evidence())
    assert told.headline == told.summary
    assert told.headline == (
        "23.3 % of the run was I/O: 28 of 28 s in 4 KiB independent writes to out.h5. "
        "Transfer collectively: H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)."
    )


def test_small_independent_reads_through_mpiio():
    found = only(independent(Op.READ, IoLayer.MPIIO, size=64 * KIB))
    assert found.phrase == "64 KiB independent reads from out.h5"
    assert "MPI_File_read_all" in found.remedy


@pytest.mark.parametrize(
    "changes",
    [
        {"op": Op.WRITE_COLLECTIVE},
        {"size": 4 * MIB},
        {"seconds": 0.5},
        {"count": 20, "seconds": 20.0},
    ],
    ids=str,
)
def test_collective_large_cheap_or_few_writes_are_no_finding(changes):
    assert codes(independent(**changes)) == []


def test_the_loss_is_measured_against_large_requests_of_the_same_run():
    run = independent(seconds=10.0)
    run.everyone("/scratch/bulk", IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (8, 64 * MIB, 6.4)})
    found = only(run)
    moved = 4 * 10_000 * 4 * KIB
    assert found.cost_seconds == pytest.approx(10.0 - moved / (4 * 64 * MIB / 6.4))


def serial_file(layer=IoLayer.POSIX, op=Op.WRITE, count=20_000, size=512, order=1.0, rank=0):
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    run.add("/scratch/a.dat", layer, rank, {op: (count, count * size, 20.0)}, order=order)
    return run


def test_small_sequential_writes_to_an_own_file():
    found = only(serial_file())
    assert found.code == "small-sequential"
    assert found.lines[0].startswith("export GFORTRAN_UNFORMATTED_BUFFER_SIZE=1048576")
    told = diagnose(serial_file().evidence())
    assert told.summary.endswith(". Add `export GFORTRAN_UNFORMATTED_BUFFER_SIZE=1048576`.")


def test_small_files_of_several_ranks_are_one_finding_of_the_slowest_rank():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank in range(4):
        for step in range(3):
            path = f"/scratch/r{rank}.{step}"
            run.add(path, IoLayer.POSIX, rank, {Op.WRITE: (2000, 2000 * KIB, 2.0 + rank)})
    (found,) = [f for f in diagnose(run.evidence()).findings if f.code == "small-sequential"]
    assert found.n_files == 12
    assert found.stake_seconds == pytest.approx(3 * 5.0)
    assert found.phrase == "1 KiB sequential writes to 12 files (r3.0 and others)"


def test_tiny_stdio_calls():
    assert codes(serial_file(IoLayer.STDIO, size=20)) == ["tiny-stdio"]
    assert codes(serial_file(IoLayer.STDIO, size=64 * KIB)) == []


def test_random_reads():
    found = only(serial_file(op=Op.READ, size=4 * KIB, order=0.05))
    assert found.code == "random-access"
    assert found.evidence["forward_share"] == pytest.approx(0.05)
    assert "random reads of 4 KiB" in found.phrase


def namelist(n_ranks=1280, size=22 * KIB, slowest=36.6, extent=22 * KIB):
    run = RunBuilder(n_ranks=n_ranks, elapsed=300.0)
    times = np.linspace(20.4, slowest, n_ranks)
    for rank, seconds in enumerate(times[::-1]):
        ops = {Op.OPEN: (1, 0, seconds / 2), Op.READ: (6, size, seconds / 2)}
        run.add("/lustre/namelist.input", IoLayer.POSIX, rank, ops, maximum_offset=extent)
    return run


def test_a_namelist_that_every_rank_reads():
    """22 KiB read by 1280 ranks, 36.6 s of the slowest: the case that a talk on burst buffers
    made known (G. Markomanolis, "ExPBB", KAUST)."""
    told = diagnose(namelist().evidence())
    (found,) = told.findings
    assert found.code == "same-small-file"
    assert found.cost_seconds == pytest.approx(36.6, abs=0.01)
    assert found.phrase == "1280 ranks reading all of namelist.input"
    assert "MPI_Bcast" in found.remedy
    assert "sbcast /lustre/namelist.input /dev/shm/namelist.input" in found.lines[0]
    (row,) = told.variance
    assert (row.processes, row.slowest_rank, row.fastest_rank) == (1280, 0, 1279)
    assert row.slowest_seconds == pytest.approx(36.6)
    assert row.fastest_seconds == pytest.approx(20.4)
    assert row.slowest_bytes == 22 * KIB


def test_a_namelist_that_costs_nothing_is_no_finding():
    run = RunBuilder(n_ranks=8, elapsed=100.0)
    run.everyone("/d/namelist", IoLayer.POSIX, {Op.READ: (6, KIB, 0.01)}, maximum_offset=KIB)
    assert codes(run) == []


def test_the_same_bytes_read_many_times():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone("/d/table", IoLayer.POSIX, {Op.READ: (100, 4 * GIB, 12.0)}, maximum_offset=GIB)
    found = only(run)
    assert found.code == "redundant-reads"
    assert found.cost_seconds == pytest.approx(12.0 * 15 / 16)
    assert found.evidence["times"] == pytest.approx(16)


def test_reading_each_byte_once_is_no_redundancy():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone("/d/table", IoLayer.POSIX, {Op.READ: (100, GIB // 4, 12.0)}, maximum_offset=GIB)
    assert codes(run) == []


def broken(independent_bytes):
    """Collective HDF5 writes; beneath them `independent_bytes` of 512 MiB go independently."""
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    moved = 256 * MIB
    together = moved - independent_bytes // 2
    run.everyone(FILE, IoLayer.HDF5, {Op.WRITE_COLLECTIVE: (32, moved, 20.0)})
    run.everyone(
        FILE,
        IoLayer.MPIIO,
        {
            Op.WRITE: (64, independent_bytes // 2, independent_bytes / (50 * MIB)),
            Op.WRITE_COLLECTIVE: (4 if together else 0, together, 5.0),
        },
        own=False,
    )
    return run


def test_collective_calls_that_ended_independent():
    found = only(broken(512 * MIB))
    assert found.code == "broken-collective"
    assert found.cost_seconds == pytest.approx(20.0 - 0.5)
    assert "H5Pget_mpio_no_collective_cause" in found.remedy


def test_waiting_in_collective_calls_is_no_loss_of_broken_ones():
    run = broken(512 * MIB)
    for row in run.rows:
        if row["layer"] == IoLayer.HDF5 and row["rank"] == 1:
            row["seconds"][Op.WRITE_COLLECTIVE] = row["outermost_seconds"] = 0.6
    assert codes(run) == []


def test_metadata_of_hdf5_beneath_collective_calls_breaks_nothing():
    assert codes(broken(64 * KIB)) == []


def sieving(modify, seconds=6.0):
    run = RunBuilder(n_ranks=4, elapsed=60.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE: (10, 64 * MIB, 15.0)})
    run.everyone(
        FILE,
        IoLayer.POSIX,
        {Op.WRITE: (40, 128 * MIB, 8.0), Op.READ: (40, modify, seconds)},
        own=False,
    )
    return run


def test_read_modify_write_of_data_sieving():
    found = only(sieving(128 * MIB))
    assert found.code == "data-sieving"
    assert found.cost_seconds == pytest.approx(12.0)
    assert any("romio_ds_write disable" in line for line in found.lines)
    assert any("OMPI_MCA_fbtl_posix_write_datasieving=0" in line for line in found.lines)
    assert codes(sieving(64 * KIB)) == ["amplification"]  # written twice all the same


def test_reads_that_fetch_holes():
    run = RunBuilder(n_ranks=4, elapsed=60.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.READ: (10, 64 * MIB, 15.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.READ: (40, 256 * MIB, 14.0)}, own=False)
    found = only(run)
    assert found.code == "data-sieving"
    assert found.cost_seconds == pytest.approx(15.0 * 0.75)


def test_one_call_that_becomes_many_small_ones():
    run = RunBuilder(n_ranks=4, elapsed=60.0)
    run.everyone(FILE, IoLayer.HDF5, {Op.WRITE: (4, 64 * MIB, 15.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (32_768, 64 * MIB, 14.0)}, own=False)
    found = only(run)
    assert found.code == "scattered-selection"
    assert found.evidence["system_mean_bytes"] == pytest.approx(2 * KIB)
    assert found.evidence["pieces"] == 8192


def chunked(below):
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    run.add(FILE, IoLayer.HDF5, 0, {Op.READ: (100, 10 * MIB, 12.0)})
    run.add(FILE, IoLayer.POSIX, 0, {Op.READ: (200, below, 11.0)}, own=False)
    row = run.call(FILE, IoLayer.HDF5, Op.READ, "H5Dread", 0, 1, 0, 100 * KIB)
    row["object"], row["shape"] = 0, 0
    run.objects = (TraceObject(0, 4, "/x", (4096, 4096), (), (64, 64), 4),)
    run.shapes = (
        TraceShape(0, ShapeKind.REGULAR, (4096, 4096), (1, 1), (1, 4096), (1, 1), elements=4096),
    )
    return run


def test_chunks_that_are_read_whole_for_a_part_of_them():
    found = only(chunked(320 * MIB))
    assert found.code == "chunk-mismatch"
    assert found.evidence["times"] == pytest.approx(32)
    assert found.cost_seconds == pytest.approx(12.0 * 310 / 320)
    assert "/x in 64 x 64, selections of 1 x 4096" in found.text
    assert codes(chunked(11 * MIB)) == []


def test_metadata_of_hdf5_that_costs_time():
    run = RunBuilder(n_ranks=4, elapsed=60.0)
    run.everyone(FILE, IoLayer.HDF5, {Op.WRITE_COLLECTIVE: (100, GIB, 20.0)})
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (100, GIB, 11.0)}, own=False)
    run.add(FILE, IoLayer.MPIIO, 0, {Op.WRITE: (9000, 9000 * 512, 8.0)}, own=False)
    found = only(run)
    assert found.code == "hdf5-metadata"
    assert found.cost_seconds == pytest.approx(8.0)
    assert "H5Pset_coll_metadata_write" in found.remedy


def test_seeks_that_cost_time():
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    run.add("/d/a", IoLayer.STDIO, 0, {Op.READ: (5000, 5000 * KIB, 1.0), Op.META: (5000, 0, 8.0)})
    run.call("/d/a", IoLayer.STDIO, Op.META, "fseek", 0, 1, 0, 0, count=5000, busy=8.0)
    found = only(run)
    assert found.code == "seek-heavy"
    assert found.cost_seconds == pytest.approx(8.0)
