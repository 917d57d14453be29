# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of files with opposite needs: what was best for each is put together in few trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf

import pytest

from stripewise.core import Configuration, FileClass, ProgramFacts, Proposal, Trial, TrialState
from stripewise.settings.tunables import Space, find_space, scopes, settings_on
from stripewise.study.strategies import create
from support.strategy_suite import romio_facts

CHECK, PLOT = "chk*.dat", "plt*.dat"
SHARES = {CHECK: 0.5, PLOT: 0.4}
FACTS = replace(
    romio_facts(),
    collective_bytes=1 << 26,
    file_classes=tuple(FileClass(match, io_share=share) for match, share in SHARES.items()),
)
PLAIN = replace(FACTS, file_classes=())
Surface = Mapping[str, Callable[[Mapping[str, object]], float]]


def of_all(facts: ProgramFacts = FACTS) -> Space:
    return find_space(facts)


def play(surface: Surface, facts: ProgramFacts = FACTS, name: str = "auto", most: int = 60):
    """Return the trials in order; each class's time is its own, the rest never changes."""
    strategy = create(name, find_space(facts), facts, 0)
    strategy.noise = 0.03
    trials: list[Trial] = []
    while len(trials) < most and (asked := strategy.ask(1)):
        trials.append(outcome(asked[0], surface, len(trials) + 1))
        strategy.tell(trials[-1])
    return trials, strategy


def outcome(proposal: Proposal, surface: Surface, number: int) -> Trial:
    ratios = {m: surface[m](settings_on(proposal.settings, m)) for m in SHARES}
    whole = 1 - sum(SHARES.values()) + sum(SHARES[m] * ratios[m] for m in SHARES)
    state = TrialState.COMPLETE if whole < inf else TrialState.FAILED
    ratios = ratios if whole < inf else {}
    return Trial(
        number, proposal.settings, Configuration(), state, io_ratio=whole, elapsed_ratio=whole,
        class_ratios=ratios,
    )  # fmt: skip


def sieving(wanted: str):
    """Faster without data sieving where that is wanted, slower otherwise."""

    def ratio(settings: Mapping[str, object]) -> float:
        off = settings.get("mpiio.romio_ds_write") == "disable"
        return (0.2 if off else 1.0) if wanted == "off" else (4.0 if off else 1.0)

    return ratio


def aggregators(best: int):
    """Each step of the ladder away from the best number costs a quarter."""

    def ratio(settings: Mapping[str, object]) -> float:
        ladder = [1, 2, 4, 8]
        away = abs(ladder.index(settings.get("mpiio.cb_nodes", 1)) - ladder.index(best))
        return 0.3 * 1.5**away

    return ratio


def best_of(trials: list[Trial]) -> Trial:
    return min(trials, key=lambda trial: trial.io_ratio)


@pytest.mark.parametrize("name", ["auto", "rules"])
def test_opposite_needs_are_met_with_one_trial_more(name):
    surface = {CHECK: sieving("on"), PLOT: sieving("off")}
    trials, strategy = play(surface, name=name)
    best = best_of(trials)
    assert best.settings == {f"mpiio.romio_ds_write@{PLOT}": "disable"}
    assert best.io_ratio == pytest.approx(0.1 + 0.5 + 0.4 * 0.2)
    without, _ = play(surface, PLAIN, name)
    assert best_of(without).io_ratio >= 1
    assert len(trials) <= len(without) + 1
    assert sum("each class" in strategy_reason for strategy_reason in reasons(surface, name)) == 1
    assert f"for {PLOT}: romio_ds_write=disable" in strategy.finished_because


def reasons(surface: Surface, name: str) -> list[str]:
    strategy = create(name, find_space(FACTS), FACTS, 0)
    strategy.noise = 0.03
    found: list[str] = []
    while len(found) < 60 and (asked := strategy.ask(1)):
        found.append(asked[0].reason)
        strategy.tell(outcome(asked[0], surface, len(found)))
    return found


def test_a_ladder_goes_on_for_the_class_that_it_helps():
    """The whole gets slower on the way to 8 aggregators, but one class wants them."""
    surface = {CHECK: aggregators(1), PLOT: aggregators(8)}
    trials, _ = play(surface)
    best = best_of(trials)
    assert settings_on(best.settings, PLOT)["mpiio.cb_nodes"] == 8
    assert settings_on(best.settings, CHECK).get("mpiio.cb_nodes", 1) == 1


def test_needs_in_different_tunables_come_together():
    surface = {
        CHECK: aggregators(8),
        PLOT: lambda s: sieving("off")(s) * (1 + 0.3 * (s.get("mpiio.cb_nodes", 1) != 1)),
    }
    best = best_of(play(surface)[0])
    assert settings_on(best.settings, CHECK)["mpiio.cb_nodes"] == 8
    assert settings_on(best.settings, PLOT)["mpiio.romio_ds_write"] == "disable"
    assert "mpiio.cb_nodes" not in settings_on(best.settings, PLOT)


def test_equal_needs_get_no_rules_and_the_same_trials_as_ever():
    surface = {CHECK: aggregators(4), PLOT: aggregators(4)}
    with_classes, _ = play(surface)
    without, _ = play(surface, PLAIN)
    assert [t.settings for t in with_classes] == [t.settings for t in without]
    assert not any(scopes(trial.settings) for trial in with_classes)


def test_one_named_class_is_searched_as_ever():
    one = replace(FACTS, file_classes=(FACTS.file_classes[0], FileClass("", io_share=0.4)))
    surface = {CHECK: sieving("on"), PLOT: sieving("off")}
    assert [t.settings for t in play(surface, one)[0]] == [
        t.settings for t in play(surface, PLAIN)[0]
    ]


def test_noise_within_a_class_makes_no_rule():
    surface = {CHECK: lambda s: 1 - 0.04 * bool(s), PLOT: lambda s: 1 + 0.04 * bool(s)}
    assert not any(scopes(trial.settings) for trial in play(surface)[0])


def test_what_acts_on_the_whole_job_is_the_same_for_all_classes():
    facts = replace(
        FACTS,
        mpi_family="openmpi",
        mpi_version="Open MPI v4.1.4",
        mpiio_implementation="ompio",
        mpiio_alternatives=("ompio", "romio321"),
    )

    def needs(io: str):
        return lambda s: 0.5 if s.get("mca.io", "ompio") == io and s.get("mca.io") else 1.0

    def plot(settings: Mapping[str, object]) -> float:
        if settings.get("mca.io") != "romio321":
            return 1.0
        return 0.2 if settings.get("mpiio.romio_ds_write") == "disable" else 0.8

    def check(settings: Mapping[str, object]) -> float:
        if settings.get("mca.io") != "romio321":
            return 1.0
        return 3.0 if settings.get("mpiio.romio_ds_write") == "disable" else 0.6

    best = best_of(play({CHECK: check, PLOT: plot}, facts)[0])
    assert best.settings["mca.io"] == "romio321"
    assert best.settings[f"mpiio.romio_ds_write@{PLOT}"] == "disable"
    assert best.io_ratio == pytest.approx(0.1 + 0.5 * 0.6 + 0.4 * 0.2)
