# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Periods of synthetic signals, and of signals that have none."""

import numpy as np
import pytest
from runs import RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.figures.heat_cells import find_period
from stripewise.evidence.trace import IoLayer


def bursts(starts, n, width=1):
    values = np.zeros(n)
    for start in starts:
        values[start : start + width] += 5.0
    return values


@pytest.mark.parametrize(
    ("values", "period", "phases"),
    [
        (bursts(range(10, 300, 20), 300), 20, 15),
        (bursts(range(5, 1000, 97), 1000, 12), 97, 11),
        (np.tile([1.0, 0.0], 50), 2, 50),
        (1 + np.sin(np.arange(400) * 2 * np.pi / 37), 37, None),
        (bursts(range(0, 400, 40), 400) * 2 + bursts(range(0, 400, 8), 400) / 5, 40, 10),
    ],
    ids=["spikes", "bursts", "alternating", "sine", "nested"],
)
def test_a_period_is_found(values, period, phases):
    found = find_period(values, 0.5)
    assert found.periodic
    assert found.period_seconds == pytest.approx(period * 0.5, rel=0.02)
    assert found.confidence > 0.9
    assert phases is None or found.n_phases == phases


@pytest.mark.parametrize("seed", range(10))
def test_phases_that_come_early_or_late_are_still_periodic(seed):
    source = np.random.default_rng(seed)
    starts = [50 + 100 * k + int(source.integers(-6, 7)) for k in range(9)]
    found = find_period(bursts(starts, 1000, 15), 1.0)
    assert found.periodic
    assert found.period_seconds == pytest.approx(100, rel=0.05)
    assert found.n_phases == 9


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(100),
        np.ones(200),
        np.arange(200.0),
        bursts([50], 200, 30),
        bursts([10, 90], 200, 3),
        bursts([0, 20, 40], 60),
        np.array([1.0, 0.0, 1.0]),
    ],
    ids=["nothing", "steady", "ramp", "single", "two", "three", "short"],
)
def test_no_period_is_claimed(values):
    found = find_period(values, 1.0)
    assert not found.periodic
    assert np.isnan(found.period_seconds)


def test_noise_has_no_period():
    claimed = 0
    for seed in range(200):
        source = np.random.default_rng(seed)
        claimed += find_period(source.exponential(1, 300), 1.0).periodic
        claimed += find_period(
            bursts(np.sort(source.choice(390, 8, replace=False)), 400, 4), 1.0
        ).periodic
    assert claimed <= 8


def test_the_phases_of_a_run_are_those_of_its_time_bins():
    run = RunBuilder(n_ranks=2, elapsed=100.0)
    run.bin_seconds = 0.5
    for place in range(10, 200, 20):
        for rank in range(2):
            run.bin(rank, "/d/out", IoLayer.MPIIO, place, write=1e6, busy=0.4)
    (phase,) = diagnose(run.evidence()).phases
    assert (phase.direction, phase.periodic) == ("write", True)
    assert phase.period_seconds == pytest.approx(10.0, rel=0.01)
    assert phase.phase_bytes == pytest.approx(2e6)
