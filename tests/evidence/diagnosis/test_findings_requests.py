# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules about requests: each with a run that has it and one that has not."""

from dataclasses import replace

import numpy as np
import pytest
from runs import GIB, KIB, MIB, RunBuilder
from storages import LOCAL

from stripewise.core import Exchange, Interval
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.figures import Severity
from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.evidence.trace import (
    PROCESS_ROW,
    Evidence,
    FileFlag,
    IoLayer,
    Op,
    ProcessFlag,
    ShapeKind,
    TraceObject,
    TraceShape,
)

FILE = "/scratch/out.h5"
POSTED = int(FileFlag.POSTED)
COST = Interval(1e-4, 1e-4, 1e-4)


def findings(run, storage=LOCAL, **fields):
    evidence = run.evidence()
    evidence = Evidence(replace(evidence.profile, **fields), evidence.trace)
    return diagnose(evidence, storage=storage).findings


def codes(run, storage=LOCAL, **fields):
    return [found.code for found in findings(run, storage, **fields)]


def only(run, storage=LOCAL, **fields):
    (found,) = findings(run, storage, **fields)
    return found


def independent(op=Op.WRITE, layer=IoLayer.HDF5, count=10_000, size=4 * KIB, seconds=28.0):
    run = RunBuilder(n_ranks=4, elapsed=120.0)
    run.everyone(FILE, layer, {op: (count, count * size, seconds), Op.OPEN: (1, 0, 0.01)})
    return run


def posted(below, op=Op.WRITE, calls=5):
    """10 000 calls of 4 KiB, posted to PnetCDF, of which the waits make so many of MPI-IO."""
    run = RunBuilder(n_ranks=4, elapsed=120.0)
    run.everyone(FILE, IoLayer.PNETCDF, {op: (10_000, 40_000 * KIB, 28.0)}, flags=POSTED)
    run.everyone(FILE, IoLayer.MPIIO, {op: (calls, 10_000 * 4 * KIB, 27.0)}, own=False)
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (below, 10_000 * 4 * KIB, 25.0)}, own=False)
    return run


@pytest.mark.parametrize("op", [Op.WRITE, Op.WRITE_COLLECTIVE], ids=["wait", "wait_all"])
def test_posted_calls_whose_wait_makes_few_large_requests_are_not_small(op):
    assert "small-independent" not in codes(posted(5, op), mpi="mpich")


def test_posted_calls_that_an_independent_wait_moves_one_by_one():
    found = only(posted(10_000, calls=10_000), mpi="mpich")
    assert found.code == "small-independent"
    assert (
        found.advice == "Wait with ncmpi_wait_all instead of ncmpi_wait, in collective data mode"
    )


def test_small_independent_writes_to_a_shared_file():
    found = only(independent(), mpi="mpich")
    assert found.code == "small-independent"
    assert found.severity is Severity.HIGH
    assert found.phrase == "4 KiB independent writes to out.h5"
    assert found.stake_seconds == pytest.approx(28.0)
    after = 4 * 10_000 * 4 * KIB * 2e-9
    assert found.cost_seconds == pytest.approx(28.0 - after)
    assert found.least_seconds == pytest.approx(0.9 * 28.0 - 1.1 * after)
    assert found.most_seconds == pytest.approx(28.0)  # never more than all I/O
    assert found.measured
    assert (found.evidence["calls"], found.evidence["ranks"]) == (40_000, 4)
    assert "H5FD_MPIO_COLLECTIVE" in found.remedy
    assert found.lines == ()
    assert found.tune == "stripewise tune --allow contract -- mpiexec -n 4 ./program"


def test_the_summary_names_the_costliest_finding():
    told = diagnose(independent().evidence(), storage=LOCAL)
    assert told.headline == told.summary
    assert told.headline == (
        "23.3 % of the run was I/O (28 s of 120 s): 156 MiB written in 1 file, 5.58 MiB/s. "
        "28 s of it went into 4 KiB independent writes to out.h5. "
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
        {"seconds": 5.0},
        {"count": 20, "seconds": 20.0},
    ],
    ids=str,
)
def test_collective_large_cheap_or_few_writes_are_no_finding(changes):
    assert codes(independent(**changes)) == []


def test_a_remedy_that_costs_as_much_as_it_saves_is_not_told():
    """Exchange between these ranks is slow: the collective call would take what it saves."""
    slow = Exchange("mpich", 2, True, COST, {64: Interval(1e-7, 1.7e-7, 2e-7)})
    assert codes(independent(), replace(LOCAL, exchange=[slow]), mpi="mpich") == []


