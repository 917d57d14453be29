# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which trial comes to the fresh pairs."""

from __future__ import annotations

from stripewise.core import Configuration, Trial
from stripewise.study.procedure._result import SearchResult


def trial(number, io_ratio, **settings):
    return Trial(number, settings, Configuration(), io_ratio=io_ratio)


def numbers(trials, noise):
    return [found.number for found in SearchResult(list(trials)).finalists(noise)]


def test_a_setting_that_shows_nothing_is_left_out():
    trials = [trial(1, 0.146, io="romio"), trial(2, 0.143, io="romio", buffer=4)]
    assert numbers(trials, 0.05) == [1, 2]


def test_a_setting_that_shows_something_stays():
    trials = [trial(1, 0.20, io="romio"), trial(2, 0.10, io="romio", buffer=4)]
    assert numbers(trials, 0.05) == [2, 1]
    assert numbers(trials, 0.50) == [2, 1]


def test_other_settings_are_not_simpler_ones():
    trials = [trial(1, 0.146, nodes=2), trial(2, 0.143, io="romio", buffer=4)]
    assert numbers(trials, 0.5) == [2, 1]


def test_nothing_faster_nothing_to_prove():
    assert numbers([trial(1, 1.2, nodes=2)], 0.5) == []


def test_what_is_as_fast_as_the_best_is_told_in_order():
    trials = [trial(1, 0.22, a=1), trial(2, 0.21, b=1), trial(3, 0.30, c=1), trial(4, 1.2, d=1)]
    assert SearchResult(trials).as_fast(0.05) == [2, 1]
    assert SearchResult(trials).as_fast(0.01) == [2]
    assert SearchResult([]).as_fast(0.5) == []
