# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rates that are periodic, bursty, steady or random, and how often chance is called a period."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from stripewise.centre.database.queries import Tempo, TemporalPattern
from stripewise.centre.database.queries._storage_tempo import SIGNIFICANCE, temporal_pattern

WIDTH = 60.0
DAY = 1440
Values = NDArray[np.floating[Any]]


def chance() -> np.random.Generator:
    return np.random.default_rng(7)


def pattern(values: Any) -> TemporalPattern:
    return temporal_pattern([None if np.isnan(one) else float(one) for one in values], WIDTH)


def checkpoints(every: int, *, number: int = DAY, height: float = 100.0) -> Values:
    """Return writes of two minutes every so many minutes."""
    at = np.arange(number)
    return np.where(at % every < 2, height, 1.0)


def daily(number: int) -> Values:
    """Return a load by hour that is high by day."""
    return 5.0 + 3.0 * np.sin(2 * np.pi * np.arange(number) / 24)


PERIODIC: dict[str, tuple[Callable[[], Values], float]] = {
    "checkpoints": (lambda: checkpoints(30), 30),
    "checkpoints of any time": (lambda: checkpoints(37), 37),
    "in noise": (lambda: checkpoints(30) + chance().exponential(40.0, DAY), 30),
    "with drift": (lambda: checkpoints(30) + np.linspace(0, 300, DAY), 30),
    "day and night": (lambda: daily(672) * np.exp(chance().normal(0, 0.3, 672)), 24),
    "a square": (lambda: np.where(np.arange(DAY) % 60 < 30, 9.0, 1.0), 60),
}


@pytest.mark.parametrize("name", PERIODIC)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_a_period_is_found_with_its_length(name: str, gaps: float) -> None:
    make, period = PERIODIC[name]
    values = make()
    values[np.random.default_rng(3).random(len(values)) < gaps] = np.nan
    found = pattern(values)
    assert found.tempo is Tempo.PERIODIC
    assert found.period_seconds == pytest.approx(period * WIDTH, rel=0.03)
    assert found.strength is not None
    assert found.known_share == pytest.approx(1 - gaps, abs=0.03)


def test_the_strength_tells_noise_from_clockwork() -> None:
    clean, noisy = (pattern(checkpoints(30) + chance().exponential(noise + 1e-9, DAY)).strength
                    for noise in (0.0, 40.0))  # fmt: skip
    assert clean is not None
    assert noisy is not None
    assert clean > 0.95 > noisy > 0.2


def test_a_long_gap_hides_no_period() -> None:
    values = checkpoints(30)
    values[300:500] = np.nan
    assert pattern(values).period_seconds == pytest.approx(30 * WIDTH, rel=0.03)


def remembering(random: np.random.Generator, number: int, memory: float) -> Values:
    """Return noise of which each value is near the one before."""
    noise, found = random.normal(size=number), np.zeros(number)
    for place in range(1, number):
        found[place] = memory * found[place - 1] + noise[place]
    return np.asarray(np.exp(found / max(found.std(), 1e-9)))


NOISE: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "normal": lambda random, n: np.abs(random.normal(10.0, 3.0, n)),
    "exponential": lambda random, n: random.exponential(1.0, n),
    "heavy tails": lambda random, n: random.pareto(1.5, n),
    "rare bursts": lambda random, n: 1.0 * (random.random(n) < 0.05),
    "some memory": lambda random, n: remembering(random, n, 0.6),
    "much memory": lambda random, n: remembering(random, n, 0.95),
    "a walk": lambda random, n: np.abs(np.cumsum(random.normal(size=n))),
}


@pytest.mark.extended(keep=4)
@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_chance_is_rarely_called_a_period(name: str, gaps: float) -> None:
    """In 300 series, at most what the stated significance gives with three deviations."""
    random = np.random.default_rng(11)
    number, wrong = 300, 0
    for _ in range(number):
        values = NOISE[name](random, 288)
        values[random.random(len(values)) < gaps] = np.nan
        wrong += pattern(values).tempo is Tempo.PERIODIC
    assert wrong <= number * SIGNIFICANCE + 3 * (number * SIGNIFICANCE) ** 0.5


