# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A loss ends settings at once, a gain that does not come after two runs; noise ends nothing."""

from __future__ import annotations

import pytest

from stripewise.learning.adoption._known import AppliedOutcome, Timed, judge, noise


def runs(*seconds: float, amount: int = 1 << 30) -> list[Timed]:
    return [Timed(1.0 + n, each, amount) for n, each in enumerate(seconds)]


@pytest.mark.parametrize(
    ("plain", "under", "outcome", "final"),
    [
        ([4.0], [2.0], AppliedOutcome.GAIN, False),
        ([4.0], [3.8], AppliedOutcome.NOTHING, False),
        ([4.0], [3.8, 3.9], AppliedOutcome.NOTHING, True),
        ([4.0], [4.5], AppliedOutcome.NOTHING, False),
        ([4.0], [4.7], AppliedOutcome.LOSS, True),
        ([4.0, 4.0, 4.1], [4.4], AppliedOutcome.LOSS, True),
        ([3.0, 4.0, 5.0], [4.7], AppliedOutcome.NOTHING, False),
        ([4.0, 4.0, 4.0], [3.7], AppliedOutcome.GAIN, False),
        ([4.0], [2.0, 2.1, 9.0], AppliedOutcome.GAIN, False),
    ],
)
def test_runs_are_judged_by_what_equal_runs_differ_by(plain, under, outcome, final):
    verdict = judge(runs(*plain), runs(*under))
    assert (verdict.outcome, verdict.is_final) == (outcome, final)
    assert verdict.ratio is not None


def test_words_say_what_came_of_them():
    assert judge(runs(4.0), runs(2.0)).words == "made its I/O 2.0x as fast"
    assert judge(runs(2.0), runs(4.0)).words == "made its I/O 2.0x slower"
    assert judge(runs(2.0), runs(2.0, 2.0)).words == "brought no gain in 2 runs"


def test_without_a_measure_nothing_is_judged():
    found = judge([], runs(2.0))
    assert (found.outcome, found.is_final) == (AppliedOutcome.UNKNOWN, False)
    assert "no run without settings that moved as much data is known" in found.words
    other = runs(2.0, amount=1 << 31)
    assert judge(other, runs(2.0)).outcome is AppliedOutcome.UNKNOWN, (
        "twice the data is another run"
    )


def test_a_program_that_hardly_does_io_is_not_judged():
    assert judge(runs(0.001), runs(0.01)).outcome is AppliedOutcome.UNKNOWN


def test_settings_that_could_not_act_are_forgotten_at_once():
    found = judge(runs(4.0), runs(2.0), idle=True)
    assert (found.outcome, found.is_final) == (AppliedOutcome.NOTHING, True)


def test_noise_is_what_runs_differ_by():
    assert noise([4.0]) == 0.15
    assert noise([4.0, 4.0]) == 0.05
    assert noise([3.0, 4.0, 5.0]) == pytest.approx(0.5)
