# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ExPBB's procedure on made-up programs of the shape that its slides show; one test a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import pytest

from stripewise.core import Configuration, Trial, TrialState
from stripewise.settings.tunables import find_space
from stripewise.study.strategies import create
from support.burst_buffer import (
    AGGREGATORS,
    BUFFER,
    FILES,
    MIB,
    NODES,
    UNIT,
    BtIo,
    best,
    facts_of,
    nodes_of,
    search,
)
from support.strategy_suite import StrategySuite, romio_facts

RUNGS = (1, 2, 4, 8, 16, 32, 64)


class TestExpbb(StrategySuite):
    strategy_name = "expbb"

    def facts(self):
        return facts_of(64, 1 << 34)

    def space(self):
        return find_space(self.facts(), ladders={NODES: (1, 2, 4), FILES: ()})


class TestExpbbWithoutBurstBuffer(StrategySuite):
    strategy_name = "expbb"

    def facts(self):
        return replace(romio_facts(), independent_bytes=0, collective_bytes=1 << 26)


class TestExpbbWithResources(TestExpbb):
    def space(self):
        given = {NODES: (1, 2), "job.ranks": (16, 32), "job.threads": (2, 4)}
        return find_space(self.facts(), ladders=given)


class TestAutoOnBurstBuffer(TestExpbb):
    strategy_name = "auto"


class TestTpeOnBurstBuffer(TestExpbb):
    strategy_name = "tpe"


def test_the_ladder_ends_where_more_nodes_bring_nothing():
    strategy, proposals, trials = search("expbb", BtIo(), RUNGS)
    assert list(dict.fromkeys(map(nodes_of, proposals))) == [1, 2, 4, 8, 16]  # 32, 64: not tried
    assert best(trials).settings == {NODES: 8, AGGREGATORS: 128, UNIT: 2 * MIB, BUFFER: 32 * MIB}
    assert strategy.finished_because.startswith("rule 6: rung 5 of 7 (16 burst-buffer nodes)")
    assert "cb_nodes=128" in strategy.finished_because


def test_few_tuned_nodes_are_better_than_many_by_default():
    program = BtIo()
    on_8 = [t for t in search("expbb", program, RUNGS)[2] if t.settings[NODES] == 8]
    by_default = {nodes: program.trial(0, {NODES: nodes}) for nodes in (1, 64)}
    assert best(on_8).io_ratio < by_default[64].io_ratio * 0.6
    assert by_default[1].io_ratio / by_default[64].io_ratio < 8


def test_the_first_trial_is_the_least_nodes_by_default():
    first, second, *_ = search("expbb", BtIo(), (4, 8))[1]
    assert first.settings == {NODES: 4}
    assert "least nodes and defaults" in first.reason
    assert second.settings == {NODES: 4, AGGREGATORS: 8}  # the default is one a node


def test_without_observed_files_it_goes_by_ratios():
    @dataclass
    class Unseen(BtIo):
        def files(self, settings):
            del settings
            return ()

    seen, unseen = search("expbb", BtIo(calls_grow=False), RUNGS), search("expbb", Unseen(), RUNGS)
    assert [p.settings for p in seen[1]] == [p.settings for p in unseen[1]]
    assert "of the baseline's" in unseen[1][2].reason


def test_rules_1_and_2_keep_what_is_faster_and_say_so():
    proposals = search("expbb", BtIo(), RUNGS)[1]
    assert [p.settings.get(AGGREGATORS) for p in proposals[:8]] == [None, 2, 4, 8, 16, 32, 64, 128]
    said = proposals[2].reason
    assert "rung 1 of 7 (1 burst-buffer node): aggregators 2 -> 4" in said
    assert (
        "; the run before: I/O of btio.nc 63.8 -> 56.6 s, whole run 93.8 -> 86.6 s: both faster"
        in said
    )
    assert "(rules 1 and 2)" in said
    assert proposals[8].settings == {NODES: 1, AGGREGATORS: 64, UNIT: 4 * MIB}  # not 128


def test_a_difference_within_the_tolerance_gets_one_more_value():
    units = [p.settings.get(UNIT) for p in search("expbb", BtIo(), (1,))[1] if UNIT in p.settings]
    assert units[:2] == [4 * MIB, 2 * MIB]  # 4 MiB: 4.5 % faster
    wide = [p.settings for p in search("expbb", BtIo(), (1,), tolerance="0.5")[1]]
    assert max(point.get(AGGREGATORS, 0) for point in wide) == 4


def test_rule_3_without_a_small_file_ends_the_ladder():
    strategy, proposals, _ = search("expbb", BtIo(cost_of_nodes=20), RUNGS)
    assert max(map(nodes_of, proposals)) == 2
    assert "I/O faster, whole run slower; no small file" in strategy.finished_because
    assert not any(FILES in p.settings for p in proposals)


def test_rule_4_leaves_the_rung_where_smaller_units_mean_more_calls():
    proposals = search("expbb", BtIo(), RUNGS)[1]
    last = max(n for n, p in enumerate(proposals) if p.settings == {
        NODES: 1, AGGREGATORS: 64, UNIT: MIB})  # fmt: skip
    following = proposals[last + 1]
    assert following.settings == {NODES: 2, AGGREGATORS: 64, UNIT: 2 * MIB}
    assert "25600 system calls became 51200: smaller units end, next rung (rule 4)" in (
        following.reason
    )
    assert any(BUFFER in p.settings for p in proposals[last:])  # left out, not forgotten