def test_constant_rates_are_steady_and_none_is_idle() -> None:
    assert pattern(np.full(DAY, 5e9)).tempo is Tempo.STEADY
    assert pattern(chance().normal(1e9, 5e7, DAY)).tempo is Tempo.STEADY
    assert pattern(np.zeros(DAY)).tempo is Tempo.IDLE
    assert pattern(np.linspace(1e9, 1.2e9, DAY)).tempo is Tempo.STEADY  # it drifts


def test_much_in_few_moments_is_bursty_and_the_rest_is_random() -> None:
    random = np.random.default_rng(5)
    bursts = pattern(100.0 * (random.random(DAY) < 0.03) + 0.1)
    assert bursts.tempo is Tempo.BURSTY
    assert bursts.peak_share is not None
    assert bursts.peak_share > 0.9
    plain = pattern(random.exponential(1.0, DAY))
    assert (plain.tempo, plain.period_seconds) == (Tempo.RANDOM, None)
    assert plain.burstiness == pytest.approx(0.0, abs=0.15)


def test_bursts_that_come_in_clusters_are_irregular() -> None:
    random = np.random.default_rng(5)
    times = np.cumsum(np.ceil(random.pareto(0.9, 200) + 2)).astype(int)
    values = np.ones(4 * DAY)
    values[times[times < len(values)]] = 30.0
    found = pattern(values)
    assert found.burstiness is not None
    assert found.burstiness > 0.3
    assert found.tempo is Tempo.BURSTY


@pytest.mark.parametrize(
    ("values", "reason"),
    [([], "too short"), ([1.0] * 47, "too short"), ([1.0, None] * 200, "too many gaps"),
     ([None] * 100, "too many gaps")],
)  # fmt: skip
def test_too_little_is_unknown(values: list[float | None], reason: str) -> None:
    found = temporal_pattern(values, WIDTH)
    assert (found.tempo, found.reason) == (Tempo.UNKNOWN, reason)
    assert found.period_seconds is None


def test_a_gap_is_no_zero() -> None:
    values: list[float | None] = [5.0] * 300
    for place in range(0, 300, 10):
        values[place] = None
    assert temporal_pattern(values, WIDTH).tempo is Tempo.STEADY


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.floats(0, 1e18), st.sampled_from([0.0, 1e-300, 1e300])),
        max_size=120,
    )
)
def test_any_rates_have_a_pattern(values: list[float | None]) -> None:
    found = temporal_pattern(values, WIDTH)
    assert (found.period_seconds is not None) == (found.tempo is Tempo.PERIODIC)
    assert (found.reason != "") == (found.tempo is Tempo.UNKNOWN)
    assert found.strength is None or 0 < found.strength <= 1.0001


@pytest.mark.parametrize(("every", "length"), [(60, 5), (30, 3), (30, 1)])
@pytest.mark.parametrize("bursts", [11, 11.5, 12.4])
def test_short_bursts_at_even_intervals_are_periodic(
    every: int, length: int, bursts: float
) -> None:
    """Their power lies in many harmonics, and between two frequencies if the last is cut short."""
    values = [
        500.0 if at % every < length else 1.0 for at in range(round(every * bursts) + length)
    ]
    found = temporal_pattern(values, 120)
    assert found.tempo is Tempo.PERIODIC
    assert found.period_seconds == pytest.approx(every * 120, rel=0.01)
    assert found.strength is not None
    assert found.strength > 0.9


@pytest.mark.parametrize(
    ("number", "every", "length"), [(333, 30, 3), (242, 15, 2), (245, 30, 10)]
)
def test_the_strength_is_one_at_most(number: int, every: int, length: int) -> None:
    values = [500.0 if at % every < length else 1.0 for at in range(number)]
    found = temporal_pattern(values, 120)
    assert found.tempo is Tempo.PERIODIC
    assert found.strength is not None
    assert 0.9 < found.strength <= 1.0
