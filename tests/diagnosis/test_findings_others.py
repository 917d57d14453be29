# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules about balance, metadata, syncs, layout and hints."""

import pytest
from runs import GIB, KIB, MIB, RunBuilder

from stripewise.diagnosis import Severity, diagnose
from stripewise.diagnosis.findings import RULES, least_cost
from stripewise.model import IoLayer, Op

FILE = "/scratch/out.dat"


def findings(run):
    return diagnose(run.evidence()).findings


def codes(run):
    return [found.code for found in findings(run)]


def only(run):
    (found,) = findings(run)
    return found


def test_one_rank_that_does_all_io():
    run = RunBuilder(n_ranks=64, elapsed=100.0, hosts=("a", "b"))
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (100, GIB, 20.0)})
    found = only(run)
    assert found.code == "serial-io"
    assert found.cost_seconds == pytest.approx(10.0)
    assert found.phrase == "rank 0 doing the I/O of all 64 ranks"


def test_an_aggregator_is_no_serial_io():
    """All ranks ask, one process writes: that is collective buffering at work."""
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (4, 256 * MIB, 20.0)})
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (64, GIB, 19.0)}, own=False)
    assert codes(run) == []


def uneven(seconds, moved):
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank in range(4):
        ops = {Op.WRITE: (8, moved[rank] * MIB, seconds[rank])}
        run.add(FILE, IoLayer.MPIIO, rank, ops)
    return run


def test_a_rank_with_more_data():
    found = only(uneven((20, 5, 5, 5), (400, 100, 100, 100)))
    assert found.code == "imbalance"
    assert found.cost_seconds == pytest.approx(20 - 35 / 4)
    assert "2.3 times the mean bytes" in found.text


def test_a_straggler_with_the_same_data():
    found = only(uneven((5, 20, 5, 5), (100, 100, 100, 100)))
    assert "its node or its storage target is slow" in found.text
    assert found.phrase.startswith("rank 1 taking far longer")


@pytest.mark.parametrize("seconds", [(5, 5.5, 5, 5), (0.05, 0.3, 0.05, 0.05)], ids=str)
def test_imbalance_that_costs_nothing_is_no_finding(seconds):
    assert codes(uneven(seconds, (100, 400, 100, 100))) == []


def test_imbalance_over_files_of_single_ranks():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank in range(4):
        ops = {Op.WRITE: (8, (1 + 9 * (rank == 2)) * 64 * MIB, 2.0 + 18 * (rank == 2))}
        run.add(f"/scratch/out.{rank}", IoLayer.POSIX, rank, ops)
    found = only(run)
    assert found.code == "imbalance"
    assert found.evidence["rank"] == 2
    assert found.phrase == (
        "rank 2 taking far longer with out.2 than the others with their own files"
    )


def test_a_slow_storage_target_is_named():
    run = RunBuilder(n_ranks=8, elapsed=100.0)
    for rank in range(8):
        path, target = f"/scratch/out.{rank}", rank % 4
        seconds = 40.0 + rank if target == 3 else 2.0
        run.add(path, IoLayer.POSIX, rank, {Op.WRITE: (64, 256 * MIB, seconds)})
        run.layouts[path] = (MIB, 1, (target,))
    run.everyone("<STDOUT>", IoLayer.STDIO, {Op.WRITE: (1, 60, 1e-5)})
    found = only(run)
    assert found.evidence["storage_target"] == 3
    assert "All 2 files that took more than half as long lie on storage target 3." in found.text
    assert found.phrase.startswith("rank 7 taking far longer with out.7")


def test_overlapping_calls_never_lose_more_than_the_run():
    run = RunBuilder(n_ranks=1, elapsed=50.0)
    run.add(FILE, IoLayer.POSIX, 0, {Op.META: (5000, 0, 400.0)})
    told = diagnose(run.evidence())
    assert told.findings[0].cost_seconds == 50.0
    assert "I/O time is longer than the run" in told.notes[0]


def test_opens_at_each_step():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    ops = {Op.OPEN: (500, 0, 5.0), Op.WRITE: (500, 500 * 2 * MIB, 1.0)}
    run.everyone(FILE, IoLayer.POSIX, ops)
    found = only(run)
    assert found.code == "open-per-step"
    assert found.cost_seconds == pytest.approx(5.0 * 499 / 500)


