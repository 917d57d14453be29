# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions from results: the intervals hold what was put in."""

import numpy as np
import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.fit import ModelCase, blank_storage, fit_results
from stripewise.storage.fit._predict import bandwidth
from stripewise.storage.machines import find_storage, load_description
from stripewise.storage.results import Measured, Results
from stripewise.storage.results._base import blocks
from support.storages import GIB, MIB, described

RUNS = [
    (1, 1, 64 * MIB), (1, 2, 64 * MIB), (1, 16, 64 * MIB), (2, 16, 64 * MIB), (4, 16, 64 * MIB),
    (8, 16, 64 * MIB), (16, 16, 64 * MIB), (1, 1, MIB), (1, 4, MIB), (1, 1, MIB // 4),
]  # fmt: skip
"""Nodes, ranks of each, transfer: a file per process."""


def simulated(truth, seed, *, writing=True, noise=0.05, repeats=5):
    random = np.random.default_rng(seed)
    jobs = [(*run, "posix-process") for run in RUNS]
    jobs += [(nodes, 4, 64 * MIB, "posix-shared") for nodes in (4, 8)]
    found = []
    for nodes, each, transfer, stack in jobs:
        work = blocks("test", nodes, each, 64 * MIB, transfer, writing=writing)
        settings = {"mpiio.striping_factor": 1}
        rate = bandwidth(truth, ModelCase(work, stack, tuple(settings.items())))
        rates = tuple(rate * np.exp(random.normal(0, noise, repeats)))
        found.append(Measured("test", work, stack, settings, rates))
    return Results(tuple(found))


def figures(way):
    return {
        f"client.process_{way}": 1.1 * GIB, f"client.node_{way}": 6.0 * GIB,
        f"servers.target_{way}": 3.0 * GIB, f"servers.whole_{way}": 20.0 * GIB,
    }  # fmt: skip


def test_the_intervals_hold_the_truth_nine_times_of_ten():
    known = {**figures("write"), "client.request": 4e-4}
    truth = described(known, stack="romio")
    held = []
    for seed in range(8):
        results = simulated(truth, seed)
        fitted = fit_results(results, blank_storage(results, name="site", targets=12), seed=seed)
        assert set(fitted.fitted_names) == set(known)
        for name, value in known.items():
            one = fitted.storage.figures[name]
            held.append(one.low <= value <= one.high)
            assert one.high / one.low < 1.5
    assert np.mean(held) >= 0.9


def test_reads_and_writes_are_told_apart():
    truth = described({**figures("write"), **figures("read"), "client.process_read": 0.5 * GIB})
    both = Results(simulated(truth, 1).measured + simulated(truth, 2, writing=False).measured)
    fitted = fit_results(both, blank_storage(both, name="site", targets=12))
    assert fitted.storage.value("client.process_read") == pytest.approx(0.5 * GIB, rel=0.1)
    assert fitted.storage.value("client.process_write") == pytest.approx(1.1 * GIB, rel=0.1)


def test_one_node_tells_of_itself_and_not_of_a_target():
    limits = {"client.process_write": GIB, "client.file_write": 1.5 * GIB}
    truth = described({**limits, "servers.target_write": 3.0 * GIB})
    jobs = [(1, "posix-process"), (2, "posix-process"), (4, "posix-process"), (4, "posix-shared")]
    found = []
    for ranks, stack in jobs:
        work = blocks("test", 1, ranks, 64 * MIB, 4 * MIB)
        rate = bandwidth(truth, ModelCase(work, stack, ()))
        found.append(Measured("test", work, stack, {}, (rate, 1.01 * rate, 0.99 * rate)))
    results = Results(tuple(found))
    fitted = fit_results(results, blank_storage(results, name="site", targets=12))
    assert set(fitted.fitted_names) == set(limits)
    for name, value in limits.items():
        assert fitted.storage.value(name) == pytest.approx(value, rel=0.1)
    assert "several nodes" in fitted.undetermined["servers.target_write"]


def test_what_no_run_came_near_is_left_out():
    truth = described({"client.process_write": GIB})
    results = simulated(truth, 1)
    fitted = fit_results(results, blank_storage(results, name="site", targets=12))
    assert fitted.fitted_names == ["client.process_write"]
    assert "client.node_write" in fitted.undetermined
    assert "client.node_write" not in fitted.storage.figures


def test_nothing_to_fit_to_is_refused():
    with pytest.raises(UsageError, match="no bandwidth"):
        fit_results(Results(), find_storage("archer"))
    results = Results(operations={"metadata.create": (1e3, 2e3, 3e3)})
    with pytest.raises(UsageError, match="--like"):
        fit_results(results, blank_storage(results, name="site", targets=1))


def test_a_description_can_be_the_beginning():
    results = Results(operations={"metadata.create": (1e3, 2e3, 4e3)})
    fitted = fit_results(results, load_description("archer"))
    one = fitted.storage.figures["metadata.create"]
    objects = 4 * 2e-6  # of its stripes, a figure of their own
    expected = (5e-4 - objects, 2.5e-4 - objects, 1e-3 - objects)
    assert (one.value, one.low, one.high) == pytest.approx(expected)
    assert fitted.storage.value("client.node_write") == find_storage("archer").value(
        "client.node_write"
    )
