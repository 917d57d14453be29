# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""When a climb over burst-buffer nodes comes to the next rung, against climbs that were made."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from stripewise.core import Measurement, RungAhead, Trial
from stripewise.study.job_scripts import reach_text, rungs_ahead
from stripewise.study.strategies import Strategy, create
from support.burst_buffer import NODES, BtIo, Wrf, search

RUNGS = (1, 2, 4, 8, 16, 32, 64)
PROGRAMS = pytest.mark.parametrize(
    ("program", "rungs"),
    [
        (BtIo(), RUNGS),
        (BtIo(calls_grow=False), RUNGS),
        (Wrf(), (2, 4, 8, 16, 32)),
        (Wrf(), (40, 80)),
    ],
)
CLIMBERS = pytest.mark.parametrize("name", ["expbb", "auto"])


def ahead(
    name: str,
    program: BtIo,
    rungs: tuple[int, ...],
    tried: list[Trial],
    baseline: Measurement | None = None,
) -> tuple[RungAhead, ...]:
    def make() -> Strategy:
        made = create(name, program.space(rungs), program.facts, 1, {})
        made.baseline = baseline
        return made

    return rungs_ahead(make, program.facts, [(trial, 0.05) for trial in tried])


def first_trials(trials: list[Trial]) -> dict[int, int]:
    found: dict[int, int] = {}
    for trial in trials:
        found.setdefault(int(str(trial.settings.get(NODES, 0))), trial.number)
    return found


@pytest.mark.extended(keep=5)
@CLIMBERS
@PROGRAMS
@pytest.mark.parametrize("known", [False, True], ids=["", "baseline"])
def test_a_climb_comes_to_each_rung_when_it_was_said_to(name, program, rungs, known) -> None:
    baseline = program.trial(0, {}).measurements[0] if known else None
    trials = search(name, program, rungs, baseline=baseline)[2]
    made = first_trials(trials)
    for done in range(len(trials)):
        for rung in ahead(name, program, rungs, trials[:done], baseline):
            assert rung.nodes not in first_trials(trials[:done])
            if rung.nodes in made:
                hybrid = 1  # a run that only a costly small file brings
                left = made[rung.nodes] - done
                assert rung.fewest_trials <= left <= rung.most_trials + hybrid, (done, rung)


@CLIMBERS
@PROGRAMS
def test_an_ended_climb_has_no_rung_left(name, program, rungs) -> None:
    assert ahead(name, program, rungs, search(name, program, rungs)[2]) == ()


def test_the_first_rung_takes_expbb_most_trials() -> None:
    rungs = ahead("expbb", BtIo(), (1, 2, 4, 8), [])
    assert rungs[:2] == (RungAhead(1, 1, 1), RungAhead(2, 4, 23))
    assert [rung.nodes for rung in rungs] == [1, 2, 4, 8]


def test_strategies_that_do_not_climb_say_nothing() -> None:
    for name in ("random", "tpe", "genetic", "exhaustive"):
        assert ahead(name, BtIo(), (1, 2), []) == ()
    program = BtIo()
    space = program.space((1,))
    without = replace(space, dimensions=tuple(
        one for one in space.dimensions if one.tunable.name != NODES))  # fmt: skip
    assert rungs_ahead(partial(create, "expbb", without, program.facts, 1), program.facts) == ()


def test_the_rung_of_the_script_is_not_ahead() -> None:
    program = BtIo()
    facts = replace(program.facts, burst_buffer_nodes=2)
    make = partial(create, "expbb", program.space((2, 4)), facts, 1)
    assert [rung.nodes for rung in rungs_ahead(make, facts)] == [4]


@pytest.mark.parametrize(
    ("trials", "says"),
    [
        (1, "1 trial is likely to reach 1 of 3 rungs (1, 2, 4 burst-buffer nodes)"),
        (8, "8 trials are likely to reach 1 to 2 of 3 rungs"),
        (23, "23 trials are likely to reach 2 to 3 of 3 rungs"),
        (24, "24 trials are likely to reach all 3 rungs"),
        (5, "; the last one begins with trial 11 to 24"),
    ],
)
def test_in_words(trials, says) -> None:
    rungs = (RungAhead(1, 1, 1), RungAhead(2, 6, 23), RungAhead(4, 11, 24))
    assert says in reach_text(rungs, trials)