def test_ranks_that_share_processors_without_measured_costs_get_no_claim():
    """An exchange between them takes far longer than one between ranks that all run."""
    (found,) = diagnose(
        independent().evidence(mpi="mpich"), storage=replace(LOCAL, processors=2)
    ).findings
    assert (found.code, found.cost_seconds) == ("small-independent", None)
    known = [replace(one, ranks=4) for one in LOCAL.exchange]
    crowded = replace(LOCAL, processors=2, exchange=known)
    assert codes(independent(), crowded, mpi="mpich") == ["small-independent"]


def test_without_a_measurement_only_what_is_clear_is_claimed():
    assert codes(independent(seconds=60.0), None) == ["small-independent"]
    assert not only(independent(seconds=60.0), None).measured
    unsure = only(independent(seconds=12.0), None)
    assert (unsure.cost_seconds, unsure.stake_seconds) == (None, 12.0)
    assert unsure.cost_basis.endswith("an experiment can tell")
    assert codes(independent(seconds=12.0)) == ["small-independent"]
    notes = diagnose(independent(seconds=60.0).evidence()).notes
    assert any("machine probe" in text for text in notes)


def serial_file(layer=IoLayer.POSIX, op=Op.WRITE, count=200_000, size=512, order=1.0, rank=0):
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    run.add("/scratch/a.dat", layer, rank, {op: (count, count * size, 20.0)}, order=order)
    return run


def test_small_writes_without_a_buffer():
    found = only(serial_file())
    assert found.code == "small-requests"
    after = 200_000 * 512 / MIB * (1e-5 + 1 / 1024) + 200_000 * 3e-8
    assert found.cost_seconds == pytest.approx(20.0 - after)
    assert "setvbuf" in found.remedy
    assert "MPI" not in found.remedy
    assert (found.lines, found.tune) == ((), "")


def test_scattered_or_buffered_requests_want_no_buffer():
    assert codes(serial_file(order=0.05)) == []
    assert codes(serial_file(IoLayer.STDIO)) == []
    assert codes(serial_file(size=1 * MIB, count=2000)) == []


def test_reads_and_writes_are_told_apart():
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    for path, op in (("/d/in", Op.READ), ("/d/out", Op.WRITE)):
        run.add(path, IoLayer.POSIX, 0, {op: (100_000, 100_000 * 64, 5.0)})
    told = findings(run)
    assert sorted(found.phrase for found in told) == [
        "64 B reads from in without a buffer",
        "64 B writes to out without a buffer",
    ]
    assert all(found.cost_seconds < 5.0 for found in told)


def test_small_files_of_several_ranks_are_one_finding_of_the_slowest_rank():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank in range(4):
        for step in range(3):
            path = f"/scratch/r{rank}.{step}"
            run.add(path, IoLayer.POSIX, rank, {Op.WRITE: (2000, 2000 * KIB, 4.0 + rank / 10)})
    (found,) = findings(run)
    assert found.n_files == 12
    assert found.stake_seconds == pytest.approx(3 * 4.3)
    assert found.phrase == "1 KiB writes to 12 files (r3.0 and others) without a buffer"


def test_processes_without_mpi_are_no_ranks():
    """Two workers with a file each: nothing is shared, and nobody is told to use MPI-IO."""
    run = RunBuilder(n_ranks=0, elapsed=30.0)
    for worker in range(2):
        row = run.add(f"/d/{worker}", IoLayer.POSIX, -1, {Op.WRITE: (90_000, 90_000 * 80, 4.0)})
        row["process"] = worker
    told = findings(run)
    assert [found.code for found in told] == ["small-requests"]
    assert "MPI" not in told[0].text + told[0].remedy


def namelist(n_ranks=1280, size=22 * KIB, slowest=36.6, extent=22 * KIB):
    run = RunBuilder(n_ranks=n_ranks, elapsed=300.0)
    times = np.linspace(20.4, slowest, n_ranks)
    for rank, seconds in enumerate(times[::-1]):
        ops = {Op.OPEN: (1, 0, seconds / 2), Op.READ: (6, size, seconds / 2)}
        run.add("/lustre/namelist.input", IoLayer.POSIX, rank, ops, maximum_offset=extent)
    return run


def test_a_namelist_that_every_rank_reads():
    """22 KiB read by 1280 ranks, 36.6 s of the slowest: the case that a talk on burst buffers
    made known (G. Markomanolis, "ExPBB", KAUST).  It is clear without a measurement."""
    told = diagnose(namelist().evidence())
    (found,) = told.findings
    assert found.code == "redundant-reads"
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


