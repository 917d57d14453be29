# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ExPBB's procedure on made-up programs of the shape that its slides show; one test a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log2

import pytest

from stripewise.formats import get
from stripewise.machines import find_storage
from stripewise.model import Configuration, FileClass, ObservedFile, Trial, TrialState
from stripewise.simulation import workload_from_notation
from stripewise.strategies import create
from stripewise.study import simulated_workload
from stripewise.testing.strategy_suite import StrategySuite, romio_facts
from stripewise.tunables import build_configuration, find_space, settings_on
from support.burst_buffer import (
    AGGREGATORS,
    BUFFER,
    FILES,
    MIB,
    NODES,
    UNIT,
    BtIo,
    Wrf,
    facts_of,
    search,
)

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


def nodes_of(proposal):
    return proposal.settings.get(NODES)


def best(trials):
    return min(trials, key=lambda trial: trial.io_ratio)


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
    assert "I/O of btio.nc 63.8 -> 56.6 s, whole run 93.8 -> 86.6 s: both faster" in said
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


def test_rule_3_with_a_small_file_tries_a_hybrid_run():
    strategy, proposals, trials = search("expbb", Wrf(), (2, 4, 8, 16, 32))
    hybrid = next(p for p in proposals if FILES in p.settings)
    assert (hybrid.settings[NODES], hybrid.settings[FILES]) == (16, "wrfout*,wrfrst*")
    assert "namelist.input, 22 KiB, shared by 1280 ranks, costs 13.4 of" in hybrid.reason
    assert "(rule 3)" in hybrid.reason
    after = proposals[proposals.index(hybrid) :]
    assert all(p.settings[FILES] == "wrfout*,wrfrst*" for p in after)
    assert best(trials).settings[FILES] == "wrfout*,wrfrst*"
    assert "burst_buffer_files=wrfout*,wrfrst*" in strategy.finished_because


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


def test_rule_5_tries_a_hybrid_run_where_more_nodes_are_slower():
    strategy, proposals, _ = search("expbb", Wrf(saturates=2), (2, 16))
    hybrid = next(p for p in proposals if FILES in p.settings)
    assert (hybrid.settings[NODES], "(rule 5)" in hybrid.reason) == (16, True)
    assert strategy.finished_because.startswith("rule 6")  # as fast as 2 nodes without it


def test_rule_5_on_the_least_nodes_already():
    _, proposals, trials = search("expbb", Wrf(), (40, 80))
    assert proposals[1].settings == {NODES: 40, FILES: "wrfout*,wrfrst*"}
    assert trials[1].io_ratio < trials[0].io_ratio / 2
    assert trials[1].elapsed_ratio == pytest.approx(trials[0].elapsed_ratio / 2, rel=0.05)


def test_rule_7_tries_a_hybrid_run_on_the_rung_that_was_kept():
    """Faster than the parallel file system at once, and than more nodes: no other rule asks."""
    program = replace(Wrf(saturates=2), on_lustre=60.0)
    _, proposals, trials = search("expbb", program, (8, 16))
    (asked,) = [p for p in proposals if "(rule 7)" in p.reason]
    assert (nodes_of(asked), FILES in asked.settings) == (8, True)
    assert (nodes_of(best(trials)), FILES in best(trials).settings) == (8, True)


def test_a_hybrid_run_that_fails_is_given_up():
    program = Wrf()
    strategy = create("expbb", program.space((2, 16)), program.facts, 1)
    number = 0
    asked_hybrid = []
    while asked := strategy.ask(1):
        number += 1
        settings = asked[0].settings
        trial = program.trial(number, settings)
        if FILES in settings:
            asked_hybrid.append(settings)
            trial = Trial(number, settings, Configuration(), TrialState.FAILED)
        strategy.tell(trial)
    assert len(asked_hybrid) == 1
    assert "hybrid: the program failed: not kept" in strategy.finished_because
    assert FILES not in strategy.finished_because


def test_no_hybrid_run_unasked():
    program = Wrf()
    space = find_space(program.facts, only=(AGGREGATORS, UNIT), ladders={NODES: (40, 80)})
    strategy = create("expbb", space, program.facts, 1)
    while asked := strategy.ask(1):
        assert FILES not in asked[0].settings
        strategy.tell(program.trial(1, asked[0].settings))
    assert strategy.finished_because


def test_cheap_small_files_are_left_alone():
    proposals = search("expbb", Wrf(), (2, 4, 8, 16), small_cost="0.5")[1]
    assert not any(FILES in p.settings for p in proposals)
    proposals = search("expbb", Wrf(), (2, 4, 8, 16), small_bytes="4096")[1]
    assert not any(FILES in p.settings for p in proposals)


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
    assert "the program failed on every rung" in strategy.finished_because


INPUT, OUTPUT = "wrfi*", "wrfo*"


