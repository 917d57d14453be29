# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules about balance, metadata, syncs and hints."""

from pathlib import Path

import numpy as np
import pytest
from runs import GIB, KIB, MIB, RunBuilder
from storages import LOCAL

from stripewise.evidence.diagnosis import RULES, diagnose
from stripewise.evidence.figures import Severity
from stripewise.evidence.trace import NAMES_ROW, Action, FileFlag, IoLayer, Op

FILE = "/scratch/out.dat"
FINDINGS_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "findings.md"


def findings(run):
    return diagnose(run.evidence(), storage=LOCAL).findings


def codes(run):
    return [found.code for found in findings(run)]


def only(run):
    (found,) = findings(run)
    return found


def uneven(seconds, moved):
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    for rank in range(4):
        ops = {Op.WRITE: (8, moved[rank] * MIB, seconds[rank])}
        run.add(FILE, IoLayer.MPIIO, rank, ops)
    return run


def test_a_rank_with_more_data_is_a_fact_without_a_claim():
    found = only(uneven((20, 5, 5, 5), (400, 100, 100, 100)))
    assert (found.code, found.severity) == ("imbalance", Severity.INFO)
    assert found.cost_seconds is None
    assert "2.29 times the mean bytes" in found.text


def test_a_straggler_with_the_same_data():
    found = only(uneven((5, 20, 5, 5), (100, 100, 100, 100)))
    assert "its node or its storage target is slow" in found.text
    assert found.phrase.startswith("rank 1 taking far longer")


@pytest.mark.parametrize("seconds", [(5, 5.5, 5, 5), (0.05, 0.3, 0.05, 0.05)], ids=str)
def test_imbalance_that_costs_nothing_is_no_finding(seconds):
    assert codes(uneven(seconds, (100, 400, 100, 100))) == []


def test_opens_that_ranks_make_together_cost_no_more_than_measured():
    """The rest of their time is waiting for a late rank, which another call would do instead."""
    run = RunBuilder(n_ranks=2, elapsed=30.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.OPEN: (5001, 0, 20.0), Op.WRITE: (5001, MIB, 1.0)})
    (found,) = diagnose(run.evidence(mpi="mpich"), storage=LOCAL).findings
    assert (found.code, found.stake_seconds) == ("open-per-step", pytest.approx(20.0))
    assert found.cost_seconds == pytest.approx(5000 * 1e-3)


def test_one_reader_among_many_ranks():
    run = RunBuilder(n_ranks=2048, elapsed=600.0)
    run.add(FILE, IoLayer.POSIX, 17, {Op.READ: (9000, 9000 * MIB, 337.0)})
    found = only(run)
    assert (found.code, found.evidence["rank"]) == ("imbalance", 17)


def test_processes_without_mpi_are_not_compared():
    run = uneven((20, 5, 5, 5), (400, 100, 100, 100))
    run.n_ranks = 0
    for row in run.rows:
        row["rank"] = -1
    assert codes(run) == []


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
    assert found.phrase.startswith("rank 7 taking far longer")
    assert found.phrase.endswith("most of it with out.7")


def test_opens_at_each_step():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    ops = {Op.OPEN: (500, 0, 6.0), Op.CLOSE: (500, 0, 2.0), Op.WRITE: (500, 1000 * MIB, 1.0)}
    run.everyone(FILE, IoLayer.POSIX, ops)
    found = only(run)
    assert found.code == "open-per-step"
    assert found.cost_seconds == pytest.approx(8.0 * 499 / 500)


def test_waiting_in_collective_opens_is_no_loss():
    run = RunBuilder(n_ranks=2, elapsed=100.0)
    run.add(FILE, IoLayer.MPIIO, 0, {Op.OPEN: (50, 0, 0.1)})
    run.add(FILE, IoLayer.MPIIO, 1, {Op.OPEN: (50, 0, 30.0)})
    assert "open-per-step" not in codes(run)


def asking(action, calls, seconds):
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone(FILE, IoLayer.POSIX, {Op.WRITE: (1, MIB, 0.5)})
    rows = np.zeros(2, NAMES_ROW)
    rows["process"] = (0, 1)
    rows["count"][:, action] = calls
    rows["seconds"][:, action] = (seconds, seconds / 2)
    evidence = run.evidence(names=rows, directories=("/scratch",))
    return diagnose(evidence, storage=LOCAL).findings


def test_a_storm_of_stats_on_files_that_are_never_opened():
    (found,) = asking(Action.STAT, 5000, 8.0)
    assert found.code == "repeated-stat"
    assert found.cost_seconds == pytest.approx(8.0, rel=0.001)
    assert found.phrase == "asking 5000 times about files in scratch (stat, access)"
    assert asking(Action.STAT, 500, 8.0) == ()
    assert asking(Action.STAT, 5000, 2.0) == ()


