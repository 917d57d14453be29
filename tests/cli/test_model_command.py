# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise knowledge model`."""

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance import Ground, Model, Range, Score, Term, model_id, save_model

MODEL = Model(
    Ground("edison", "0" * 16, "cray"), PatternClass(), "regression",
    terms=(Term({}, 2.0), Term({"f": 1, "c": -1}, 2.26)), features=("c", "s", "a", "f"),
    ranges={name: Range(1.0, 96.0) for name in ("c", "s", "a", "f")},
    scores=(Score("pattern", "vpic", 20, 0.1, 0.95, 1.0),),
    points=(("vpic, 512 ranks", 3.0, 3.3), ("vpic, 512 ranks", 6.0, 5.1)),
    runs=336, run_seconds=36000.0, way="simulated", programs=("vpic",),
)  # fmt: skip


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path))
    monkeypatch.delenv("STRIPEWISE_SITE_MODELS", raising=False)
    save_model(MODEL, tmp_path)
    return model_id(MODEL)


def run(*words):
    return CliRunner().invoke(main, ["knowledge", "model", *words])


def test_a_list_and_one_of_it(model):
    assert f"{model}  edison" in run("list").output
    shown = run("show", model[:4]).output
    assert "2.26  f/c" in shown
    assert "336 runs, 10 h in all; vpic" in shown
    assert "stripe count c" in shown
    assert "1 to 96" in shown
    assert json.loads(run("list", "--json").output)[0]["rho"] == 0.95


def test_a_picture_and_the_scores(model, tmp_path):
    found = run("validate", model, "--picture", str(tmp_path / "p.svg"))
    assert "10 %  0.95             100 %" in found.output
    assert "vpic, 512 ranks" in (tmp_path / "p.svg").read_text()


def test_what_is_exported_can_be_read(model, tmp_path, monkeypatch):
    text = run("export", model).output
    other = tmp_path / "other"
    other.mkdir()
    (other / "copy.json").write_text(text)
    monkeypatch.setenv("STRIPEWISE_MODELS", str(other))
    assert model in run("list").output


def test_a_model_that_is_not_there(model):
    found = run("show", "zz")
    assert found.exit_code == 2
    assert "no model is called 'zz'" in str(found.output) + str(found.stderr)


def test_no_models(tmp_path, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "none"))
    assert "stripewise knowledge train" in run("list").output
