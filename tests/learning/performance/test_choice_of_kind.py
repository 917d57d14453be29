# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which kind of model is kept, and what it is worth on samples of another day."""

from dataclasses import replace

from stripewise.learning.performance import REGRESSION, Ground, fit, validated
from stripewise.storage.machines import find_storage
from support.trained import trained


def half_as_fast(storage):
    figures = {
        name: replace(one, value=one.value / 2) if name.endswith("target_write") else one
        for name, one in storage.figures.items()
    }
    return replace(storage, figures=figures)


def test_trees_correct_a_description_that_is_wrong():
    training = trained(each=40, truth=half_as_fast(find_storage("edison")))
    (model,) = fit(training)
    assert model.kind == "boosted"
    assert model.error < 0.12
    (plain,) = fit(replace(training, ground=replace(training.ground, digest="")))
    assert plain.kind == REGRESSION
    assert plain.error > model.error


def test_without_a_description_there_is_the_regression():
    training = replace(trained(each=40), ground=Ground("lustre", "", "cray"))
    (model,) = fit(training)
    assert model.kind == REGRESSION
    assert model.rho > 0.9
    assert {score.left_out for score in model.scores} == {"pattern", "scale"}
    found = validated(model, training.samples[:40])
    assert found.refused == ()
    assert found.scores[0].rho > 0.8


def test_too_few_samples_make_no_model():
    assert fit(trained(each=2)) == ()
