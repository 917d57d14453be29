# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.core import Configuration, Trial
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import find_space, is_valid
from stripewise.study.strategies import create, strategy_names
from support.strategy_suite import StrategySuite, play, romio_facts

COLLECTIVE = replace(romio_facts(), independent_bytes=0, collective_bytes=1 << 26)
OMPIO = replace(
    romio_facts(),
    mpi_family="openmpi",
    mpi_version="Open MPI v4.1.4",
    mpiio_implementation="ompio",
    mpiio_alternatives=("ompio", "romio321"),
)


class TestRandom(StrategySuite):
    strategy_name = "random"


class TestRules(StrategySuite):
    strategy_name = "rules"


class TestAuto(StrategySuite):
    strategy_name = "auto"


class TestExhaustive(StrategySuite):
    strategy_name = "exhaustive"


class TestGenetic(StrategySuite):
    strategy_name = "genetic"


class TestTpe(StrategySuite):
    strategy_name = "tpe"


class TestGeneticOnOpenMpi(StrategySuite):
    strategy_name = "genetic"

    def facts(self):
        return OMPIO


class TestExhaustiveOnOpenMpi(StrategySuite):
    strategy_name = "exhaustive"

    def facts(self):
        return OMPIO


class TestRandomOnOpenMpi(StrategySuite):
    strategy_name = "random"

    def facts(self):
        return OMPIO


class TestAutoOnOpenMpi(StrategySuite):
    strategy_name = "auto"

    def facts(self):
        return OMPIO


class TestRulesCollective(StrategySuite):
    strategy_name = "rules"

    def facts(self):
        return COLLECTIVE


def make(name, facts, seed=0):
    return create(name, find_space(facts), facts, seed)


def test_unknown_name_suggests():
    with pytest.raises(UsageError, match="auto"):
        make("aut", COLLECTIVE)


def test_the_default_comes_first():
    assert strategy_names()[0] == "auto"


def test_random_covers_every_valid_point_once():
    facts = romio_facts()
    proposals = play(make("random", facts), lambda _: 1.0)
    assert len(proposals) == find_space(facts).size - 1
    assert all(is_valid(p.settings, facts) for p in proposals)


def test_random_is_uniform_over_first_draws():
    facts = COLLECTIVE
    firsts = [make("random", facts, seed).ask(1)[0].settings for seed in range(400)]
    share = sum("mpiio.romio_ds_write" in settings for settings in firsts) / 400
    assert 0.4 < share < 0.6


def test_rules_climbs_a_ladder_while_it_improves():
    times = {2: 0.8, 4: 0.6, 8: 0.4}
    strategy = make("rules", COLLECTIVE)
    proposals = play(strategy, lambda s: times.get(s.get("mpiio.cb_nodes"), 1.0))
    tried = [p.settings["mpiio.cb_nodes"] for p in proposals if "mpiio.cb_nodes" in p.settings]
    assert tried[:3] == [2, 4, 8]
    assert "cb_nodes=8" in strategy.finished_because


def test_rules_leaves_a_ladder_that_gets_worse():
    proposals = play(make("rules", COLLECTIVE), lambda s: 2.0 if "mpiio.cb_nodes" in s else 1.0)
    tried = [p for p in proposals if "mpiio.cb_nodes" in p.settings]
    assert len(tried) == 1


def test_rules_keeps_what_helped():
    def answer(settings):
        return 0.5 if settings.get("mpiio.romio_ds_write") == "disable" else 1.0

    proposals = play(make("rules", COLLECTIVE), answer)
    later = proposals[proposals.index(next(p for p in proposals if p.settings)) + 1 :]
    assert all(p.settings.get("mpiio.romio_ds_write") == "disable" for p in later)


def test_rules_gives_up_a_knob_that_costs_whole_time():
    strategy = make("rules", romio_facts())
    number = 0
    last = None
    while asked := strategy.ask(1):
        number += 1
        last = asked[0]
        buffered = "mpiio.ind_wr_buffer_size" in last.settings
        io = 0.5 if "mpiio.romio_ds_write" in last.settings else 1.0
        io *= 0.8 if buffered else 1.0
        elapsed = 1.5 if buffered else 0.9
        strategy.tell(
            Trial(number, last.settings, Configuration(), io_ratio=io, elapsed_ratio=elapsed)
        )
    assert "best: romio_ds_write=disable" in strategy.finished_because
    assert "buffer" not in strategy.finished_because


def test_noise_is_no_improvement():
    strategy = make("rules", COLLECTIVE)
    strategy.noise = 0.1
    play(strategy, lambda s: 0.95)
    assert "no setting was kept" in strategy.finished_because


def test_auto_starts_with_what_the_counters_show():
    first = make("auto", romio_facts()).ask(1)[0]
    assert first.settings == {"mpiio.romio_ds_write": "disable"}
    assert "independent, noncontiguous" in first.reason


def test_auto_tries_the_other_implementation_first():
    facts = replace(OMPIO, noncontiguous=False)
    first = make("auto", facts).ask(1)[0]
    assert first.settings == {"mca.io": "romio321"}
    assert "several MPI-IO implementations" in first.reason


def test_auto_brings_what_a_knob_needs():
    proposals = play(make("auto", OMPIO), lambda s: 1.0)
    for proposal in proposals:
        assert is_valid(proposal.settings, OMPIO)
        if "mpiio.romio_ds_write" in proposal.settings:
            assert proposal.settings["mca.io"] == "romio321"
    assert any("mpiio.romio_ds_write" in p.settings for p in proposals)


def test_auto_thinks_of_aggregators_for_collective_access():
    first = make("auto", COLLECTIVE).ask(1)[0]
    assert "collective, interleaved" in first.reason
