# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The interval of a speed-up holds at every look, over kinds of noise, and with few pairs.

A study misses if at any of the looks the interval does not contain the true ratio.  Its promise
is 5 %; the bounds below add what chance gives to so many simulated studies (3 deviations).
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from stripewise.study.plan import speedup_of
from stripewise.study.plan._statistics import LOOKS, Noise

N_STUDIES = 1500
TOLERANCE = 3 * sqrt(0.05 * 0.95 / N_STUDIES)


def normal(rng, cv, shape):
    return rng.normal(0, cv, shape)


def heavy(rng, cv, shape):
    stalls = np.where(rng.random(shape) < 0.1, rng.exponential(1 / 1.2, shape), 0)
    return rng.normal(0, cv, shape) + stalls


def two_humps(rng, cv, shape):
    return rng.normal(0, cv, shape) + np.where(rng.random(shape) < 0.5, 0, 10 * cv)


def drift(rng, cv, shape):
    return rng.normal(0, cv, shape) + np.linspace(0, 1, shape[-1])


def missed(draw, cv, candidate=1.0, gain=1.3, seed=1):
    """Return the share of the studies in which some look misses, and that of false gains."""
    rng = np.random.default_rng(seed)
    known = np.exp(draw(rng, cv, (N_STUDIES, 8)))
    each = draw(rng, cv, (N_STUDIES, 2 * LOOKS[-1]))
    ratios = np.exp(each[:, ::2] - candidate * each[:, 1::2] + log(gain))
    misses = false = 0
    for runs, row in zip(known, ratios, strict=True):
        noise = Noise.of(list(runs))
        looks = [speedup_of([(ratio, 1.0) for ratio in row[:n]], noise) for n in LOOKS]
        misses += any(not s.low <= gain <= s.high for s in looks)
        false += any(s.low > gain for s in looks)
    return misses / N_STUDIES, false / N_STUDIES


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("cv", [0.03, 0.15, 0.5])
@pytest.mark.parametrize("draw", [normal, heavy, drift])
def test_all_looks_together_keep_the_promise(draw, cv):
    misses, _ = missed(draw, cv)
    assert misses <= 0.05 + TOLERANCE


def test_runs_of_two_kinds():
    """Half of the runs are slow: the ratios have no value in the middle, and still it holds."""
    misses, _ = missed(two_humps, 0.1)
    assert misses <= 0.05 + TOLERANCE


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("draw", [normal, heavy])
def test_a_candidate_that_varies_twice_as_much(draw):
    misses, _ = missed(draw, 0.15, candidate=2.0, gain=1.0)
    assert misses <= 0.06 + TOLERANCE


def test_a_false_gain_is_rare():
    """Where nothing is gained, one try is called a gain in about 1 % of the studies."""
    _, false = missed(normal, 0.15, gain=1.0)
    assert false <= 0.02 + TOLERANCE / 2