def table(times, extent=GIB // 4, written=0):
    run = RunBuilder(n_ranks=2, elapsed=100.0)
    ops = {Op.READ: (100, times * extent, 12.0), Op.WRITE: (1, written, 0.1)}
    run.everyone("/d/table", IoLayer.POSIX, ops, maximum_offset=extent)
    return run


def test_the_same_bytes_read_many_times():
    found = only(table(16))
    assert found.code == "redundant-reads"
    assert found.cost_seconds == pytest.approx(12.0 * 15 / 16)
    assert found.evidence["times"] == pytest.approx(16)
    assert found.remedy == "Read the file once and keep what was read in memory."


def test_reading_once_or_what_changes_or_what_memory_cannot_hold_is_no_redundancy():
    assert codes(table(1)) == []
    assert codes(table(16, written=GIB)) == []
    assert codes(table(16, extent=2 * GIB)) == []


def shredded(own_size=64):
    run = RunBuilder(n_ranks=2, elapsed=10.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (1, 32 * MIB, 6.0)})
    calls = 32 * MIB // own_size
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (calls, 32 * MIB, 5.0)}, own=False)
    return run


def test_collective_calls_that_two_ranks_make_in_small_pieces():
    found = only(shredded(), mpi="openmpi")
    assert found.code == "shredded-collective"
    assert found.cost_seconds == pytest.approx(6.0 - 64 * MIB * 1e-8)
    assert found.text.startswith("2 collective calls of 32 MiB became 1 048 576 system calls")
    assert found.lines == ("export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO",)
    assert codes(shredded(4 * MIB), mpi="openmpi") == []
    (line,) = only(shredded(), mpi="mpich").lines
    assert "romio_cb_write enable" in line


def test_system_calls_of_all_files_stand_beside_the_calls_of_all_files():
    run = shredded()
    run.everyone("/scratch/b", IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (1, 32 * MIB, 5.0)})
    ops = {Op.WRITE: (512 * KIB, 32 * MIB, 4.0)}
    run.everyone("/scratch/b", IoLayer.POSIX, ops, own=False)
    text = only(run, mpi="openmpi").text
    assert text.startswith("4 collective calls of 32 MiB became 2 097 152 system calls")


def test_an_exchange_that_takes_far_longer_than_the_writes():
    """OMPIO with more ranks: two aggregators write large requests, and gather them slowly."""
    run = RunBuilder(n_ranks=4, elapsed=10.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (1, 16 * MIB, 7.0)})
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (4, 64 * MIB, 0.1)}, own=False)
    assert codes(run, mpi="openmpi") == ["slow-exchange"]  # pieces are not known: no claim
    cut = tuple(map(Distribution, ("*", "BLOCK")))
    pattern = Pattern(
        FILE, "", True, PatternKind.DISTRIBUTED, cut, (1, 4), (1 << 18, 8), (1 << 18, 32), 8, 4, 4
    )
    evidence = run.evidence()
    evidence = Evidence(replace(evidence.profile, mpi="openmpi"), evidence.trace)
    (found,) = diagnose(evidence, [pattern], LOCAL).findings
    assert found.code == "shredded-collective"
    assert "the rest is the exchange of pieces of 32 B between the ranks" in found.text
    assert found.lines[0].startswith("export OMPI_MCA_io=^ompio")


def strided(own_size=120, extent=60 * MIB):
    run = RunBuilder(n_ranks=2, elapsed=10.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE: (4, 30 * MIB, 5.0)}, maximum_offset=extent)
    calls = 30 * MIB // own_size
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (calls, 30 * MIB, 4.5)}, own=False)
    return run


def test_independent_calls_whose_pieces_are_written_one_by_one():
    """BT-IO under OMPIO; ROMIO moves pieces and holes at once, and locks them meanwhile."""
    found = only(strided(), mpi="openmpi")
    assert found.code == "shredded-independent"
    assert 4.0 < found.cost_seconds < 5.0
    assert found.text.startswith("8 independent calls of 7.5 MiB became 524 288 system calls")
    assert found.lines == ("export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO",)
    assert codes(strided(4 * MIB), mpi="openmpi") == []


def test_pieces_with_wide_holes_are_not_to_be_sieved():
    ompio = Exchange("openmpi", 2, True, COST, {64: Interval(1e-7, 1.7e-7, 2e-7)})
    known = replace(LOCAL, exchange=[*LOCAL.exchange, ompio])
    assert codes(strided(), known, mpi="openmpi") == ["shredded-independent"]
    assert codes(strided(extent=8 * GIB), known, mpi="openmpi") == []


