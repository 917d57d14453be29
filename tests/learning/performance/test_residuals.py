# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from math import exp, log

import pytest

from stripewise.learning.performance._points import LEAST_NOISE, PRIOR, Corrected, Residuals

LINE = {(n,): 1.0 for n in range(9)}


def test_without_errors_a_model_is_believed_least_far_from_the_default():
    at = Residuals([8]).corrected(LINE, 0.0)
    assert [one.ratio for one in at] == pytest.approx([1.0] * 9)
    spreads = [one.spread for one in at]
    assert spreads == sorted(spreads)
    assert spreads[0] < 2 * LEAST_NOISE
    assert spreads[-1] == pytest.approx(PRIOR, rel=0.05)


def test_an_error_is_corrected_where_it_was_seen_and_nearby():
    errors = Residuals([8])
    errors.add((8,), log(2))
    at = errors.corrected(LINE, 0.0)
    assert at[8].ratio == pytest.approx(2, rel=0.02)
    assert 1.5 < at[6].ratio < 2
    assert at[1].ratio == pytest.approx(1, rel=0.1)


def test_a_model_that_errs_is_believed_less_and_one_that_does_not_more():
    def spread(*errors):
        seen = Residuals([8, 8])
        for number, error in enumerate(errors):
            seen.add((8, 2 * number), error)
        (one,) = seen.corrected({(0, 8): 1.0}, 0.0)
        return one.spread

    assert spread(0.0, 0.0, 0.0) < spread() < spread(1.0, -1.0, 1.0)


def test_expected_gain():
    sure = Corrected((), 0.8, 1e-6)
    assert sure.gain(1.0) == pytest.approx(log(1 / 0.8))
    assert sure.gain(0.7) == pytest.approx(0, abs=1e-9)
    unsure = Corrected((), 1.0, 0.3)
    assert unsure.gain(1.0) == pytest.approx(0.3 * 0.3989, rel=1e-3)
    assert unsure.chance_below(1.0) == pytest.approx(0.5)
    assert unsure.chance_below(exp(-0.3)) == pytest.approx(0.1587, abs=1e-3)


def test_no_points():
    assert Residuals([1]).corrected({}, 0.05) == []
