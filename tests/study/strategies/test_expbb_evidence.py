# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What ExPBB's procedure makes of noise, lost runs, failures and the baseline's own files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from random import Random

import pytest

from stripewise.core import Configuration, Proposal, Trial, TrialState
from stripewise.settings.tunables import find_space, key_of
from stripewise.study.strategies import Strategy, create
from support.burst_buffer import (
    AGGREGATORS,
    BUFFER,
    FILES,
    MIB,
    NODES,
    UNIT,
    BtIo,
    Wrf,
    nodes_of,
    search,
)

RUNGS = (1, 2, 4, 8, 16, 32, 64)


def ended(number: int, settings, state: TrialState) -> Trial:
    return Trial(number, settings, Configuration(), state, io_ratio=inf, elapsed_ratio=inf)


def told(
    strategy: Strategy, outcome: Callable[[int, Proposal], Trial], noise: float = 0.05
) -> list[Proposal]:
    """Ask and tell until the strategy has finished."""
    proposals: list[Proposal] = []
    strategy.noise = noise
    while asked := strategy.ask(1):
        proposals += asked
        strategy.tell(outcome(len(proposals), asked[0]))
    return proposals


def of(program: BtIo, rungs: tuple[int, ...], **more) -> Strategy:
    return create("expbb", program.space(rungs), replace(program.facts, **more), 1)


def test_gains_that_the_noise_hides_one_by_one_are_followed():
    """Each doubling of the aggregators brings 11 to 26 %, and a difference of 20 % is noise."""
    program = BtIo()
    proposals = told(of(program, (1,)), lambda n, p: program.trial(n, p.settings), noise=0.2)
    tried = [p.settings.get(AGGREGATORS) for p in proposals if UNIT not in p.settings]
    assert tried[:7] == [None, 2, 4, 8, 16, 32, 64]


def test_a_rung_that_the_noise_hides_does_not_end_the_ladder():
    program = BtIo()
    strategy = of(program, RUNGS)
    proposals = told(strategy, lambda n, p: program.trial(n, p.settings), noise=0.45)
    assert max(map(nodes_of, proposals)) > 2
    assert any("less than the noise of 45%" in p.reason for p in proposals)


@pytest.mark.parametrize("lost", [{NODES: 1, AGGREGATORS: 4}, {NODES: 1, AGGREGATORS: 32}])
def test_a_lost_run_ends_no_loop(lost):
    program = BtIo()

    def outcome(number, proposal):
        if proposal.settings == lost:
            return ended(number, proposal.settings, TrialState.LOST)
        return program.trial(number, proposal.settings)

    proposals = told(of(program, (1,)), outcome)
    assert any(p.settings == {NODES: 1, AGGREGATORS: 64} for p in proposals)
    after = proposals[[p.settings for p in proposals].index(lost) + 1]
    assert after.reason.endswith("the run before: it says nothing of its settings")
    assert "failed" not in after.reason


def test_a_lost_run_ends_no_ladder():
    program = BtIo()

    def outcome(number, proposal):
        if nodes_of(proposal) == 2:
            return ended(number, proposal.settings, TrialState.LOST)
        return program.trial(number, proposal.settings)

    assert 4 in map(nodes_of, told(of(program, (1, 2, 4)), outcome))


@pytest.mark.parametrize("name", ["expbb", "auto"])
@pytest.mark.parametrize("program", [BtIo(), Wrf(), BtIo(cost_of_nodes=20), BtIo(on_lustre=1.0)])
@pytest.mark.parametrize("rungs", [(1,), (4, 8, 16, 32, 64, 128, 256)])
def test_it_ends_and_repeats_nothing_whatever_the_noise(name, program, rungs):
    for seed in range(8):
        chance = Random(f"{seed}")

        def outcome(number, proposal, chance=chance):
            state = chance.choices([None, TrialState.FAILED, TrialState.LOST], (18, 1, 1))[0]
            if state is not None:
                return ended(number, proposal.settings, state)
            made, noise = program.trial(number, proposal.settings), chance.lognormvariate(0, 0.2)
            return replace(made, io_ratio=made.io_ratio * noise)

        strategy = create(name, program.space(rungs), program.facts, 1)
        tried = [key_of(p.settings) for p in told(strategy, outcome, noise=0.05 + 0.05 * seed)]
        assert len(set(tried)) == len(tried) < 80
        assert strategy.finished_because


