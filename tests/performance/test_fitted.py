# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one question to models, and what they refuse."""

from dataclasses import replace

import pytest

from stripewise.performance import (
    Ground,
    fit,
    fitted_prediction,
    ground_of,
    load_models,
    save_model,
)
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
    found = fitted_prediction(facts, ground_of(facts, "edison"), models)
    assert found.prediction is None
    found = fitted_prediction(facts, models[0].ground, models)
    assert found.prediction is None
    assert "it knows" in found.why


def test_settings_that_were_never_tried_have_no_prediction(models, facts):
    found = fitted_prediction(facts, models[0].ground, models)
    assert found.prediction is not None
    assert found.prediction.seconds({**SETTINGS, "mpiio.romio_ds_write": "disable"}) is None


def test_a_class_without_a_model_says_so(models, facts):
    patterns = tuple(replace(one, writing=False) for one in facts.patterns)
    found = fitted_prediction(replace(facts, patterns=patterns), models[0].ground, models)
    assert found.prediction is None
    assert 'no model is of the class "read collective interleaved"' in found.why
