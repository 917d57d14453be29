# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The experiments with patterns: what is trained, what is asked, what the table says."""

from __future__ import annotations

import pattern_experiments as experiments
import pytest

from stripewise.storage.machines import find_storage
from stripewise.study.procedure import simulated_workload


def test_the_programs_are_the_published_ones_and_none_is_trained_with():
    found = dict(experiments.programs(512))
    assert found["IOR"].bytes == 512 * 8 * 32 << 20
    assert len(found["FLASH-IO"].patterns) == 34
    assert found["VORPAL-like"].patterns[0].block == (64, 128, 256)
    assert not any("64,128,256" in one or "flash" in one for one in experiments.KERNELS)


def test_without_anything_known_nothing_is_adopted_and_the_best_is_the_best(monkeypatch):
    monkeypatch.setattr(experiments, "SIZES", experiments.SIZES[:2])
    monkeypatch.setattr(experiments, "AGGREGATORS", (8,))
    work = dict(experiments.programs(512))["IOR"]
    program = simulated_workload(find_storage("edison"), work)
    row = experiments._row("IOR", "edison", 512, program, (), (), ())
    assert {level for level, _, _ in row.adopted.values()} == {"default"}
    assert all(speed == pytest.approx(row.default) for _, speed, _ in row.adopted.values())
    assert row.optimum > 2 * row.default
    assert row.configurations == 10 * 2 * 2 * 2
    assert "100.0%" not in experiments.table([row])