def chunked(below):
    run = RunBuilder(n_ranks=1, elapsed=60.0)
    run.add(FILE, IoLayer.HDF5, 0, {Op.READ: (100, 10 * MIB, 12.0)}, maximum_offset=10 * MIB)
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
    assert found.cost_seconds == pytest.approx(12.0 * 31 / 32)
    assert "/x in 64 x 64, selections of 1 x 4096" in found.text
    assert f"rdcc_nbytes={2 * 64 * 64 * 64 * 4}" in found.remedy
    assert codes(chunked(11 * MIB)) == []


def test_type_conversion_of_hdf5_is_no_finding():
    """A collective write of compounds: HDF5 reads what it converts, and no hint changes that."""
    run = RunBuilder(n_ranks=2, elapsed=20.0)
    run.everyone(FILE, IoLayer.HDF5, {Op.WRITE_COLLECTIVE: (4, 64 * MIB, 8.0)})
    run.everyone(
        FILE,
        IoLayer.MPIIO,
        {Op.WRITE_COLLECTIVE: (4, 64 * MIB, 4.0), Op.READ_COLLECTIVE: (4, 64 * MIB, 3.0)},
        own=False,
    )
    ops = {Op.WRITE: (16, 64 * MIB, 3.0), Op.READ: (16, 64 * MIB, 2.0)}
    run.everyone(FILE, IoLayer.POSIX, ops, own=False)
    assert codes(run) == []


def exchanging(system_seconds, calls=40, below=40, n_ranks=4, layout=None, seconds=20.0):
    """Collective writes of which system calls of one aggregator take so long."""
    run = RunBuilder(n_ranks=n_ranks, elapsed=60.0)
    ops = {Op.WRITE_COLLECTIVE: (calls, calls * 16 * MIB, seconds)}
    run.everyone(FILE, IoLayer.MPIIO, ops)
    ops = {Op.WRITE: (below, calls * n_ranks * 16 * MIB, system_seconds)}
    run.add(FILE, IoLayer.POSIX, 0, ops, own=False)
    if layout:
        run.layouts[FILE] = layout
    return run


def test_collective_calls_that_only_exchange_have_a_line_to_try_without_a_claim():
    found = only(exchanging(2.0), mpi="mpich")
    assert (found.code, found.cost_seconds) == ("slow-exchange", None)
    assert "of which system calls took 2 s" in found.text
    assert "romio_cb_write disable" in found.lines[0]
    assert found.tune
    assert found.stake_seconds == pytest.approx(18.0)


def test_under_open_mpi_the_other_mpi_io_is_to_be_tried():
    found = only(exchanging(2.0), mpi="openmpi")
    assert found.lines == ("export OMPI_MCA_io=^ompio   # Open MPI: ROMIO instead of OMPIO",)


@pytest.mark.parametrize(
    "fields",
    [
        {"system_seconds": 15.0},  # the storage is what takes the time
        {"system_seconds": 0.01, "seconds": 0.05},
        {"system_seconds": 2.0, "layout": (MIB, 64, ())},  # locks: only with large pieces
        {"system_seconds": 0.0, "below": 0},  # what reached the storage is not known
    ],
    ids=["storage", "short", "stripes", "unknown"],
)
def test_other_collective_calls_have_no_such_line(fields):
    assert codes(exchanging(**fields), mpi="mpich") == []


def test_open_mpi_that_was_told_to_use_its_romio_is_not_told_again():
    """Open MPI does not report ROMIO's hints: its environment or launcher shows the choice."""
    chosen = np.zeros(1, PROCESS_ROW)
    chosen["is_program"], chosen["flags"] = True, int(ProcessFlag.ROMIO_CHOSEN)
    lines = [one.lines for one in findings(exchanging(2.0), mpi="openmpi", processes=chosen)]
    assert "romio_cb_write disable" in lines[0][0]
    launcher = np.zeros(1, PROCESS_ROW)
    launcher["rank"] = -1
    launcher["command"] = b"mpirun\x1f--mca\x1fio\x1f^ompio\x1f./a"
    (found,) = findings(exchanging(2.0), mpi="openmpi", processes=launcher)
    assert "OMPI_MCA_io" not in found.lines[0]


def test_many_tiny_pieces_are_no_certain_gain_without_a_measurement():
    """22 bytes each: packing half a million pieces takes as long as writing them."""
    run = RunBuilder(n_ranks=2, elapsed=4.7)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (1, 5767168, 1.7)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (262_144, 5767168, 1.6)}, own=False)
    found = only(run, None, mpi="openmpi")
    assert (found.code, found.cost_seconds) == ("shredded-collective", None)
