# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables, heat maps, requests and blocks, by runs whose answers are known."""

import numpy as np
import pytest
from runs import KIB, MIB, RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.figures._usage import DATA, Calls, GroupSums, own_weights
from stripewise.evidence.readers._mpiio_stats import parse_mpiio_stats
from stripewise.evidence.report._profile_exports import mpiio_stats_text
from stripewise.evidence.trace import COUNTER_ROW, FileFlag, IoLayer, Op

FILE = "/d/out"


def test_a_file_row_tells_what_the_program_did():
    run = RunBuilder(n_ranks=2)
    run.everyone(
        FILE,
        IoLayer.MPIIO,
        {Op.OPEN: (1, 0, 0.1), Op.WRITE: (1, KIB, 0.1), Op.WRITE_COLLECTIVE: (3, 3 * MIB, 1.0)},
        common_size=[MIB, KIB, 0, 0],
        common_count=[3, 1, 0, 0],
        maximum_offset=6 * MIB,
    )
    ops = {Op.WRITE: (6, 6 * MIB, 0.8)}
    run.add(FILE, IoLayer.POSIX, 0, ops, own=False, order=0.5)
    run.layouts[FILE] = (MIB, 4)
    (row,) = diagnose(run.evidence()).files
    assert (row.interface, row.layer) == ("MPI-IO", IoLayer.MPIIO)
    assert (row.write_calls, row.read_calls, row.opens) == (8, 0, 2)
    assert row.collective == pytest.approx(6 / 8)
    assert row.sequential == pytest.approx(0.5)
    assert row.common_sizes == ((MIB, 6), (KIB, 2))
    assert (row.rank_count, row.data_rank_count, row.extent_bytes) == (2, 2, 6 * MIB)
    assert row.elapsed_seconds == pytest.approx(1.2)
    assert row.cumulated_seconds == pytest.approx(2.4)
    assert row.layout.stripe_count == 4


def test_a_librarys_probe_is_no_file_of_the_program():
    """Open MPI makes, locks and removes `out.locktest.0` when it opens `out`."""
    run = RunBuilder(n_ranks=2)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE: (1, KIB, 0.1)})
    flags = FileFlag.CREATED | FileFlag.OPENED_WRITE | FileFlag.UNLINKED
    opened = {Op.OPEN: (1, 0, 0.01), Op.META: (1, 0, 0.01)}
    run.add(f"{FILE}.locktest.0", IoLayer.POSIX, 0, opened, own=False, flags=flags)
    run.add("/d/own", IoLayer.POSIX, 0, opened, flags=flags)
    diagnosis = diagnose(run.evidence())
    assert {row.path for row in diagnosis.files} == {FILE, "/d/own"}
    assert diagnosis.figures.n_files == 2


def test_layers_tell_the_programs_time_from_that_beneath():
    run = RunBuilder(n_ranks=2)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (3, MIB, 1.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (4, MIB, 0.75)}, own=False)
    upper, lower = diagnose(run.evidence()).layers
    assert (upper.layer, upper.collective_calls, upper.own_seconds) == (IoLayer.MPIIO, 6, 2.0)
    assert (lower.write_calls, lower.own_seconds, lower.cumulated_seconds) == (8, 0.0, 1.5)
    assert lower.elapsed_seconds == pytest.approx(0.75)


def test_times_of_a_layer_without_calls_of_the_program_are_floats():
    """JSON tells 0 from 0.0."""
    run = RunBuilder(n_ranks=1)
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (4, MIB, 0.75)}, own=False)
    (row,) = diagnose(run.evidence()).layers
    assert repr(row.own_seconds) == "0.0"


def test_variance_takes_what_a_reduced_record_says():
    run = RunBuilder(n_ranks=8)
    run.add(
        FILE,
        IoLayer.MPIIO,
        -2,
        {Op.READ: (8, MIB, 20.0)},
        slowest_rank=5,
        slowest_seconds=6.0,
        slowest_bytes=10,
        fastest_rank=2,
        fastest_seconds=1.0,
        fastest_bytes=20,
        seconds_deviation=1.5,
        bytes_deviation=3.0,
    )
    (row,) = diagnose(run.evidence()).variance
    assert (row.processes, row.slowest_rank, row.slowest_seconds, row.slowest_bytes) == (
        8,
        5,
        6.0,
        10,
    )
    assert (row.fastest_rank, row.seconds_deviation, row.bytes_deviation) == (2, 1.5, 3.0)


