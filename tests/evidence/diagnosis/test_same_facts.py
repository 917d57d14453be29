# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measured costs help and never hide: facts and causes of a run do not depend on a probe."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from evidence.diagnosis.runs import KIB, MIB, RunBuilder
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op
from support.cost_checks import STORAGES, differences


def small_independent():
    run = RunBuilder(n_ranks=4, elapsed=60.0)
    run.everyone("/d/out.h5", IoLayer.MPIIO, {Op.WRITE: (50_000, 50_000 * 4 * KIB, 40.0)})
    run.everyone(
        "/d/out.h5", IoLayer.POSIX, {Op.WRITE: (50_000, 50_000 * 4 * KIB, 39.0)}, own=False
    )
    return run.evidence()


def small_requests():
    run = RunBuilder(n_ranks=0, elapsed=100.0)
    run.add("/d/log", IoLayer.POSIX, -1, {Op.WRITE: (1_770_000, 1_770_000 * 32, 78.0)})
    return run.evidence()


def many_opens():
    run = RunBuilder(n_ranks=2, elapsed=30.0)
    run.everyone("/d/step", IoLayer.POSIX, {Op.OPEN: (5000, 0, 12.0), Op.READ: (5000, MIB, 1.0)})
    return run.evidence()


def syncs():
    run = RunBuilder(n_ranks=1, elapsed=30.0)
    run.add(
        "/d/db", IoLayer.POSIX, 0, {Op.WRITE: (2000, 2000 * 4 * KIB, 0.2), Op.SYNC: (2000, 0, 20)}
    )
    return run.evidence()


def one_slow_rank():
    run = RunBuilder(n_ranks=4, elapsed=50.0)
    for rank in range(4):
        seconds = 40.0 if rank == 3 else 4.0
        run.add("/d/x", IoLayer.POSIX, rank, {Op.WRITE: (100, 100 * MIB, seconds)})
    return run.evidence()


def nothing_special():
    run = RunBuilder(n_ranks=2, elapsed=100.0)
    run.everyone("/d/big", IoLayer.POSIX, {Op.WRITE: (100, 400 * MIB, 1.0)})
    return run.evidence()


RUNS = (small_independent, small_requests, many_opens, syncs, one_slow_rank, nothing_special)


@pytest.mark.parametrize("run", RUNS)
def test_a_run_has_the_same_facts_with_and_without_a_probe(run):
    assert differences(run()) == []


@pytest.mark.extended(keep=1)
@pytest.mark.skipif(find_spec("darshan") is None, reason="PyDarshan is not installed")
@pytest.mark.parametrize(
    "name", ["sample-badost.darshan", "dxt.darshan", "ior_hdf5_example.darshan", "example.darshan"]
)
def test_a_log_has_the_same_facts_with_and_without_a_probe(name):
    log = Path(find_spec("darshan").origin).parent / "examples/example_logs" / name
    if not log.exists():
        pytest.skip(f"this PyDarshan has no {name}")
    assert differences(read_evidence(log)) == []


def test_what_is_certain_is_found_whatever_it_may_save():
    for costs in STORAGES.values():
        assert diagnose(small_requests(), storage=costs).facts
        found = {one.code for one in diagnose(syncs(), storage=costs).findings}
        assert "sync-per-write" in found or costs is STORAGES["slow"]
