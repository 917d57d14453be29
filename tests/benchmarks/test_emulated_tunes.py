# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tuning on emulated storage: what the table says, and that replays see what a study sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_tunes import COLUMNS, row
from surfaces import Landscape

from stripewise.study.training import Surface
from support.random_draws import regret_of
from support.replay import replay_study

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

SURFACES = sorted((BENCHMARKS / "surfaces" / "emulated").glob("*.jsonl"))
FOUND = {
    "default_seconds": 1.5,
    "speedup": {"median": 4.0, "low": 3.5, "high": 4.5},
    "runs": 25,
    "chosen": {"mpiio.striping_factor": 8},
    "optimum": {"mpiio.striping_factor": 8},
    "regret": 0.0,
    "pairs": {"median": 1.0, "low": 0.9, "high": 1.1},
}


def test_a_row_of_the_table():
    cells = row("vpic", FOUND)
    assert len(cells) == len(COLUMNS)
    assert cells[1:5] == ["1.50 s", "4.00 [3.50–4.50]", "25", "`striping_factor=8`"]
    nothing = row("vpic", {**FOUND, "speedup": None, "chosen": {}, "regret": None})
    assert nothing[2] == "no improvement"
    assert nothing[4] == "default"
    assert nothing[6] == "not in it"


@pytest.mark.parametrize("path", SURFACES, ids=lambda path: path.stem)
def test_replays_on_emulated_storage_have_a_model(path):
    """With it the second configuration after the default is at most 20 % beside the optimum."""
    surface = Surface.load(path)
    assert surface.facts.patterns
    scene = Landscape(surface)
    replay = replay_study(surface, "auto", 1)
    assert replay.unknown == 0
    assert regret_of(scene, replay.choice_after(8)) <= 0.2
    assert regret_of(scene, {}) > 1


def test_there_are_surfaces_of_five_kernels():
    assert [path.stem for path in SURFACES] == ["btio", "flash", "gcrm", "vorpal", "vpic"]