def file_per_process(n_files, seconds):
    run = RunBuilder(n_ranks=n_files // 2, elapsed=100.0)
    for rank in range(n_files // 2):
        for step in range(2):
            ops = {Op.OPEN: (1, 0, seconds), Op.WRITE: (1, 2 * MIB, 0.1)}
            run.add(f"/scratch/{step}/out.{rank}", IoLayer.POSIX, rank, ops)
    return run


def test_a_file_for_each_process_at_scale():
    found = only(file_per_process(1200, 4.0))
    assert found.code == "file-per-process"
    assert found.cost_seconds == pytest.approx(8.0 - 0.002)
    assert codes(file_per_process(1200, 0.001)) == []
    assert codes(file_per_process(200, 1.0)) == []


def test_a_storm_of_stats():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone(FILE, IoLayer.POSIX, {Op.META: (5000, 0, 6.0), Op.WRITE: (4, 8 * MIB, 0.1)})
    found = only(run)
    assert found.code == "metadata-heavy"
    assert found.cost_seconds == pytest.approx(6.0 - 0.001)


def test_waiting_in_a_collective_open_is_no_metadata():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.OPEN: (2000, 0, 30.0), Op.META: (4000, 0, 20.0)})
    run.everyone(FILE, IoLayer.POSIX, {Op.OPEN: (2000, 0, 0.3)}, own=False)
    assert "metadata-heavy" not in codes(run)


def test_a_sync_for_every_write():
    run = RunBuilder(n_ranks=1, elapsed=100.0)
    ops = {Op.WRITE: (50, 50 * 2 * MIB, 1.0), Op.SYNC: (50, 0, 20.0)}
    run.add(FILE, IoLayer.POSIX, 0, ops)
    found = only(run)
    assert found.code == "sync-per-write"
    assert found.cost_seconds == pytest.approx(20.0 * 49 / 50)


def test_one_sync_at_the_end_is_no_finding():
    run = RunBuilder(n_ranks=1, elapsed=100.0)
    run.add(FILE, IoLayer.POSIX, 0, {Op.WRITE: (50, 100 * MIB, 1.0), Op.SYNC: (1, 0, 20.0)})
    assert codes(run) == []