@pytest.mark.parametrize("state", [TrialState.LOST, TrialState.FAILED])
def test_auto_goes_on_where_the_least_nodes_give_nothing(state):
    program = BtIo()

    def outcome(number, proposal):
        if nodes_of(proposal) == 1:
            return ended(number, proposal.settings, state)
        return program.trial(number, proposal.settings)

    strategy = create("auto", program.space((1, 2, 4, 8)), program.facts, 1)
    assert max(nodes_of(p) or 0 for p in told(strategy, outcome)) == 8
    assert "burst_buffer_nodes=8" in strategy.finished_because


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (TrialState.FAILED, "the program failed"),
        (TrialState.REJECTED, "the output differs from the baseline's"),
    ],
)
def test_why_a_rung_gave_nothing_is_said(state, said):
    program = BtIo()

    def outcome(number, proposal):
        if nodes_of(proposal) == 1:
            return ended(number, proposal.settings, state)
        return program.trial(number, proposal.settings)

    second = told(of(program, (1, 2)), outcome)[1]
    assert second.reason == (
        "rung 2 of 2 (2 burst-buffer nodes): the burst buffer with defaults; "
        f"the run before: {said}"
    )


def test_the_baselines_own_files_tell_what_it_spent_on_the_studied_one():
    """On the burst buffer the namelist takes most of the I/O time, before it took none of it."""
    program = Wrf()
    strategy = of(program, (40, 80))
    strategy.baseline = program.trial(0, {}).measurements[0]
    hybrid = told(strategy, lambda n, p: program.trial(n, p.settings))[1]
    assert hybrid.settings == {NODES: 40, FILES: "wrfout*,wrfrst*"}
    assert "I/O of wrfout_d*_*-*-*_*_*_* 30 -> " in hybrid.reason


@dataclass
class HalfSmall(BtIo):
    """Half of the I/O time on the burst buffer is that of small files."""

    def small(self, settings):
        return 0.1 if not settings.get(NODES) else 20.0


def test_a_script_on_the_burst_buffer_is_judged_by_its_own_files():
    """Fewer small files' seconds without it must not make its first setting look faster."""
    program = HalfSmall(best_aggregators=2, per_node=0, reported={"cb_buffer_size": "4194304"})
    facts = replace(program.facts, burst_buffer_nodes=2)
    strategy = create("expbb", find_space(facts, ladders={NODES: (0, 2)}), facts, 1)
    strategy.baseline = program.trial(0, {NODES: 2}).measurements[0]
    proposals = told(strategy, lambda n, p: program.trial(n, p.settings, {NODES: 2}))
    aggregators = [p.settings.get(AGGREGATORS) for p in proposals]
    assert aggregators[:3] == [None, 4, None]  # 4 are slower than the default, one a node
    first = next(p for p in proposals if BUFFER in p.settings)
    assert "cb_buffer_size, 4 MiB (reported for btio.nc)" in first.reason


@pytest.mark.parametrize(
    ("writers", "least", "said"),
    [(8, 16, "8 (observed)"), (256, 2, "by default, one a burst-buffer node,")],
)
def test_aggregators_begin_above_the_ranks_that_wrote(writers, least, said):
    """ROMIO in Open MPI reports no hint that was not set; where all ranks wrote, none did."""

    @dataclass
    class OpenMpi(BtIo):
        def files(self, settings):
            return tuple(replace(f, writers=writers) for f in super().files(settings))

    first = next(p for p in search("expbb", OpenMpi(), (1,))[1] if AGGREGATORS in p.settings)
    assert first.settings[AGGREGATORS] == least
    assert f"aggregators {said} -> {least}" in first.reason


def test_units_of_a_script_on_the_burst_buffer_begin_with_its_own():
    program = BtIo(reported={"striping_unit": str(4 * MIB)})
    facts = replace(program.facts, burst_buffer_nodes=2)
    strategy = create("expbb", find_space(facts, ladders={NODES: (2, 4)}), facts, 1)
    strategy.baseline = program.trial(0, {NODES: 2}).measurements[0]
    proposals = told(strategy, lambda n, p: program.trial(n, p.settings, {NODES: 2}))
    assert next(p.settings[UNIT] for p in proposals if UNIT in p.settings) == 2 * MIB
