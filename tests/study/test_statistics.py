# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from math import exp, isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.study.plan import speedup_of
from stripewise.study.plan._statistics import (
    LOOK_ALPHA,
    LOOKS,
    NO_NOISE,
    Noise,
    clearly_worse,
    excludes_one,
    is_futile,
    pairs_needed,
    ratio_noise,
    resolution_text,
    resolvable,
    t_quantile,
)


def pairs(ratios):
    return [(ratio, 1.0) for ratio in ratios]


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        (3, 5.47179),
        (4, 4.36660),
        (7, 3.36512),
        (11, 3.00371),
        (12, 2.95643),
        (17, 2.81194),
        (30, 2.67441),
        (100, 2.55886),
    ],
)
def test_quantiles_of_the_textbook(degrees, expected):
    """Of Student's t at 1 - 0.012 / 2."""
    assert LOOK_ALPHA == 0.012
    assert t_quantile(degrees) == pytest.approx(expected, rel=1e-5)


def test_too_few_pairs_give_no_interval():
    speedup = speedup_of(pairs([2.0] * 3))
    assert speedup.median == pytest.approx(2.0)
    assert isnan(speedup.low)
    assert not excludes_one(speedup)
    assert not clearly_worse(speedup)


def test_four_pairs_of_a_quiet_machine_show_a_large_gain():
    speedup = speedup_of(pairs([1.9, 2.0, 2.1, 2.0]), Noise(0.05, 8))
    assert excludes_one(speedup)
    assert speedup.low < 1.9
    assert speedup.high > 2.1
    assert speedup.n_pairs == 4


def test_pairs_that_happen_to_agree_prove_nothing_on_a_noisy_machine():
    ratios = [1.30, 1.31, 1.29, 1.30]
    assert excludes_one(speedup_of(pairs(ratios), Noise(0.02, 8)))
    assert not excludes_one(speedup_of(pairs(ratios), Noise(0.3, 8)))


def test_pairs_that_vary_more_than_the_baseline_are_not_called_precise():
    ratios = [1.1, 2.5, 1.2, 3.0]
    assert not excludes_one(speedup_of(pairs(ratios), Noise(0.02, 30)))


def test_one_outlier_does_not_move_the_median():
    assert speedup_of(pairs([2, 2, 2, 2, 2, 1000])).median == pytest.approx(2)


@given(st.lists(st.floats(0.01, 100), min_size=4, max_size=15))
def test_inverse_ratio_gives_the_inverse_interval(ratios):
    one = speedup_of(pairs(ratios))
    two = speedup_of(pairs([1 / ratio for ratio in ratios]))
    assert one.median == pytest.approx(1 / two.median)
    assert one.low == pytest.approx(1 / two.high)


def test_one_stalled_run_does_not_pass_for_noise():
    quiet = [1.0, 1.05, 0.95, 1.02, 0.98, 1.01, 0.99, 1.03]
    assert Noise.of([*quiet, 30.0]).spread < 0.7
    assert Noise.of(quiet).spread == pytest.approx(0.03, abs=0.01)
    assert Noise.of([1.0]) == NO_NOISE


def test_futility():
    assert not is_futile([0.5], Noise(0.1, 8))
    assert is_futile([-0.2, -0.1], Noise(0.1, 8))
    assert is_futile([0.0, 0.05, -0.05, 0.0], Noise(0.1, 8))
    assert not is_futile([0.2, 0.3], Noise(0.1, 8))


def test_resolution_agrees_with_simulation():
    random, cv, hits, n = Random(1), 0.25, 0, LOOKS[-1]
    cut = resolvable(cv)
    assert cut == pytest.approx(0.24, abs=0.02)
    for _ in range(2000):
        drawn = [
            (random.lognormvariate(0, cv), (1 - cut) * random.lognormvariate(0, cv))
            for _ in range(n)
        ]
        hits += excludes_one(speedup_of(drawn))
    assert hits / 2000 == pytest.approx(2 / 3, abs=0.05)


def test_more_noise_takes_more_pairs():
    assert pairs_needed(0.25, 0.1) > 50
    assert pairs_needed(0.02, 0.1) == LOOKS[0]
    assert "runs" in resolution_text(0.3)
    assert "runs" not in resolution_text(0.02)


def test_noise_has_a_floor_and_a_ceiling():
    assert 0.02 < ratio_noise([1.0]) < 0.04
    assert ratio_noise([1.0, 1000.0, 1e-3]) == 0.5
    assert ratio_noise([1.0, exp(0.1)]) == pytest.approx(3.14 * 0.1, rel=0.03)


def test_few_runs_do_not_pass_for_quiet():
    """The estimate from three runs is below the truth in one study of four at most."""
    random = Random(2)
    below = sum(
        ratio_noise([random.lognormvariate(0, 0.1) for _ in range(3)]) < 0.1 * 2**0.5
        for _ in range(2000)
    )
    assert below / 2000 == pytest.approx(0.25, abs=0.03)
