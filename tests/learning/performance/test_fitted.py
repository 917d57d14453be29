# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one question to models, and what they refuse."""

from dataclasses import replace

import pytest

from stripewise.core import PatternSummary, ProgramFacts
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance import (
    Ground,
    Model,
    Range,
    Score,
    Term,
    Way,
    fit,
    fitted_prediction,
    ground_of,
    load_models,
    save_model,
)
from stripewise.learning.performance._features import program_features
from support.trained import facts_of, trained

SETTINGS = {"mpiio.striping_factor": 64, "mpiio.striping_unit": 4 << 20, "mpiio.cb_nodes": 32}


@pytest.fixture(scope="module")
def models():
    return fit(trained())


@pytest.fixture(scope="module")
def facts():
    return facts_of("vorpal --steps 4 --local 64,128,256", 96)


def test_a_program_of_the_class_is_predicted(models, facts):
    ground = models[0].ground
    found = fitted_prediction(facts, ground, models)
    assert found.prediction is not None
    assert found.prediction.seconds(SETTINGS) < found.prediction.seconds({}) / 2


def test_it_is_said_that_an_error_is_that_of_simulated_runs(models, facts):
    for way, is_said in ((Way.SIMULATED, True), (Way.EMULATED, False)):
        found = fitted_prediction(facts, models[0].ground, (replace(models[0], way=way),))
        assert ("% of simulated runs" in found.why) == is_said


def test_what_is_fitted_can_be_kept_and_read(models, tmp_path):
    save_model(models[0], tmp_path)
    loaded = load_models([tmp_path])
    assert loaded.warnings == ()
    assert loaded.models == (models[0],)


def test_another_stack_storage_or_description_is_refused(models, facts):
    ground = models[0].ground
    for other, word in (
        (replace(ground, stack="ompio"), "not of ompio"),
        (Ground("hopper", "0" * 16, "cray"), "not of hopper"),
        (replace(ground, digest="0" * 16), "has changed"),
    ):
        found = fitted_prediction(facts, other, models)
        assert found.prediction is None
        assert word in found.why


def test_no_prediction_far_beyond_what_was_trained(models):
    facts = facts_of("vorpal --steps 4", 24 * 400)
    found = fitted_prediction(facts, replace(ground_of(facts), storage="edison"), models)
    assert found.prediction is None
    found = fitted_prediction(facts, models[0].ground, models)
    assert found.prediction is None
    assert "the model covers" in found.why


def test_settings_that_were_never_tried_have_no_prediction(models, facts):
    found = fitted_prediction(facts, models[0].ground, models)
    assert found.prediction is not None
    assert found.prediction.seconds({**SETTINGS, "mpiio.romio_ds_write": "disable"}) is None


def test_a_class_without_a_model_says_so(models, facts):
    patterns = tuple(replace(one, writing=False) for one in facts.patterns)
    found = fitted_prediction(replace(facts, patterns=patterns), models[0].ground, models)
    assert found.prediction is None
    assert 'there is no model of the class "read collective interleaved"' in found.why


def test_a_sum_of_terms_below_zero_is_still_an_order(facts):
    wide = {name: Range(1e-9, 1e12) for name in ("c", "s", "a", "f")}
    terms = (Term({}, 1.0), Term({"c": 1}, -0.1))
    model = Model(
        Ground("lustre", "", "cray"), PatternClass(shape="interleaved"), "regression",
        terms=terms, features=("c",), tunables=("mpiio.striping_factor",), ranges=wide,
    )  # fmt: skip
    prediction = fitted_prediction(facts, model.ground, (model,)).prediction
    times = [prediction.seconds({"mpiio.striping_factor": count}) for count in (2, 16, 64, 96)]
    assert times == sorted(times, reverse=True)
    assert times[-1] > 0


def test_default_settings_beyond_the_range_leave_no_model(models, facts):
    narrow = replace(models[0], ranges={**models[0].ranges, "c": Range(8.0, 96.0)})
    found = fitted_prediction(facts, narrow.ground, (narrow,))
    assert found.prediction is None
    assert "default settings: c is 2; the model covers 8 to 96" in found.why


def test_more_ranks_than_in_training_may_have_as_many_more_aggregators(models, facts):
    model = replace(models[0], ranges={**models[0].ranges, "a": Range(1.0, 64.0)})
    ranks = int(2 * model.ranges["ranks"].high)
    more = facts_of("vorpal --steps 4 --local 64,128,256", ranks)
    for program, aggregators, is_known in (
        (facts, 96, False),
        (more, 128, True),
        (more, 256, False),
    ):
        found = fitted_prediction(program, model.ground, (model,))
        seconds = found.prediction.seconds({**SETTINGS, "mpiio.cb_nodes": aggregators})
        assert (seconds is not None) is is_known


def test_datasets_in_a_row_are_no_larger_block():
    named = PatternSummary(True, ("BLOCK",), (8,), (4096,), 4, 1, 1.0, datasets=8)
    in_a_row = PatternSummary(True, ("*", "BLOCK"), (1, 8), (8, 4096), 4, 8, 1.0)
    blocks = [
        program_features(ProgramFacts(n_ranks=8, patterns=(one,)))["block"]
        for one in (named, in_a_row)
    ]
    assert blocks == [4 * 4096, 4 * 4096]


def test_a_model_that_ranks_nothing_is_not_used(models, facts):
    bad = (Score("pattern", "vpic", 20, 0.6, 0.1, 0.0),)
    found = fitted_prediction(facts, models[0].ground, (replace(models[0], scores=bad),))
    assert found.prediction is None
    assert "rank correlation is only 0.10" in found.why
    lucky = (replace(bad[0], top5=1.0),)
    model = replace(models[0], scores=lucky)
    assert fitted_prediction(facts, model.ground, (model,)).prediction is not None
