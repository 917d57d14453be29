# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that a model cannot tell the effect of, against those that it promises."""

from __future__ import annotations

import pytest

from adoption.questions import facts_of
from stripewise.adoption import adoptable_space
from stripewise.adoption._promises import carried_over
from stripewise.performance import Prediction
from stripewise.policy import Policy

COUNT, DISABLED = "mpiio.striping_factor", {"mpiio.romio_cb_write": "disable"}


def seconds(settings):
    if DISABLED.items() <= settings.items():
        return None  # beyond what it was trained with
    return {None: 40.0, 4: 20.0}.get(settings.get(COUNT), 10.0)


@pytest.mark.parametrize(("proved", "changed"), [(2.0, True), (3.9, False), (20.0, False)])
def test_what_a_model_cannot_tell_counts_as_it_was_proved_elsewhere(proved, changed):
    facts = facts_of()
    space = adoptable_space(facts, Policy())
    model = Prediction("model", frozenset({COUNT, *DISABLED}), seconds)
    moved = carried_over(DISABLED, space, facts, model, proved)
    assert (moved is not None) is changed
    if moved is not None:
        assert DISABLED.keys().isdisjoint(moved.settings)
        assert moved.expected_ratio == pytest.approx(4)
