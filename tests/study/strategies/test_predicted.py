# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from math import inf, log2

import pytest

from stripewise.learning.performance import Prediction
from stripewise.settings.tunables import find_space, key_of
from stripewise.study.strategies import PredictedStrategy, create
from support.strategy_suite import StrategySuite, play, romio_facts

FACTS = replace(romio_facts(), collective_bytes=1 << 26, independent_bytes=0)
SPACE = find_space(FACTS)
KNOWN = frozenset({"mpiio.cb_nodes", "mpiio.cb_buffer_size", "mpiio.romio_cb_write"})


def truth(settings):
    """More aggregators are better up to 4, larger buffers a little worse."""
    nodes = settings.get("mpiio.cb_nodes", 1)
    buffer = settings.get("mpiio.cb_buffer_size", 16 << 20)
    off = 2.0 if settings.get("mpiio.romio_cb_write") == "disable" else 1.0
    return off * (1 + abs(log2(nodes / 4))) / 3 * (1 + 0.05 * abs(log2(buffer / (16 << 20))))


def predicted(seconds, inner="auto", seed=1, known=KNOWN):
    strategy = create(inner, SPACE, FACTS, seed)
    return PredictedStrategy(strategy, Prediction("a storage", known, seconds))


class TestPredictedAuto(StrategySuite):
    strategy_name = "auto"

    def facts(self):
        return FACTS

    def make(self, seed=1):
        return predicted(lambda settings: 10 * truth(settings), seed=seed)


class TestPredictedRandom(StrategySuite):
    strategy_name = "random"

    def facts(self):
        return FACTS

    def make(self, seed=1):
        return predicted(lambda settings: 10 * truth(settings), "random", seed)


def answers(proposals):
    return [truth(proposal.settings) / truth({}) for proposal in proposals]


def test_a_right_model_finds_the_optimum_at_once():
    asked = play(predicted(lambda settings: 10 * truth(settings)), lambda s: truth(s) / truth({}))
    assert asked[0].settings["mpiio.cb_nodes"] == 4
    assert answers(asked)[0] == pytest.approx(min(answers(asked)))
    assert "the model of a storage predicts 3x" in asked[0].reason


def test_the_smaller_of_equal_configurations_is_asked():
    asked = predicted(lambda settings: 10 * truth(settings)).ask(1)
    assert "mpiio.romio_cb_write" not in asked[0].settings


def test_a_model_that_is_wrong_is_corrected_by_the_runs():
    def wrong(settings):  # the more aggregators the better
        return 10 / settings.get("mpiio.cb_nodes", 1)

    asked = play(predicted(wrong), lambda s: truth(s) / truth({}), most=8)
    nodes = [proposal.settings.get("mpiio.cb_nodes") for proposal in asked]
    assert nodes[0] == 8
    assert 4 in nodes[:3]


def test_a_model_that_promises_nothing_leaves_all_to_the_other():
    of_rules = play(create("auto", SPACE, FACTS, 1), lambda s: truth(s) / truth({}))
    of_both = play(predicted(lambda settings: 10.0), lambda s: truth(s) / truth({}))
    assert [p.settings for p in of_both] == [p.settings for p in of_rules]


@pytest.mark.parametrize("nothing", [None, inf, 0.0])
def test_a_model_that_cannot_tell_leaves_all_to_the_other(nothing):
    strategy = predicted(lambda settings: nothing)
    assert strategy.ask(1)[0].settings == create("auto", SPACE, FACTS, 1).ask(1)[0].settings


def test_what_the_model_does_not_know_is_searched_afterwards():
    asked = play(predicted(lambda settings: 10 * truth(settings)), lambda s: truth(s) / truth({}))
    later = {name for proposal in asked for name in proposal.settings}
    assert later - KNOWN - {"mpiio.cb_config_list"}


def test_large_spaces_are_searched_with_the_model():
    everything = frozenset(dimension.tunable.name for dimension in SPACE.dimensions)
    strategy = predicted(lambda settings: 10 * truth(settings), known=everything)
    assert truth(strategy.ask(1)[0].settings) == pytest.approx(truth({"mpiio.cb_nodes": 4}))


def ratios(settings):
    return truth(settings) / truth({})


def test_steps_that_the_model_rules_out_are_not_run():
    def asked(inner, seconds):
        return [p.settings for p in play(predicted(seconds, inner), ratios)]

    told = asked("auto", lambda settings: 10 * truth(settings))
    plain = [p.settings for p in play(create("auto", SPACE, FACTS, 1), ratios)]
    assert len(told) < len(plain)
    assert not any(settings.get("mpiio.romio_cb_write") == "disable" for settings in told)
    everything = {key_of(p.settings) for p in play(create("exhaustive", SPACE, FACTS, 1), ratios)}
    of_all = asked("exhaustive", lambda settings: 10 * truth(settings))
    assert {key_of(settings) for settings in of_all} == everything


def test_what_the_model_takes_for_nearly_as_good_is_tried():
    """The model is 15 % wrong of large buffers, which are best in truth."""

    def seconds(settings):
        return truth(settings) * (0.8 if settings.get("mpiio.cb_buffer_size") == 64 << 20 else 1)

    asked = play(predicted(truth), lambda s: seconds(s) / seconds({}), most=4)
    assert asked[0].settings == {"mpiio.cb_nodes": 4}
    assert any(p.settings.get("mpiio.cb_buffer_size") == 64 << 20 for p in asked)
    assert any("cannot rule out" in p.reason for p in asked)


def test_tunables_that_change_nothing_in_the_model_are_not_tried():
    name = "mpiio.ind_wr_buffer_size"
    known = KNOWN | {name}
    of_all = play(predicted(truth, known=known), ratios)
    assert not any(name in p.settings for p in of_all)
    assert any(name in p.settings for p in play(predicted(truth), ratios))
    of_none = play(predicted(lambda settings: 1.0, known=known), ratios)
    assert any(name in p.settings for p in of_none)
