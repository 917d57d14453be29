# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All values, pruned by a model; the best few are run; the model is corrected by them."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import pytest

from stripewise.core.errors import UsageError
from stripewise.learning.performance import Prediction
from stripewise.settings.tunables import find_space, key_of
from stripewise.study.strategies import PrunedStrategy, create
from support.strategy_suite import StrategySuite, play, romio_facts

FACTS = replace(romio_facts(), collective_bytes=1 << 26, independent_bytes=0)
SPACE = find_space(FACTS)
KNOWN = frozenset({"mpiio.cb_nodes", "mpiio.cb_buffer_size"})


def truth(settings):
    """More aggregators are better up to 4, larger buffers a little worse."""
    nodes = settings.get("mpiio.cb_nodes", 1)
    buffer = settings.get("mpiio.cb_buffer_size", 16 << 20)
    return (1 + abs(log2(nodes / 4))) / 3 * (1 + 0.05 * abs(log2(buffer / (16 << 20))))


def ratio(settings):
    return truth(settings) / truth({})


def pruned(seconds=truth, error=0.1, seed=1, **options):
    inner = create("model", SPACE, FACTS, seed, options)
    return PrunedStrategy(inner, Prediction("a storage", KNOWN, seconds, error))


class TestModelWithoutOne(StrategySuite):
    strategy_name = "model"


class TestPruned(StrategySuite):
    strategy_name = "model"

    def facts(self):
        return FACTS

    def make(self, seed=1):
        return pruned(seed=seed, top="3")


def test_without_a_model_it_does_what_auto_does():
    asked = [p.settings for p in play(create("model", SPACE, FACTS, 1), ratio)]
    assert asked == [p.settings for p in play(create("auto", SPACE, FACTS, 1), ratio)]


def test_the_points_of_least_predicted_time_are_asked_first():
    strategy = pruned(top="4")
    asked = strategy.ask(10)
    assert len(asked) == 4  # no more before these are known: the model is corrected with them
    times = [truth(p.settings) for p in asked]
    assert times == sorted(times)
    assert times[0] == pytest.approx(min(map(truth, (SPACE.point(n) for n in range(SPACE.size)))))


def test_the_runs_correct_the_model():
    def wrong(settings):  # the more aggregators the better
        return 10 / settings.get("mpiio.cb_nodes", 1)

    asked = play(pruned(wrong, error=0.5, top="2"), ratio, most=8)
    assert [p.settings["mpiio.cb_nodes"] for p in asked[:2]] == [8, 4]
    kept = play(pruned(wrong, error=0.5, top="2", refit="no"), ratio, most=8)
    assert [p.settings for p in kept[:2]] == [p.settings for p in asked[:2]]
    assert "the model" not in kept[2].reason


def test_a_model_of_small_error_is_believed_sooner():
    def choices(error):
        asked = play(pruned(error=error, top="20"), ratio)
        return sum("the model" in p.reason for p in asked)

    assert choices(0.02) < choices(0.5)


def test_a_choice_that_gains_nothing_ends_its_part():
    def flat(settings):
        return 1.0 if settings else 2.0

    strategy = pruned(lambda settings: 10 * truth(settings), error=0.5, top="3")
    asked = play(strategy, flat_ratio := lambda settings: flat(settings) / flat({}))
    assert flat_ratio({"a": 1}) == 0.5
    by_model = [p for p in asked if "the model" in p.reason]
    assert len(by_model) <= 6
    assert len({key_of(p.settings) for p in asked}) == len(asked)


def test_patience_is_that_of_two_choices():
    assert pruned(top="5").least_patience == 10
    assert pruned(top="5", refit="no").least_patience == 5
    assert pruned(lambda settings: None, top="5").least_patience == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [({"top": "0"}, "top='0'"), ({"refit": "maybe"}, "refit='maybe'"), ({"k": "5"}, "'k'")],
)
def test_options_that_make_no_sense_are_refused(options, said):
    with pytest.raises(UsageError, match=said):
        create("model", SPACE, FACTS, 1, options)
