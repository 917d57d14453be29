# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models as files: what is damaged or hostile is passed over and said."""

from __future__ import annotations

import json

import pytest

from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance import (
    Ground,
    Model,
    Range,
    Term,
    Tree,
    load_models,
    model_from_json,
    model_to_json,
    save_model,
)

MODEL = Model(
    Ground("lustre", "0123456789abcdef", "romio-lustre"),
    PatternClass("write", "collective", "interleaved"),
    "regression",
    terms=(Term({"c": -1}, 2.5),),
    ranges={"c": Range(1.0, 64.0)},
)
LOOP = Tree((0, -1), (1.0, 0.0), (0, 0), (1, 0), (0.0, 1.0))
BAD = {
    "features that are none": {"features": ["c", "of_tomorrow"]},
    "no range, so nothing is beyond it": {"ranges": {}},
    "a range of another feature": {"ranges": {"s": {"low": 1, "high": 2}}},
    "an endless tree": {"kind": "boosted", "terms": [], "features": ["c"], "trees": [LOOP]},
    "a class that is none": {"pattern_class": {"direction": "up", "way": "", "shape": ""}},
    "the year 10^30": {"trained_unix_seconds": 1e30},
    "a huge coefficient": {"terms": [{"powers": {"c": -1}, "coefficient": 1e300}]},
    "a power of 1000": {"terms": [{"powers": {"c": 1000}, "coefficient": 1.0}]},
    "text for numbers": {"runs": "many"},
}


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD.keys())
def test_what_cannot_be_a_model_is_none(changes):
    text = json.dumps(model_to_json(MODEL) | changes, default=vars)
    with pytest.raises(ValueError, match=r"(impossible|expected|must|number|no |not )"):
        model_from_json(json.loads(text))
    assert model_from_json(json.loads(json.dumps(model_to_json(MODEL)))) == MODEL


def test_the_users_own_model_counts_before_the_sites(tmp_path):
    own, site = tmp_path / "own", tmp_path / "site"
    save_model(MODEL, own)
    newer = {**model_to_json(MODEL), "trained_unix_seconds": 2e9, "runs": 7}
    save_model(model_from_json(newer), site)
    (site / "broken.json").write_text("{")
    loaded = load_models([own, site, tmp_path / "none"])
    assert [one.runs for one in loaded.models] == [0]
    assert [path.parent for path in loaded.paths] == [own]
    (warning,) = loaded.warnings
    assert "broken.json cannot be used" in warning