@dataclass
class TwoClasses(BtIo):
    """Inputs are read by many aggregators best, outputs, which take longer, written by 8."""

    name: str = "wrfout"
    best_for_output: int = 8

    def of_class(self, match, settings):
        aggregators = settings_on(settings, match).get(AGGREGATORS, settings.get(NODES, 1) or 1)
        wanted, seconds = {OUTPUT: (self.best_for_output, 12), INPUT: (128, 4)}[match]
        away = 1 + abs(log2(wanted / aggregators))
        return seconds * away * (1 if settings.get(NODES) else 2)

    def large(self, settings):
        return self.of_class(OUTPUT, settings)

    def small(self, settings):
        return self.of_class(INPUT, settings)

    def files(self, settings):
        read = ObservedFile("wrfinput", read_bytes=self.written, io_seconds=self.small(settings))
        return (*super().files(settings), read)

    def trial(self, number, settings, baseline=None):
        made = super().trial(number, settings, baseline)
        ratios = {one: self.of_class(one, settings) / self.of_class(one, {}) for one in SHARES}
        return replace(made, class_ratios=ratios)

    @property
    def facts(self):
        classes = tuple(FileClass(match, io_share=share) for match, share in SHARES.items())
        return replace(super().facts, file_classes=classes)


SHARES = {OUTPUT: 0.6, INPUT: 0.4}


def test_each_class_of_files_gets_what_was_best_for_it():
    strategy, proposals, trials = search("expbb", TwoClasses(), (1,))
    last = proposals[-1]
    assert "each class of files as in the trial that was best for it" in last.reason
    assert settings_on(last.settings, OUTPUT)[AGGREGATORS] == 8
    assert settings_on(last.settings, INPUT)[AGGREGATORS] == 16
    assert best(trials) is trials[-1]
    assert strategy.finished_because.endswith("for wrfo*: cb_nodes=8 for wrfi*: cb_nodes=16")
    hints = get("mpich-hints").write(build_configuration(last.settings, TwoClasses().facts)).text
    assert "'wrfo*:cb_nodes=8:" in hints
    assert ",wrfi*:cb_nodes=16:" in hints


def test_classes_cost_one_trial_and_none_where_their_needs_are_equal():
    facts = replace(TwoClasses().facts, file_classes=())
    plain = search("expbb", TwoClasses(), (1,), facts=facts)[1]
    apart = search("expbb", TwoClasses(), (1,))[1]
    assert [p.settings for p in apart[:-1]] == [p.settings for p in plain]
    alike = search("expbb", TwoClasses(best_for_output=128), (1,))[1]
    assert not any("each class" in proposal.reason for proposal in alike)


@pytest.mark.parametrize(("program", "rungs"), [(BtIo(), RUNGS), (Wrf(), (2, 4, 8, 16, 32))])
def test_auto_gets_as_far_with_fewer_runs(program, rungs):
    by_rules = search("expbb", program, rungs)[2]
    by_itself = search("auto", program, rungs)[2]
    assert len(by_itself) < len(by_rules)
    assert best(by_itself).io_ratio < best(by_rules).io_ratio * 1.05


def test_auto_chooses_a_hybrid_run_where_a_small_file_is_costly():
    proposals, trials = search("auto", Wrf(), (40, 80))[1:]
    assert proposals[1].settings[FILES] == "wrfout*,wrfrst*"
    assert "namelist.input" in proposals[1].reason
    assert best(trials).settings[FILES] == "wrfout*,wrfrst*"


def test_auto_leaves_a_burst_buffer_that_is_slower():
    strategy, proposals, _ = search("auto", BtIo(on_lustre=1.0), (1, 2))
    assert any(NODES in p.settings for p in proposals)
    assert NODES not in proposals[-1].settings
    assert "burst_buffer_nodes" not in strategy.finished_because


def test_globs_match_no_small_file():
    @dataclass
    class Alike(Wrf):
        def files(self, settings):
            small = ObservedFile("wrfout_namelist", read_bytes=100, readers=1, io_seconds=0.1)
            return (*super().files(settings), small)

    hybrid = search("expbb", Alike(), (40, 80))[1][1]
    assert hybrid.settings[FILES] == "wrfout_d*_*-*-*_*_*_*,wrfrst*"


def simulated(nodes, settings, programs={}):  # noqa: B006 - a cache
    """Return the I/O time of BT I/O on Shaheen II's burst buffer with so many nodes."""
    if nodes not in programs:
        storage = find_storage("shaheen2-datawarp")
        work = workload_from_notation("<3D,(BLOCK,BLOCK,BLOCK),(256,256,256)>", 8, 32)
        gib = round(storage.value("layout.granularity"))
        programs[nodes] = simulated_workload(storage, work, capacity_bytes=nodes * gib)
    return programs[nodes].seconds({n: v for n, v in settings.items() if n != NODES})


@pytest.mark.parametrize("name", ["expbb", "auto"])
def test_on_the_description_of_shaheen2(name):
    @dataclass
    class Shaheen(BtIo):
        def large(self, settings):
            nodes = settings.get(NODES)
            seconds = simulated(nodes, settings) if nodes else self.on_lustre
            assert seconds is not None
            return seconds

    program = Shaheen(written=32 << 30, on_lustre=20.0)
    proposals, trials = search(name, program, (1, 2, 4, 8, 16, 32, 64))[1:]
    assert max(map(nodes_of, proposals)) <= 16  # opening by 256 ranks takes longer on more nodes
    tuned = best(trials)
    assert tuned.settings[NODES] == 4
    assert tuned.io_ratio * program.on_lustre < simulated(64, {}) / 3
