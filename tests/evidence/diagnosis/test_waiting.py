# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time of threads counts once, and waiting for another program is no I/O to storage."""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evidence.diagnosis.runs import KIB, MIB, RunBuilder
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.figures.heat_cells import find_period
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.readers._waits import with_waits_apart
from stripewise.evidence.trace import ALL_RANKS, COUNTER_ROW, PROCESS_ROW, IoLayer, Op

USUAL = {Op.OPEN: (1, 0, 1e-4), Op.READ: (10, 10 * KIB, 1e-3)}


def waiting(*odd, usual=5, **fields):
    """Return the waiting seconds of each odd row, beside files whose calls take 0.1 ms."""
    run = RunBuilder(n_ranks=1, elapsed=100)
    for path, layer, ops in odd:
        run.add(path, layer, fields.get("rank", 0), ops, **{"maximum_offset": 36})
    for number in range(usual):
        run.add(f"/d/{number}", IoLayer.POSIX, 0, USUAL)
    rows = with_waits_apart(np.array(run.rows, COUNTER_ROW), run.paths)
    kept = rows["seconds"].sum(axis=1) + rows["waiting_seconds"]
    assert kept == pytest.approx([row["seconds"].sum() for row in run.rows])
    return rows["waiting_seconds"][: len(odd)].tolist()


FIFO = {Op.OPEN: (2, 0, 90.0), Op.READ: (2, 41, 1e-5), Op.WRITE: (1, 5, 1e-5)}


def test_a_call_that_waits_for_another_program_is_no_io():
    assert waiting(("/data/to-me", IoLayer.POSIX, FIFO)) == [pytest.approx(90.0, rel=1e-3)]
    reads = {Op.OPEN: (1, 0, 1e-5), Op.READ: (4, 4 * KIB, 60.0)}
    assert waiting(("/data/lines", IoLayer.STDIO, reads)) == [pytest.approx(60.0)]


@pytest.mark.parametrize(
    "path", ["/proc/self/stat", "/sys/block/sda/stat", "/dev/null", "pipe:[12]", "<STDIN>"]
)
def test_names_of_the_system_are_not_storage(path):
    ops = {Op.READ: (10, 100 * MIB, 4.0)}
    assert waiting((path, IoLayer.POSIX, ops), usual=0) == [4.0]


@pytest.mark.parametrize("path", ["/dev/shm/out", "/scratch/proc/x", "/data/pipe:[1]", "<STDOUT>"])
def test_names_that_only_look_alike_are_storage(path):
    assert waiting((path, IoLayer.POSIX, {Op.WRITE: (10, 100 * MIB, 4.0)})) == [0.0]


def test_slow_storage_is_not_taken_for_a_pipe():
    slow_open = {Op.OPEN: (1, 0, 8.0), Op.WRITE: (1, 4 * KIB, 0.01)}
    every = [(f"/s/{rank}", IoLayer.POSIX, slow_open) for rank in range(20)]
    assert waiting(*every, usual=0) == [0.0] * 20  # all opens are slow: the metadata server
    assert waiting(*every[:1], usual=0) == [0.0]  # nothing to compare it with
    large = {Op.OPEN: (1, 0, 30.0), Op.WRITE: (100, 100 * MIB, 60.0)}
    assert waiting(("/s/large", IoLayer.POSIX, large)) == [0.0]
    assert waiting(("/s/shared", IoLayer.POSIX, FIFO), rank=ALL_RANKS) == [0.0]


def threads(*calls, elapsed=10.0):
    """Diagnose a process of which (thread, start, end, count, busy) are the calls, in seconds."""
    run = RunBuilder(n_ranks=0, elapsed=elapsed)
    busy = sum(one[4] for one in calls)
    run.add("/d/x", IoLayer.POSIX, -1, {Op.WRITE: (len(calls), MIB, busy)})
    for sequence, (thread, start, end, count, spent) in enumerate(calls):
        row = run.call("/d/x", IoLayer.POSIX, Op.WRITE, "write", 0, sequence, 0, KIB, count=count)
        row["thread"], row["busy_ns"] = thread, spent * 1e9
        row["start_ns"], row["end_ns"] = start * 1e9, end * 1e9
        row["rank"] = -1
    evidence = run.evidence(processes=_process(busy))
    return diagnose(evidence).figures


def _process(busy):
    rows = np.zeros(1, PROCESS_ROW)
    rows["rank"], rows["is_program"], rows["outermost_ns"] = -1, True, busy * 1e9
    return rows


def test_time_of_threads_in_calls_at_once_counts_once():
    told = threads((0, 0, 4, 1, 4), (1, 1, 5, 1, 4), (2, 2, 3, 1, 1))
    assert told.io_exact
    assert told.io_seconds == pytest.approx(5.0)
    assert told.threads_seconds == pytest.approx(9.0)
    assert told.elapsed_write_seconds <= told.io_seconds
    alone = threads((0, 0, 4, 1, 4), (0, 5, 6, 1, 1))
    assert (alone.io_seconds, alone.threads_seconds) == (pytest.approx(5.0), 0.0)
    after_each_other = threads((0, 0, 4, 1, 4), (1, 5, 6, 1, 1))
    assert (after_each_other.io_seconds, after_each_other.io_exact) == (pytest.approx(5.0), True)


def test_folded_calls_of_threads_give_bounds():
    told = threads((0, 0, 6, 20, 4), (1, 0, 6, 20, 4))
    assert not told.io_exact
    assert (told.io_low_seconds, told.io_seconds) == (pytest.approx(4), pytest.approx(6))


def test_no_share_is_above_the_whole_run():
    run = RunBuilder(n_ranks=1, elapsed=10.0)
    run.add("/d/x", IoLayer.POSIX, 0, {Op.READ: (100, 100 * MIB, 76.4)})
    told = diagnose(run.evidence())
    assert told.figures.io_share == 1.0
    assert told.figures.io_seconds == 10.0
    assert not told.figures.io_exact
    assert told.figures.threads_seconds == pytest.approx(76.4)
    assert told.files[0].elapsed_seconds == 10.0
    assert told.headline.startswith("At most 100 % of the run was I/O")


def test_a_bin_is_not_told_as_a_duration():
    bins = np.zeros(100)
    bins[[10, 50]] = 5.0
    assert math.isnan(find_period(bins, 52.5, "read").phase_seconds)
    bins[20:30] = 5.0
    bins[[10, 50]] = 0.0
    assert find_period(bins, 52.5, "read").phase_seconds == pytest.approx(525)


@pytest.mark.skipif(find_spec("darshan") is None, reason="PyDarshan is not installed")
def test_a_log_of_threads_that_wait_in_pipes():
    spec = find_spec("darshan")
    log = Path(spec.origin).parent / "examples/example_logs/dxt.darshan"
    told = diagnose(read_evidence(log)).figures
    assert told.io_low_seconds < 1.0
    assert told.io_share < 0.001
    assert told.waiting_seconds == told.run_seconds  # eight threads wait for all of the run
    assert told.n_waiting_files == 10
