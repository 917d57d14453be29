# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of models: written, read, and refused where something is wrong."""

import json
from dataclasses import replace

import pytest

from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance import (
    Ground,
    Model,
    Range,
    Score,
    Term,
    Tree,
    load_models,
    model_from_json,
    model_id,
    model_to_json,
    own_models,
    save_model,
)

MODEL = Model(
    Ground("edison", "0" * 16, "cray"), PatternClass(), "regression",
    terms=(Term({}, 2.0), Term({"f": 1, "c": -1}, 2.26)), features=("c", "s", "a", "f"),
    ranges={name: Range(1.0, 64.0) for name in ("c", "s", "a", "f", "ranks")},
    scores=(Score("pattern", "vpic", 20, 0.1, 0.95, 1.0),), trained_unix_seconds=1.0,
)  # fmt: skip
TREE = Tree((0, -1, -1), (2.0, 0.0, 0.0), (1, 0, 0), (2, 0, 0), (0.0, 0.1, -0.1))
BOOSTED = replace(MODEL, kind="boosted", features=("c", "a/c"), terms=(), trees=(TREE,))
RANGES = model_to_json(MODEL)["ranges"]


@pytest.mark.parametrize("model", [MODEL, BOOSTED])
def test_a_model_is_read_as_it_was_written(model, tmp_path):
    path = save_model(model, tmp_path)
    assert load_models([tmp_path]).models == (model,)
    assert path.name == f"{model_id(model)}.json"


def test_a_newer_model_takes_the_place_of_an_older_one(tmp_path):
    save_model(MODEL, tmp_path)
    save_model(replace(MODEL, runs=7), tmp_path)
    assert [one.runs for one in load_models([tmp_path]).models] == [7]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"version": 99}, "version 99"),
        ({"format": "else"}, "not a model"),
        ({"kind": "oracle"}, "kind"),
        ({"terms": [{"powers": {"c": 7}, "coefficient": 1.0}]}, "powers"),
        ({"terms": [{"powers": {"c": 1}, "coefficient": 1e300}]}, "coefficient"),
        ({"ranges": {**RANGES, "c": {"low": 5.0, "high": 1.0, "reach": 1.0}}}, "ranges.c"),
        ({"ranges": {}}, "ranges without"),
        ({"initial": 1e300}, "initial"),
        ({"runs": -5}, "runs"),
        ({"features": ["moon"]}, "features"),
        ({"scores": [{**json.loads(json.dumps(model_to_json(MODEL)))["scores"][0], "rho": 7}]},
         "scores"),
    ],
)  # fmt: skip
def test_an_impossible_value_is_refused(change, word):
    with pytest.raises(ValueError, match=word):
        model_from_json({**model_to_json(MODEL), **change})


@pytest.mark.parametrize(
    "tree",
    [
        {"left": [0, 0, 0]},
        {"right": [9, 0, 0]},
        {"feature": [99, -1, -1]},
        {"value": [0.0, 0.1]},
    ],
)
def test_a_tree_that_would_not_end_is_refused(tree):
    data = json.loads(json.dumps(model_to_json(BOOSTED)))
    data["trees"][0] |= tree
    with pytest.raises(ValueError, match=r"trees\[0\]"):
        model_from_json(data)


def test_damaged_files_are_passed_over_and_said(tmp_path):
    save_model(MODEL, tmp_path)
    (tmp_path / "torn.json").write_text('{"format": "stripewise-model", "ver')
    (tmp_path / "a.json").write_text("[" * 100_000)
    (tmp_path / "pipe.json").symlink_to("/dev/zero")
    loaded = load_models([tmp_path, tmp_path / "nowhere"])
    assert loaded.models == (MODEL,)
    assert len(loaded.warnings) == 3
    assert all("cannot be used" in one and "\n" not in one for one in loaded.warnings)


def test_the_variable_names_the_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path))
    assert own_models() == tmp_path
