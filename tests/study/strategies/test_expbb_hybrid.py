# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ExPBB's hybrid runs on made-up programs that read a small shared file."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from stripewise.core import Configuration, ObservedFile, Trial, TrialState
from stripewise.settings.tunables import find_space
from stripewise.study.strategies import create
from support.burst_buffer import (
    AGGREGATORS,
    FILES,
    NODES,
    UNIT,
    Wrf,
    best,
    nodes_of,
    search,
)


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


def test_globs_match_no_small_file():
    @dataclass
    class Alike(Wrf):
        def files(self, settings):
            small = ObservedFile("wrfout_namelist", read_bytes=100, readers=1, io_seconds=0.1)
            return (*super().files(settings), small)

    hybrid = search("expbb", Alike(), (40, 80))[1][1]
    assert hybrid.settings[FILES] == "wrfout_d*_*-*-*_*_*_*,wrfrst*"