def test_a_file_of_one_rank_has_no_variance():
    run = RunBuilder(n_ranks=4)
    run.add(FILE, IoLayer.POSIX, 1, {Op.WRITE: (1, MIB, 1.0)})
    assert diagnose(run.evidence()).variance == ()


def test_heat_counts_each_byte_once_in_the_highest_layer():
    run = RunBuilder(n_ranks=2)
    run.bin_seconds = 0.5
    for rank in range(2):
        run.bin(rank, FILE, IoLayer.MPIIO, 3 + rank, write=100.0, busy=0.25)
    run.bin(0, FILE, IoLayer.POSIX, 3, write=200.0, busy=0.2)
    ranks, files = diagnose(run.evidence()).heat
    assert (ranks.kind, ranks.view, ranks.labels) == (
        "ranks",
        "program",
        ("rank 0", "rank 1"),
    )
    assert ranks.write_bytes.shape == (2, 200)  # to the end of the run
    assert ranks.write_bytes.sum() == 200.0
    assert (ranks.write_bytes[0, 3], ranks.write_bytes[1, 4]) == (100.0, 100.0)
    assert (files.labels, files.busy_seconds.sum()) == ((FILE,), 0.5)


def test_heat_without_files_is_what_reached_the_system():
    run = RunBuilder(n_ranks=2)
    run.bin_seconds = 1.0
    run.bin(0, None, IoLayer.MPIIO, 0, read=50.0)
    run.bin(1, None, IoLayer.POSIX, 0, read=60.0)
    (ranks,) = diagnose(run.evidence()).heat
    assert (ranks.view, ranks.read_bytes.sum()) == ("system", 60.0)


def test_heat_of_many_ranks_and_bins_is_put_together():
    run = RunBuilder(n_ranks=1000)
    run.bin_seconds = 0.1
    for rank in range(1000):
        run.bin(rank, f"/d/{rank}", IoLayer.POSIX, rank, write=1.0, busy=rank * 1e-3)
    ranks, files = diagnose(run.evidence()).heat
    assert ranks.write_bytes.shape[0] <= 128
    assert ranks.write_bytes.shape[1] <= 240
    assert ranks.bin_seconds == pytest.approx(0.5)
    assert ranks.write_bytes.sum() == pytest.approx(1000)
    assert ranks.labels[0] == "ranks 0–7"
    assert len(files.labels) <= 16
    assert files.write_bytes.sum() == pytest.approx(1000)
    assert files.left_out == 1000 - len(files.labels) + 1


def two_phase():
    """Two ranks write 3 times collectively; process 0 alone writes, with one gap each time."""
    run = RunBuilder(n_ranks=2)
    for rank in range(2):
        run.add(FILE, IoLayer.MPIIO, rank, {Op.WRITE_COLLECTIVE: (3, 3 * MIB, 1.0)})
        for step in range(3):
            sequence = 100 * step
            run.call(
                FILE,
                IoLayer.MPIIO,
                Op.WRITE_COLLECTIVE,
                "MPI_File_write_at_all",
                rank,
                sequence,
                step * 2 * MIB,
                MIB,
            )
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (6, 6 * MIB, 0.9)}, own=False)
    for step in range(3):
        for half in range(2):
            run.call(
                FILE,
                IoLayer.POSIX,
                Op.WRITE,
                "pwrite64",
                0,
                100 * step + 1 + half,
                step * 3 * MIB + half * MIB,
                MIB,
                parent="MPI_File_write_at_all",
                depth=1,
            )
    return run


def test_requests_before_and_after_collective_buffering():
    (row,) = diagnose(two_phase().evidence()).requests
    assert (row.writing, row.exact) == (True, True)
    assert (row.program_calls, row.collective_calls, row.program_ranks) == (6, 6, 2)
    assert (row.system_calls, row.system_ranks, row.system_bytes) == (6, 1, 6 * MIB)
    assert (row.gaps, row.mean_gap_bytes) == (2, float(MIB))
    assert (row.aligned, row.unit_sized, row.modify_reads) == (1.0, 1.0, 0)