def test_rule_4_needs_the_system_calls():
    proposals = search("expbb", BtIo(calls_grow=False), RUNGS)[1]
    last = next(n for n, p in enumerate(proposals) if p.settings.get(UNIT) == MIB)
    assert BUFFER in proposals[last + 1].settings
    assert nodes_of(proposals[last + 1]) == 1


def test_defaults_are_taken_from_what_the_mpi_reports():
    reported = {"striping_unit": str(4 * MIB), "cb_buffer_size": str(32 * MIB)}
    proposals = search("expbb", BtIo(reported=reported, unit_best=MIB // 2), (1,))[1]
    first = next(p for p in proposals if UNIT in p.settings)
    assert first.settings[UNIT] == 2 * MIB
    assert "striping unit 4 MiB (reported for btio.nc) -> 2 MiB" in first.reason
    buffers = [p for p in proposals if BUFFER in p.settings]
    assert buffers[0].settings[BUFFER] == 4 * MIB  # an eighth
    assert "cb_buffer_size, 32 MiB (reported for btio.nc)" in buffers[0].reason
    assumed = next(p for p in search("expbb", BtIo(), (1,))[1] if UNIT in p.settings)
    assert "8 MiB (not reported: DataWarp's default)" in assumed.reason


@pytest.mark.parametrize(("reported", "is_tried"), [("2", True), ("8", False), ("", False)])
def test_aggregators_begin_above_what_the_mpi_reports(reported, is_tried):
    """ROMIO has one for each compute node, however many burst-buffer nodes there are."""
    proposals = search("expbb", BtIo(reported={"cb_nodes": reported}), (8,))[1]
    assert any(p.settings.get(AGGREGATORS) == 4 for p in proposals) is is_tried


def test_the_users_values_are_the_only_ones():
    program = BtIo()
    given = {NODES: (1, 2), UNIT: (2 * MIB,), AGGREGATORS: (16, 32)}
    strategy = create("expbb", find_space(program.facts, ladders=given), program.facts, 1)
    tried = []
    while asked := strategy.ask(1):
        tried.append(asked[0].settings)
        strategy.tell(program.trial(len(tried), asked[0].settings))
    assert {point[UNIT] for point in tried if UNIT in point} == {2 * MIB}
    assert {point[AGGREGATORS] for point in tried if AGGREGATORS in point} == {16, 32}


def test_a_script_with_a_burst_buffer_has_its_rung_and_the_other_baseline():
    program = BtIo()
    facts = replace(program.facts, burst_buffer_nodes=2)
    strategy = create("expbb", find_space(facts, ladders={NODES: (0, 2, 4)}), facts, 1)
    points = []
    while asked := strategy.ask(1):
        points.append(asked[0].settings)
        strategy.tell(program.trial(len(points), points[-1], {NODES: 2}))
    assert all(point.get(NODES) != 2 for point in points)
    assert points[0] == {NODES: 0}
    assert points[1] == {AGGREGATORS: 4}
    assert any(point.get(NODES) == 4 for point in points)


def test_ranks_and_threads_come_last_and_need_a_shorter_run():
    @dataclass
    class Hybrid(BtIo):
        def seconds(self, settings):
            io, run = super().seconds(settings)
            return io, run * (0.7 if settings.get("job.ranks") == 128 else 1.0)

    program = Hybrid(calls_grow=False)
    given = {NODES: (1,), "job.ranks": (64, 128, 256), "job.threads": (2, 4)}
    space = find_space(program.facts, only=(AGGREGATORS,), ladders=given)
    strategy, tried = create("expbb", space, program.facts, 1), []
    while asked := strategy.ask(1):
        tried.append(asked[0].settings)
        strategy.tell(program.trial(len(tried), asked[0].settings))
    assert tried[-2:] == [
        {NODES: 1, AGGREGATORS: 64, "job.ranks": 128, "job.threads": 2},
        {NODES: 1, AGGREGATORS: 64, "job.ranks": 64, "job.threads": 4},
    ]
    assert "ranks=128" in strategy.finished_because


def test_it_ends_where_nothing_runs_on_the_burst_buffer():
    program = BtIo()
    strategy = create("expbb", program.space((1, 2)), program.facts, 1)
    number = 0
    while asked := strategy.ask(1):
        number += 1
        state = TrialState.FAILED
        strategy.tell(Trial(number, asked[0].settings, Configuration(), state, io_ratio=inf))
    assert number == 2
    assert strategy.finished_because.endswith("nothing was kept: the program failed")


@pytest.mark.parametrize(
    ("rungs", "said"),
    [
        ((1,), "1 burst-buffer node: the only rung was tried; kept: "),
        ((2, 4), "all 2 rungs of burst-buffer nodes were tried; kept: "),
    ],
)
def test_how_many_rungs_were_tried_is_said(rungs, said):
    assert search("expbb", BtIo(), rungs)[0].finished_because.startswith(said)
