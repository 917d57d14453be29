# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that were proved or measured elsewhere, against those that a model promises."""

from __future__ import annotations

from math import log2

import pytest

from learning.adoption.questions import facts_of
from stripewise.learning.adoption import adoptable_space
from stripewise.learning.adoption._promises import Measured, carried_over
from stripewise.learning.performance import Prediction
from stripewise.settings import Policy

COUNT, DISABLED = "mpiio.striping_factor", {"mpiio.romio_cb_write": "disable"}


def seconds(settings):
    if DISABLED.items() <= settings.items():
        return None  # beyond what it was trained with
    return {None: 40.0, 4: 20.0}.get(settings.get(COUNT), 10.0)


def moved_from(settings, ratios, model=seconds, noise=0.05, others=(), may_be_set=bool):
    facts = facts_of()
    space = adoptable_space(facts, Policy())
    prediction = Prediction("model", frozenset({COUNT, *DISABLED}), model)
    measured = [Measured(dict(one), ratio, noise, 0.1) for one, ratio in ratios]
    measured += [Measured(dict(one), ratio, noise, 0.1, 1) for one, ratio in others]
    return carried_over(settings, space, facts, prediction, measured, may_be_set)


@pytest.mark.parametrize(("proved", "changed"), [(2.0, True), (3.9, False), (20.0, False)])
def test_what_a_model_cannot_tell_counts_as_it_was_proved_elsewhere(proved, changed):
    moved = moved_from(DISABLED, [(DISABLED, 1 / proved)])
    if changed:
        assert DISABLED.keys().isdisjoint(moved.settings)
        assert moved.expected_ratio == pytest.approx(4, rel=0.3)
    else:
        assert moved.settings == DISABLED
        assert moved.expected_ratio == pytest.approx(proved, rel=0.1)


def test_what_was_measured_with_a_program_like_it_corrects_the_model():
    """The model holds more than 4 stripes for twice as fast; they were measured to be slower."""
    ratios = [({COUNT: 4}, 0.5), *(({COUNT: n}, 0.8) for n in (8, 16, 32, 64))]
    moved = moved_from({COUNT: 4}, ratios)
    assert moved.settings == {COUNT: 4}
    assert moved.expected_ratio == pytest.approx(2, rel=0.1)


def test_what_was_measured_far_away_corrects_it_less():
    ratios = [({COUNT: 4}, 0.5), *(({COUNT: n}, 0.8) for n in (8, 16, 32, 64))]
    moved = moved_from({COUNT: 4}, ratios, noise=5.0)
    assert moved.settings[COUNT] > 4


def test_a_model_without_a_time_of_the_program_carries_nothing_over():
    assert moved_from({COUNT: 4}, [({COUNT: 4}, 0.5)], model=lambda settings: None) is None


ENABLED = {"mpiio.romio_cb_write": "enable"}
POINTS = [{COUNT: n, **more} for n in (4, 16, 64) for more in ({}, ENABLED)]


def along(settings):
    """A model: the more stripes, the faster."""
    count = settings.get(COUNT, 1)
    return 40.0 / (1 + log2(count)) if count > 0 else None


def test_a_source_that_varies_as_no_program_like_it_would_is_believed_less():
    """One program agrees with the model; of another one the same settings vary wildly."""
    agrees = [(point, along(point) / 40) for point in POINTS]
    wild = [(point, ratio) for point, ratio in zip(POINTS, (9, 0.01) * 3, strict=True)]
    for ratios, source in ((agrees, []), (agrees, wild)):
        moved = moved_from({COUNT: 4}, ratios, along, others=source)
        assert moved.settings == {COUNT: 64}
        assert moved.expected_ratio == pytest.approx(7, rel=0.2)


def test_a_model_that_no_source_agrees_with_is_believed_less():
    ratios = [(point, 0.25 * 1.25**place) for place, point in enumerate(POINTS)]
    moved = moved_from({COUNT: 4}, ratios, along)
    assert moved.settings == {COUNT: 4}
    assert moved.expected_ratio == pytest.approx(4, rel=0.2)


def test_what_the_model_knows_to_do_nothing_is_not_set():
    ratios = [({COUNT: 64, **ENABLED}, 0.14)]
    assert moved_from({COUNT: 64, **ENABLED}, ratios, along).settings == {COUNT: 64}


def test_what_was_measured_is_set_as_it_was_where_the_model_errs():
    """The model holds these settings for those of the default, and they were faster."""
    inert = {**ENABLED, COUNT: 4}
    found = moved_from(inert, [(inert, 0.5)], lambda settings: 40.0)
    assert found.settings == inert


def test_what_failed_is_not_chosen():
    ratios = [(point, along(point) / 40) for point in POINTS]
    moved = moved_from({COUNT: 4}, ratios, along, may_be_set=lambda one: one.get(COUNT) != 64)
    assert moved.settings == {COUNT: 16}
