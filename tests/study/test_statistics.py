# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from math import exp, isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.study import speedup_of
from stripewise.study._statistics import (
    LOOK_RANKS,
    LOOKS,
    clearly_worse,
    excludes_one,
    interval_rank,
    pairs_needed,
    ratio_noise,
    resolution_text,
    resolvable,
)


def pairs(ratios):
    return [(ratio, 1.0) for ratio in ratios]


@pytest.mark.parametrize(
    ("n", "rank"), [(1, None), (5, None), (6, 0), (8, 0), (9, 1), (10, 1), (12, 2), (20, 5)]
)
def test_ranks_of_the_textbook(n, rank):
    assert interval_rank(n) == rank


def test_too_few_pairs_give_no_interval():
    speedup = speedup_of(pairs([2.0] * 5))
    assert speedup.median == pytest.approx(2.0)
    assert isnan(speedup.low)
    assert not excludes_one(speedup)
    assert not clearly_worse(speedup)


def test_six_pairs_span_their_extremes():
    speedup = speedup_of(pairs([1.1, 1.2, 1.3, 1.4, 1.5, 1.6]))
    assert (speedup.low, speedup.high) == pytest.approx((1.1, 1.6))
    assert excludes_one(speedup)
    assert speedup.n_pairs == 6


def test_one_outlier_does_not_move_the_median():
    assert speedup_of(pairs([2, 2, 2, 2, 2, 1000])).median == pytest.approx(2)


@given(st.lists(st.floats(0.01, 100), min_size=6, max_size=15))
def test_inverse_ratio_gives_the_inverse_interval(ratios):
    one = speedup_of(pairs(ratios))
    two = speedup_of(pairs([1 / ratio for ratio in ratios]))
    assert one.median == pytest.approx(1 / two.median)
    assert one.low == pytest.approx(1 / two.high)


def test_three_looks_keep_the_promise():
    """Exactly, over all signs of 18 ratios: missing at one of the looks has less than 5 %."""
    going_on, done, missed = {0: 1}, 0, 0.0
    for look, rank in LOOK_RANKS.items():
        for _ in range(look - done):
            downs = {n + 1: count for n, count in going_on.items()}
            going_on = {n: going_on.get(n, 0) + downs.get(n, 0) for n in going_on.keys() | downs}
        done = look
        outside = [n for n in going_on if n <= rank or n >= look - rank]
        missed += sum(going_on.pop(n) for n in outside) / 2**look
    assert LOOKS == (6, 10, 18)
    assert missed == pytest.approx(2 * (1 / 64 + 6 / 1024 + 467 / 262144), abs=1e-5)
    assert missed < 0.05


def test_the_last_look_takes_its_own_rank():
    logs = [1.0 + i / 100 for i in range(15)]
    assert excludes_one(speedup_of(pairs([0.9] * 3 + logs[1:] + [2.0])))
    assert not excludes_one(speedup_of(pairs([0.9] * 4 + logs[1:])))


def test_resolution_agrees_with_simulation():
    random, cv, hits = Random(1), 0.25, 0
    cut = resolvable(cv)
    assert cut == pytest.approx(0.41, abs=0.02)
    for _ in range(2000):
        drawn = [
            (random.lognormvariate(0, cv), (1 - cut) * random.lognormvariate(0, cv))
            for _ in range(6)
        ]
        hits += excludes_one(speedup_of(drawn))
    assert hits / 2000 == pytest.approx(2 / 3, abs=0.04)


def test_more_noise_takes_more_pairs():
    assert pairs_needed(0.25, 0.1) > 50
    assert pairs_needed(0.02, 0.1) == 6
    assert "runs" in resolution_text(0.3)
    assert "runs" not in resolution_text(0.02)


def test_noise_has_a_floor_and_a_ceiling():
    assert 0.02 < ratio_noise([1.0]) < 0.04
    assert ratio_noise([1.0, 1000.0, 1e-3]) == 0.5
    assert ratio_noise([1.0, exp(0.1)]) == pytest.approx(3.14 * 0.1, rel=0.01)


def test_few_runs_do_not_pass_for_quiet():
    """The estimate from three runs is below the truth in one study of four at most."""
    random = Random(2)
    below = sum(
        ratio_noise([random.lognormvariate(0, 0.1) for _ in range(3)]) < 0.1 * 2**0.5
        for _ in range(2000)
    )
    assert below / 2000 == pytest.approx(0.25, abs=0.03)