def test_files_that_are_made_and_removed_are_a_fact_without_a_claim():
    (found,) = asking(Action.UNLINK, 5000, 8.0)
    assert (found.code, found.cost_seconds) == ("name-calls", None)
    assert found.phrase == "5000 calls of unlink"
    assert asking(Action.UNLINK, 5000, 2.0) == ()


def synced(n_syncs, seconds, layer=IoLayer.POSIX):
    run = RunBuilder(n_ranks=1, elapsed=100.0)
    ops = {Op.WRITE: (50, 50 * 2 * MIB, 1.0), Op.SYNC: (n_syncs, 0, seconds)}
    run.add(FILE, layer, 0, ops)
    return run


def test_a_sync_for_every_write_against_one_of_all():
    found = only(synced(50, 20.0))
    assert found.code == "sync-per-write"
    after = LOCAL.synced(100 * MIB).middle
    assert 0.1 < after < 1
    assert found.cost_seconds == pytest.approx(20.0 - after)


def test_few_or_cheap_syncs_are_no_finding():
    assert codes(synced(1, 20.0)) == []
    assert codes(synced(50, 4.0)) == []


def collective(n_ranks=8, seconds=20.0, size=GIB):
    run = RunBuilder(n_ranks=n_ranks, elapsed=100.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (16, size // n_ranks, seconds)})
    ops = {Op.WRITE: (size // (4 * MIB), size, 0.9 * seconds)}
    run.add(FILE, IoLayer.POSIX, 0, ops, own=False)
    return run


def test_hints_that_cannot_act():
    run = collective()
    reported = {"cb_nodes": "1", "romio_cb_write": "automatic", "cb_buffer_size": "16777216"}
    run.hints[FILE] = {
        "requested": {"cb_nodes": "8", "bogus": "1", "romio_cb_write": "AUTOMATIC"},
        "reported": reported,
    }
    found = only(run)
    assert found.code == "idle-hints"
    assert (
        found.text
        == "cb_nodes: requested 8, got 1; bogus: requested 1, but this MPI does not know the hint."
    )
    told = diagnose(run.evidence())
    assert "; 1 remark. Only an experiment can tell" in told.summary


ROMIO = {"romio_cb_read": "automatic", "cb_buffer_size": "16777216"}


def hinted(key, requested, reported, layer=IoLayer.PNETCDF, **fields):
    """A run with one hint on one node; `reported` None: it is not reported."""
    run = RunBuilder(n_ranks=8, elapsed=100.0)
    run.everyone(FILE, IoLayer.MPIIO, {Op.WRITE_COLLECTIVE: (16, GIB // 8, 20.0)}, own=False)
    run.everyone(FILE, layer, {Op.WRITE_COLLECTIVE: (16, GIB // 8, 20.0)}, **fields)
    answers = ROMIO if reported is None else ROMIO | {key: reported}
    run.hints[FILE] = {"requested": {key: requested}, "reported": answers}
    return codes(run)


@pytest.mark.parametrize(
    ("key", "requested", "reported"),
    [
        ("nc_var_align_size", "1", "4"),  # rounded up to 4; the default is 512
        ("nc_header_align_size", "500", "512"),
        ("nc_header_read_chunk_size", "100K", "100"),
        ("nc_in_place_swap", "AUTO", "auto"),
        ("nc_burst_buf_dirname", "/tmp", None),  # read by PnetCDF, not reported
        ("nc_hash_size_dim", "300", None),
        ("cb_nodes", "99", "8"),  # clamped to the ranks
        ("cb_buffer_size", "16M", "16777216"),
        ("romio_cb_read", "Automatic ", "automatic"),
        ("romio_no_indep_rw", "1", "true"),
        ("romio_lustre_co_ratio", "2", None),  # read by a driver that does not report it
        ("of_a_library_between", "1", None),
    ],
)
def test_a_hint_that_may_have_acted_is_not_idle(key, requested, reported):
    assert hinted(key, requested, reported) == []


@pytest.mark.parametrize(
    ("key", "requested", "reported"),
    [
        ("nc_in_place_swap", "yes please", "auto"),
        ("cb_nodes", "4", "1"),
        ("cb_buffer_size", "4194304", "16777216"),
        ("romio_cb_read", "on", "automatic"),
        ("romio_cb_wirte", "enable", None),
        ("striping_unit", "1048576", None),
    ],
)
def test_a_hint_that_was_not_taken_is_idle(key, requested, reported):
    assert hinted(key, requested, reported) == ["idle-hints"]


def test_a_hint_of_pnetcdf_is_idle_where_pnetcdf_is_not_used():
    assert hinted("nc_var_align_size", "1", None, IoLayer.HDF5) == ["idle-hints"]
    assert hinted("unheard_of", "1", None, IoLayer.MPIIO) == ["idle-hints"]


def test_stripes_of_a_new_file_may_be_fewer_but_not_those_of_an_old_one():
    old, new = FileFlag.OPENED_WRITE, FileFlag.OPENED_WRITE | FileFlag.CREATED
    assert hinted("striping_factor", "64", "8", flags=int(new)) == []
    assert hinted("striping_factor", "64", "8", flags=int(old)) == ["idle-hints"]


def test_an_mpi_that_echoes_hints_tells_nothing_about_them():
    run = collective()
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


def test_one_reader_among_many_ranks_is_told_of_from_5_percent_of_the_run():
    run = RunBuilder(n_ranks=2048, elapsed=6500.0)
    run.add("/d/input", IoLayer.POSIX, 0, {Op.READ: (1000, GIB, 337.0)})
    (found,) = findings(run)
    assert (found.code, found.evidence["rank"]) == ("imbalance", 0)
    assert "The slowest rank spent 337 s" in found.text
    assert "It alone moved data." in found.text
    run.elapsed = 6800.0
    assert codes(run) == []


def test_a_balanced_collective_program_gets_no_finding():
    """An adviser by fixed shares told of this run: 100 % load imbalance, redundant write
    traffic, 22 % collective operations only, and asynchronous reads, of which it has none."""
    told = diagnose(balanced_hdf5().evidence())
    assert told.findings == ()
    assert told.summary.startswith(
        "82.7 % of the run was I/O (9.1 s of 11 s): 1 GiB written in 1 file, 113 MiB/s. "
        "Nothing stands out among "
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


def test_findings_come_by_gain_and_never_claim_more_than_the_io_time():
    run = RunBuilder(n_ranks=4, elapsed=100.0)
    run.everyone("/d/a", IoLayer.MPIIO, {Op.WRITE: (5000, 5000 * KIB, 8.0)})
    run.everyone("/d/b", IoLayer.MPIIO, {Op.READ: (5000, 5000 * KIB, 9.0)})
    told = diagnose(run.evidence(), storage=LOCAL)
    gains = [found.cost_seconds for found in told.findings]
    assert len(gains) == 2
    assert gains == sorted(gains, reverse=True)
    assert max(found.most_seconds for found in told.findings) <= told.figures.io_seconds


@pytest.mark.parametrize(("elapsed", "least"), [(1.0, 0.1), (100.0, 5.0)])
def test_even_the_least_gain_must_be_worth_a_change(elapsed, least):
    for seconds, told in ((0.7 * least, []), (1.5 * least, ["sync-per-write"])):
        run = synced(50, seconds)
        run.elapsed = elapsed
        run.rows[0]["bytes"][Op.WRITE] = 50
        assert codes(run) == told


def test_rules_are_told_apart_and_documented():
    names = [rule.code for rule in RULES]
    assert len(set(names)) == len(names)
    page = FINDINGS_PAGE.read_text("utf-8")
    for rule in RULES:
        assert rule.basis
        assert rule.group
        assert rule.title[0].isupper()
        assert rule.general_remedy.endswith(".")
        assert f"| `{rule.code}` | " in page


def described(requests=5000, meta=8.0, n_ranks=4, data_calls=4, size=100):
    """An HDF5 file with much metadata, which rank 0 writes in small requests."""
    run = RunBuilder(n_ranks=n_ranks, elapsed=30.0)
    ops = {Op.META: (2000, 0, meta), Op.WRITE_COLLECTIVE: (data_calls, GIB // n_ranks, 4.0)}
    run.everyone(FILE, IoLayer.HDF5, ops)
    sizes = np.zeros(10)
    sizes[1 if size < 1024 else 4] = requests
    ops = {Op.WRITE: (requests, requests * size, 0.8 * meta)}
    run.add(FILE, IoLayer.MPIIO, 0, ops, own=False, write_sizes=sizes)
    return run


def test_metadata_of_hdf5_in_small_requests_has_lines_that_gather_it():
    found = only(described())
    assert (found.code, found.cost_seconds) == ("hdf5-metadata", None)
    assert "4996 requests below 10 KiB" not in found.text  # data calls of all ranks are left out
    assert "at least 4984 requests below 10 KiB are of HDF5 itself" in found.text
    assert "coll_metadata_write = true" in found.lines[0]
    assert found.lines[1] == "stripewise run --config hdf5-metadata.toml -- ./program"


def test_a_file_of_one_process_needs_no_collective_metadata():
    run = described(n_ranks=1)
    for row in run.rows:
        row["layer"] = IoLayer.POSIX if row["layer"] == IoLayer.MPIIO else row["layer"]
    assert "coll_metadata_write" not in only(run).lines[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"requests": 30},
        {"meta": 0.5},
        {"size": 65536},
        {"data_calls": 5000},  # the small requests are the program's own
    ],
    ids=["few", "short", "large", "data"],
)
def test_other_files_of_hdf5_have_no_such_lines(fields):
    assert "hdf5-metadata" not in codes(described(**fields))
