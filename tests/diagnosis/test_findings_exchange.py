# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Collective calls that take longer than what is beneath them: when it is told, and when not."""

import pytest
from runs import GIB, MIB, RunBuilder

from stripewise.diagnosis import diagnose
from stripewise.model import IoLayer, Op

FILE = "/scratch/out.h5"


def run_of(
    collective=80.0, system=10.0, reads=0.0, elapsed=90.0, n_ranks=4, seen=4 * GIB, alone=0
):
    """4 GiB written collectively, by two aggregators."""
    run = RunBuilder(n_ranks=n_ranks, elapsed=elapsed)
    share = 4 * GIB // n_ranks
    ops = {Op.WRITE_COLLECTIVE: (20, share, collective)}
    if alone:
        ops[Op.WRITE] = (20, alone, 1.0)
    run.everyone(FILE, IoLayer.MPIIO, ops)
    for rank in (0, 1):
        below = {Op.WRITE: (512, seen // 2, system)}
        if reads:
            below[Op.READ] = (512, MIB, reads)
        run.add(FILE, IoLayer.POSIX, rank, below, own=False)
    return run


def told(run):
    found = [f for f in diagnose(run.evidence()).findings if f.code == "collective-exchange"]
    return found[0] if found else None


def test_time_that_is_neither_the_storages_nor_other_work():
    found = told(run_of())
    assert found.severity == "high"
    assert found.cost_seconds == pytest.approx(80.0 - 10.0 - (90.0 - 80.0))
    assert "took the fastest rank 80 s" in found.text
    assert "only 10 s of the slowest process" in found.text
    assert any("cb_buffer_size" in line for line in found.lines)
    assert any("io_ompio_cycle_buffer_size" in line for line in found.lines)


@pytest.mark.parametrize(
    "well",
    [
        {"system": 60.0},  # the storage is slow, not the exchange
        {"reads": 50.0},  # reads before writes are the storage's time too
        {"collective": 7.0, "system": 1.0, "elapsed": 8.0},  # near 1 GiB/s, buffered by the system
        {"elapsed": 200.0},  # ranks may have come late from their other work
        {"n_ranks": 2},
        {"seen": GIB},  # system calls that were not seen cannot be priced
        {"seen": 5 * GIB, "alone": GIB // 4},  # a fifth is independent
    ],
)
def test_well_running_collective_programs_and_unknown_ones_get_none(well):
    assert told(run_of(**well)) is None


def test_one_early_rank_shows_that_the_others_waited():
    run = run_of()
    row = next(row for row in run.rows if row["layer"] == IoLayer.MPIIO and row["rank"] == 3)
    row["seconds"][Op.WRITE_COLLECTIVE] = row["outermost_seconds"] = 11.0
    assert told(run) is None


def test_a_run_whose_length_is_not_known():
    assert told(run_of(elapsed=0.0)) is None
