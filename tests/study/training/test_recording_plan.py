# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from stripewise.core.errors import ConfigurationError, PolicyError, UsageError
from stripewise.settings import Policy
from stripewise.study.training import (
    Surface,
    SurfaceRole,
    SurfaceRun,
    plan_runs,
    possible_points,
    recorded_tunables,
)
from stripewise.study.training._recording import _check_caps
from stripewise.study.training._surface import run_from_json, run_to_line
from support.strategy_suite import romio_facts

FACTS = replace(romio_facts(), collective_bytes=1 << 26, independent_bytes=0)
TUNABLES = {
    "mpiio.romio_cb_write": ("enable", "disable"),
    "mpiio.cb_nodes": (2, 4),
}


def test_every_possible_point_and_the_default_first():
    points, impossible = possible_points(TUNABLES, FACTS)
    assert points[0] == {}
    assert len(points) == 7
    assert impossible == 2  # cb_nodes has no effect with romio_cb_write=disable
    assert {"mpiio.romio_cb_write": "disable"} in points


def test_too_many_points_are_refused():
    wide = {f"knob{i}": tuple(range(9)) for i in range(6)}
    with pytest.raises(UsageError, match="1000000 configurations are too many"):
        possible_points(wide, FACTS)


def test_rounds_are_fresh_permutations():
    points, _ = possible_points(TUNABLES, FACTS)
    runs = plan_runs(points, 5, 3, 0)
    rounds = [[r.settings for r in runs if r.round == n] for n in range(1, 6)]
    for order in rounds:
        assert sorted(map(str, order)) == sorted(map(str, points))
    assert len({str(order) for order in rounds}) == 5
    assert runs == plan_runs(points, 5, 3, 0)
    assert runs != plan_runs(points, 5, 4, 0)


def test_the_default_stands_in_between():
    points, _ = possible_points(TUNABLES, FACTS)
    runs = plan_runs(points, 4, 0, 5)
    assert [run.sequence for run in runs] == list(range(1, len(runs) + 1))
    controls = [i for i, run in enumerate(runs) if run.role is SurfaceRole.CONTROL]
    assert controls == [5, 11, 17, 23, 29]
    assert all(runs[i].settings == {} for i in controls)
    counts = Counter(str(r.settings) for r in runs if r.role is SurfaceRole.POINT)
    assert set(counts.values()) == {4}


def test_values_are_checked_and_each_counts_once():
    assert recorded_tunables({"mpiio.cb_nodes": (2, 4, 2)}) == {"mpiio.cb_nodes": (2, 4)}
    with pytest.raises(ConfigurationError, match="cb_nodes"):
        recorded_tunables({"mpiio.cb_nodes": ("two",)})
    with pytest.raises(UsageError, match="cb_node"):
        recorded_tunables({"mpiio.cb_node": (2,)})


def test_what_is_not_known_of_a_run_is_kept_and_holds_no_cap():
    warm = SurfaceRun({}, 2.0, 1.0, write_bytes=5, missing={"write_bytes": "not counted"})
    assert run_from_json(json.loads(run_to_line(warm))) == warm
    surface = Surface(("a",), plan={"configurations": 1})
    _check_caps(Policy(), surface, 3, warm)
    with pytest.raises(PolicyError, match="how much a run writes is not known"):
        _check_caps(Policy(max_bytes=1 << 40), surface, 3, warm)
