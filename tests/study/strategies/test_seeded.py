# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from stripewise.core import Configuration, Proposal, Trial
from stripewise.settings.tunables import find_space, key_of
from stripewise.study.strategies import SeededStrategy, create, strategy_names
from support.strategy_suite import StrategySuite, play, romio_facts

FACTS = replace(romio_facts(), uses_hdf5=True, uses_parallel_hdf5=True, collective_bytes=1 << 25)
SPACE = find_space(FACTS)
POINTS = [{d.tunable.name: d.values[0]} for d in SPACE.dimensions if not d.tunable.requires(FACTS)]
FIRST, SECOND = POINTS[0], POINTS[1]


def seeded(name="auto", seeds=(FIRST, SECOND), avoided=(), seed=1):
    inner = create(name, SPACE, FACTS, seed)
    return SeededStrategy(inner, [Proposal(s, "memory") for s in seeds], avoided)


class TestSeededAuto(StrategySuite):
    strategy_name = "auto"

    def facts(self):
        return FACTS

    def make(self, seed=1):
        return seeded("auto", seed=seed)


class TestSeededRandom(StrategySuite):
    strategy_name = "random"

    def facts(self):
        return FACTS

    def make(self, seed=1):
        return seeded("random", avoided=[POINTS[2]], seed=seed)


@pytest.mark.parametrize("name", strategy_names())
def test_seeds_come_first_and_nothing_comes_twice(name):
    proposals = play(seeded(name, seeds=(FIRST, SECOND, FIRST)), lambda _: 0.9, 60)
    assert [p.settings for p in proposals[:2]] == [FIRST, SECOND]
    assert len({key_of(p.settings) for p in proposals}) == len(proposals)
    assert len(proposals) > 2


@pytest.mark.parametrize("name", ["auto", "rules"])
def test_rules_climb_on_from_the_best_seed(name):
    def answer(settings):
        return 0.3 if all(settings.get(n) == v for n, v in SECOND.items()) else 1.0

    proposals = play(seeded(name), answer, 20)
    beyond = [p.settings for p in proposals[2:8]]
    assert sum(SECOND.items() <= point.items() for point in beyond) >= len(beyond) // 2


def test_a_seed_that_is_bad_does_not_mislead():
    def answer(settings):
        return inf if settings in (FIRST, SECOND) else 1.0

    plain = play(create("auto", SPACE, FACTS, 1), answer, 30)
    with_seeds = play(seeded("auto"), answer, 30)
    known = {key_of(FIRST), key_of(SECOND)}
    assert [p.settings for p in with_seeds[2:20]] == [
        p.settings for p in plain if key_of(p.settings) not in known
    ][:18]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["auto", "rules", "random"])
def test_what_is_to_be_avoided_comes_last(name):
    strategy = seeded(name, seeds=(), avoided=[FIRST])
    points = [key_of(p.settings) for p in play(strategy, lambda _: 1.0, 5000)]
    if strategy.finished_because:
        assert points.index(key_of(FIRST)) == len(points) - 1
    else:
        assert key_of(FIRST) not in points


def test_it_is_not_finished_while_seeds_are_left():
    strategy = seeded()
    assert strategy.finished_because == ""
    strategy.ask(1)
    assert strategy.finished_because == ""
    assert strategy.ask(0) == []


def test_noise_reaches_the_strategy():
    strategy = seeded(seeds=())
    (asked,) = strategy.ask(1)
    strategy.noise = 0.4
    strategy.tell(Trial(1, asked.settings, Configuration(), io_ratio=0.9, elapsed_ratio=0.9))
    assert strategy._inner.noise == 0.4
