# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of strategies, on a small synthetic surface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.study_fakes import lognormal
from support.surfaces import save_surface, synthetic_surface

pytestmark = pytest.mark.extended

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DS, BUFFER = "mpiio.romio_ds_write", "mpiio.ind_wr_buffer_size"


def truth(settings) -> float:
    seconds = 0.5 if settings.get(DS) == "disable" else 1.0
    return seconds * {1 << 20: 0.9, 4 << 20: 0.8}.get(settings.get(BUFFER), 1.0)


def call(words) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    vary = {DS: ("enable", "disable"), BUFFER: (1 << 20, 4 << 20, 16 << 20)}
    save_surface(synthetic_surface(truth, vary, noise=lognormal(0.03)), folder / "small.jsonl")
    words = [sys.executable, BENCHMARKS / "strategies.py", folder / "small.jsonl"]
    printed = call([*words, "--results", folder, "--seeds", "2", "--runs", "60"])
    (folder / "printed").write_text(printed)
    return folder


def test_every_strategy_is_scored(compared):
    document = json.loads((compared / "strategies.json").read_text())
    scores = {score["strategy"]: score for score in document["scores"]}
    names = {"auto", "auto+trained", "model", "model:top=5", "rules", "tpe", "genetic", "random"}
    assert set(scores) == names | {"exhaustive"}
    assert scores["model"]["runs_to_near"] == scores["auto"]["runs_to_near"]  # no model fits
    for score in scores.values():
        assert score["unknown"] == 0
        assert len(score["curve"]) == 60
        assert all(0 <= regret <= 1.65 for regret in score["regret"]["5"])  # 1.5: the default
        assert score["study_runs"] >= 14
    assert scores["auto"]["runs_to_near"] is not None
    assert document["surfaces"]["small"]["luck_expected_runs"] == pytest.approx(12 / 2, rel=0.5)


def test_it_is_printed_and_drawn(compared):
    printed = (compared / "printed").read_text()
    assert "runs to 5 %" in printed
    assert "confirmed in 5 %" in printed
    picture = (compared / "strategies.svg").read_text()
    assert "share of the seeds" in picture


def test_a_strategy_that_does_not_exist():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "strategies.py", "--strategies", "magic"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no strategy 'magic'" in done.stderr
