# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core import Configuration, Trial, TrialState
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import find_space, is_valid
from stripewise.study.strategies import check_strategy_options, create, find_strategy
from stripewise.study.strategies._genetic import CROSSOVERS, SCALINGS, SELECTORS
from support.strategy_suite import play, romio_facts

FACTS = replace(
    romio_facts(), uses_hdf5=True, uses_parallel_hdf5=True, collective_bytes=1 << 25, n_ranks=64
)
SPACE = find_space(FACTS)
GOOD = {"mpiio.cb_nodes": 8, "hdf5.coll_metadata_write": True, "mpiio.romio_ds_write": "disable"}


def make(seed=1, **options):
    return create("genetic", SPACE, FACTS, seed, {n: str(v) for n, v in options.items()})


def answer(settings):
    """Each good setting helps; all others cost a little."""
    ratio = 1.0
    for name, value in settings.items():
        ratio *= 0.6 if GOOD.get(name) == value else 1.05
    return ratio


def test_defaults_are_h5evolves():
    values = {option.name: option.default for option in find_strategy("genetic").declared}
    assert values["population"] == 15
    assert values["generations"] == 40
    assert values["mutation_rate"] == 0.15
    assert values["elites"] == 3
    assert values["selector"] == "roulette"


def test_breeding_beats_chance():
    """Over several seeds, with as many runs."""
    better = 0
    for seed in range(10):
        bred = min(answer(p.settings) for p in play(make(seed), answer, 120))
        drawn = min(
            answer(p.settings) for p in play(create("random", SPACE, FACTS, seed), answer, 120)
        )
        better += bred < drawn
    assert better >= 8


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_every_operator_works(selector, crossover):
    for scaling in SCALINGS:
        strategy = make(selector=selector, crossover=crossover, scaling=scaling)
        proposals = play(strategy, answer, 60)
        assert len(proposals) > 30
        assert all(is_valid(p.settings, FACTS) for p in proposals)


def test_a_population_is_a_generation():
    proposals = play(make(population=6, generations=2), answer, 100)
    assert [p.reason for p in proposals[:6]] == ["generation 1: drawn at random"] * 6
    assert {p.reason for p in proposals[6:]} == {"generation 2"}
    assert len(proposals) <= 12


def test_it_ends_after_its_generations():
    strategy = make(population=4, generations=3)
    play(strategy, answer, 100)
    assert "3 generations are done; best: " in strategy.finished_because


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=20), st.integers(0, 99))
def test_scalings_and_selectors_bear_any_fitness(fitness, seed):
    for scale in SCALINGS.values():
        weights = scale(fitness)
        assert len(weights) == len(fitness)
        assert all(weight >= 0 for weight in weights)
        for select in SELECTORS.values():
            assert 0 <= select(weights, Random(seed)) < len(fitness)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.integers(0, 99))
def test_crossover_loses_no_gene(pairs, seed):
    first, second = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    for cross in CROSSOVERS.values():
        left, right = cross(first, second, Random(seed))
        for a, b, pair in zip(left, right, pairs, strict=True):
            assert sorted((a, b)) == sorted(pair)


def test_selection_prefers_the_better():
    random = Random(1)
    for name in ("roulette", "tournament", "rank"):
        drawn = [SELECTORS[name]([1.0, 2.0, 4.0], random) for _ in range(600)]
        assert drawn.count(2) > drawn.count(0), name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"populaton": "5"}, "did you mean population"),
        ({"population": "one"}, "give an integer from 2"),
        ({"population": "1"}, "give an integer from 2"),
        ({"mutation_rate": "nan"}, "give a number from 0 to 1"),
        ({"selector": "luck"}, "one of roulette, tournament"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        check_strategy_options("genetic", options)


def test_a_strategy_without_options_says_so():
    with pytest.raises(UsageError, match="random has no option 'x'; it has none"):
        check_strategy_options("random", {"x": "1"})


@pytest.mark.parametrize("ratio", [0.0, inf])
def test_a_known_trial_without_a_ratio_has_no_fitness(ratio):
    strategy = make(population=4)
    known = Trial(1, GOOD, Configuration(), TrialState.COMPLETE, io_ratio=ratio)
    strategy.prime([known])
    assert play(strategy, answer, 8)