def collective(n_ranks=8, hosts=("a",), writers=1, seconds=20.0, stripe=(), size=GIB):
    run = RunBuilder(n_ranks=n_ranks, elapsed=100.0, hosts=hosts)
    ops = {Op.WRITE_COLLECTIVE: (16, size // n_ranks, seconds)}
    run.everyone(FILE, IoLayer.MPIIO, ops)
    for rank in range(writers):
        calls = size // writers // (4 * MIB)
        ops = {Op.WRITE: (calls, size // writers, 0.9 * seconds)}
        run.add(
            FILE,
            IoLayer.POSIX,
            rank,
            ops,
            own=False,
            unaligned=0,
            alignment=stripe[0] if stripe else 4096,
        )
    if stripe:
        run.layouts[FILE] = stripe
    return run


def test_fewer_aggregators_than_hosts():
    found = only(collective(hosts=("a", "b", "c", "d")))
    assert found.code == "few-aggregators"
    assert found.cost_seconds == pytest.approx(15.0)
    assert found.text.startswith("1 process did all system writes of 1 GiB, on 4 hosts")
    assert any("cb_nodes=4" in line for line in found.lines)


def test_one_aggregator_on_one_host_is_how_romio_works():
    assert codes(collective()) == []


def test_a_large_shared_file_on_one_stripe():
    found = only(collective(writers=4, stripe=(4 * MIB, 1)))
    assert found.code == "one-stripe"
    assert found.lines[0].startswith("lfs setstripe -c 4 -S 4M /scratch ")
    assert codes(collective(writers=4, stripe=(4 * MIB, 8), n_ranks=4)) == []


def test_writes_that_miss_the_borders_of_stripes():
    run = collective(writers=4, stripe=(4 * MIB, 4), n_ranks=4)
    for row in run.rows:
        if row["layer"] == IoLayer.POSIX:
            row["unaligned"] = row["count"][Op.WRITE]
    found = only(run)
    assert (found.code, found.cost_seconds, found.severity) == ("misaligned", None, Severity.INFO)


def test_hints_that_cannot_act():
    run = collective(writers=1)
    reported = {"cb_nodes": "1", "romio_cb_write": "automatic", "cb_buffer_size": "16777216"}
    run.hints[FILE] = {
        "requested": {"cb_nodes": "8", "bogus": "1", "romio_cb_write": "AUTOMATIC"},
        "reported": reported,
    }
    found = only(run)
    assert found.code == "idle-hints"
    assert found.text == "cb_nodes: asked 8, got 1; bogus: asked 1, this MPI does not know it."
    told = diagnose(run.evidence())
    assert told.summary.endswith("1 remark, no loss.")


def test_an_mpi_that_echoes_hints_tells_nothing_about_them():
    run = collective(writers=1)
    run.hints[FILE] = {"requested": {"bogus": "1"}, "reported": {"bogus": "1"}}
    assert codes(run) == []


def balanced_hdf5():
    """Two ranks, one collective HDF5 dataset; HDF5 writes its metadata from rank 0."""
    run = RunBuilder(n_ranks=2, elapsed=11.0)
    run.everyone(
        FILE, IoLayer.HDF5, {Op.OPEN: (1, 0, 0.1), Op.WRITE_COLLECTIVE: (4, 512 * MIB, 9.0)}
    )
    run.everyone(
        FILE,
        IoLayer.MPIIO,
        {Op.OPEN: (1, 0, 0.1), Op.WRITE_COLLECTIVE: (4, 512 * MIB, 8.5), Op.SYNC: (1, 0, 0.3)},
        own=False,
    )
    run.add(FILE, IoLayer.MPIIO, 0, {Op.WRITE: (14, 14 * 544, 0.002)}, own=False)
    ops = {Op.WRITE: (64 + 14, GIB + 14 * 544, 8.0), Op.OPEN: (2, 0, 0.01)}
    run.add(FILE, IoLayer.POSIX, 0, ops, own=False)
    run.add(FILE, IoLayer.POSIX, 1, {Op.OPEN: (1, 0, 0.01)}, own=False)
    return run


def test_a_balanced_collective_program_gets_no_finding():
    """An adviser by fixed shares told of this run: 100 % load imbalance, redundant write
    traffic, 22 % collective operations only, and asynchronous reads, of which it has none."""
    told = diagnose(balanced_hdf5().evidence())
    assert told.findings == ()
    assert told.summary == (
        "82.7 % of the run was I/O (9.1 s of 11 s, 113 MiB/s to 1 file); nothing stands out."
    )
    (row,) = told.files
    assert row.collective == 1.0
    assert (row.interface, row.data_rank_count) == ("HDF5", 2)


def test_waiting_of_late_ranks_in_collective_calls_is_no_finding():
    run = balanced_hdf5()
    for row in run.rows:
        if row["layer"] == IoLayer.HDF5 and row["rank"] == 1:
            row["seconds"][Op.WRITE_COLLECTIVE] = 1.0
            row["outermost_seconds"] = 1.1
    assert codes(run) == []


def test_findings_come_by_cost_and_never_cost_more_than_the_io_time():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone("/d/a", IoLayer.MPIIO, {Op.WRITE: (5000, 5000 * KIB, 3.0)})
    run.everyone("/d/b", IoLayer.MPIIO, {Op.READ: (5000, 5000 * KIB, 7.0)})
    told = diagnose(run.evidence())
    costs = [found.cost_seconds for found in told.findings]
    assert costs == sorted(costs, reverse=True)
    assert max(costs) <= told.figures.io_seconds


def test_the_threshold_is_a_hundredth_of_the_run_and_a_tenth_of_a_second():
    assert least_cost(5.0) == 0.1
    assert least_cost(1000.0) == 10.0
    assert least_cost(0.0) == 0.1


def test_rules_are_told_apart_and_documented():
    names = [rule.code for rule in RULES]
    assert len(set(names)) == len(names) == 26
    for rule in RULES:
        assert rule.basis
        assert rule.group