def test_reads_beneath_writes_are_read_modify_write():
    run = two_phase()
    run.add(FILE, IoLayer.POSIX, 1, {Op.READ: (2, 8 * KIB, 0.1)}, own=False)
    run.call(
        FILE,
        IoLayer.POSIX,
        Op.READ,
        "pread64",
        1,
        1,
        0,
        4 * KIB,
        parent="MPI_File_write_at_all",
        count=2,
        stride=MIB,
        depth=1,
    )
    (row,) = diagnose(run.evidence()).requests
    assert (row.modify_reads, row.modify_bytes) == (2, 8 * KIB)


def test_requests_from_counters_leave_out_what_these_do_not_tell():
    run = two_phase()
    run.calls = []
    (row,) = diagnose(run.evidence()).requests
    assert (row.exact, row.program_calls, row.system_calls, row.system_ranks) == (
        False,
        6,
        6,
        1,
    )
    assert (row.gaps, row.unit_sized) == (None, None)


def test_blocks_in_the_layout_of_mpiio_stats_come_back_from_their_parser():
    run = two_phase()
    run.layouts[FILE] = (MIB, 2)
    blocks = diagnose(run.evidence()).mpiio_stats
    (block,) = blocks
    assert block.write.collective == 6
    assert block.write.aggregators == 1
    assert block.write.active == (3, 0, 0, 0)
    assert (block.write.system_calls, block.write.stripe_sized, block.write.gaps) == (6, 6, 2)
    text = mpiio_stats_text(blocks)
    assert parse_mpiio_stats(text) == (blocks, 0)
    keys = [line.split("=")[0].strip("| ").strip() for line in text.splitlines()[2:-1]]
    assert keys == [
        "independent writes",
        "collective writes",
        "independent writers",
        "aggregators",
        "stripe count",
        "stripe size",
        "system writes",
        "stripe sized writes",
        "aggregators active",
        "total bytes for writes",
        "ave system write size",
        "read-modify-write count",
        "read-modify-write bytes",
        "number of write gaps",
        "ave write gap size",
    ]


def sums(n_ranks, ops, *rows):
    counters = np.array(list(rows), COUNTER_ROW)
    weight, keys = own_weights(counters), counters["rank"].astype(np.int64)
    return GroupSums(n_ranks, counters, keys, (weight, weight), np.zeros(len(rows), np.int64)).of(
        0, ops, None, True
    )


def test_the_slowest_rank_is_the_one_with_most_over_all_its_rows():
    run = RunBuilder(n_ranks=4)
    for rank, seconds in ((0, 1.0), (1, 0.75), (1, 0.75), (2, 1.5), (3, 0.25)):
        run.add(FILE, IoLayer.POSIX, rank, {Op.WRITE: (2, 20, seconds)})
    run.add(FILE, IoLayer.POSIX, 3, {Op.READ: (9, 90, 9.0)})
    found = sums(4, DATA[2:], *run.rows)
    assert (found.count, found.bytes, found.rank, found.ranks) == (10, 100, 1, 4)
    assert (found.cumulated, found.elapsed, found.least) == (4.25, 1.5, 0.25)
    assert found.surely == found.elapsed


def test_a_row_of_all_ranks_counts_its_slowest_by_its_share_at_least_the_mean():
    run = RunBuilder(n_ranks=4)
    ends = {"slowest_rank": 3, "slowest_seconds": 4.0, "fastest_seconds": 1.0}
    run.add(FILE, IoLayer.POSIX, -2, {Op.WRITE: (8, 80, 6.0), Op.READ: (8, 80, 2.0)}, **ends)
    run.add(FILE, IoLayer.STDIO, -2, {Op.WRITE: (4, 40, 1.0)})
    found = sums(4, DATA[2:], *run.rows)
    assert (found.count, found.rank, found.ranks) == (12, 3, 4)
    assert (found.elapsed, found.least) == (3.0 + 0.25, 0.75 + 0.25)
    assert (found.cumulated, found.surely) == (7.0, 3.0)


def test_without_calls_there_is_no_slowest_rank():
    assert sums(4, DATA) == Calls()
    run = RunBuilder(n_ranks=2)
    run.add(FILE, IoLayer.POSIX, 0, {Op.OPEN: (1, 0, 1.0)})
    assert sums(4, DATA, *run.rows) == Calls()
