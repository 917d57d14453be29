# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that were proved or measured elsewhere, against those that a model promises."""

from __future__ import annotations

import pytest

from adoption.questions import facts_of
from stripewise.adoption import adoptable_space
from stripewise.adoption._promises import Measured, carried_over
from stripewise.performance import Prediction
from stripewise.policy import Policy

COUNT, DISABLED = "mpiio.striping_factor", {"mpiio.romio_cb_write": "disable"}


def seconds(settings):
    if DISABLED.items() <= settings.items():
        return None  # beyond what it was trained with
    return {None: 40.0, 4: 20.0}.get(settings.get(COUNT), 10.0)


def moved_from(settings, ratios, model=seconds, doubt=0.05):
    facts = facts_of()
    space = adoptable_space(facts, Policy())
    prediction = Prediction("model", frozenset({COUNT, *DISABLED}), model)
    measured = [Measured(dict(one), ratio, doubt) for one, ratio in ratios]
    return carried_over(settings, space, facts, prediction, measured)


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
    moved = moved_from({COUNT: 4}, ratios, doubt=5.0)
    assert moved.settings[COUNT] > 4


def test_a_model_without_a_time_of_the_program_carries_nothing_over():
    assert moved_from({COUNT: 4}, [({COUNT: 4}, 0.5)], model=lambda settings: None) is None
