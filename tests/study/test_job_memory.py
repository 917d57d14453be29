# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of job scripts are remembered for the place where their winner lay, and for no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from stripewise.core import Configuration, Speedup, StudyResult, Trial, TrialState
from stripewise.core import Reference as Pairs
from stripewise.learning.knowledge import (
    Machine,
    Memory,
    Store,
    StudiedCase,
    compare,
    tier_machine,
)
from stripewise.settings.tunables import find_space
from stripewise.study.job_scripts import JobPlaces
from stripewise.study.plan import JobOptions, StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.strategies import FILES, NODES
from support.study_fakes import KNOB, FakeLauncher, fake_tools, lognormal

MACHINE = Machine("x86_64", "CPU", 8, 1 << 34, "6.1.0", "lustre", "network", "12345678")
PLACES = JobPlaces("datawarp", ("wlm_pool",))
ON_2 = PLACES.machine(MACHINE, 2)
OFF = {KNOB: "disable"}


def fast(settings) -> float:
    """More nodes are faster, and the knob helps everywhere."""
    knob = 0.5 if settings.get(KNOB) == "disable" else 1.0
    return 4.0 * knob / (1 + int(settings.get(NODES, 0)))


def slow(settings) -> float:
    """The burst buffer is of no use, and the knob harms there."""
    if settings.get(NODES):
        return 9.0 if settings.get(KNOB) == "disable" else 6.0
    return 2.0 if settings.get(KNOB) == "disable" else 4.0


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "knowledge.sqlite")


@pytest.fixture
def study(tmp_path, store, no_fsync, monkeypatch) -> Callable[..., StudyResult]:
    """Run a study of a job script whose jobs are made up, one after another."""
    monkeypatch.setattr("stripewise.study.procedure._loop.with_job", lambda options: options)
    count = iter(range(100))

    def run(formula, nodes=(1, 2), **given) -> StudyResult:
        ladders = {NODES: nodes} if nodes else {}
        tools = fake_tools(
            FakeLauncher(formula, lognormal(0.02)),
            memory=Memory(store, (), MACHINE),
            space=partial(find_space, only=(KNOB,), ladders=ladders),
        )
        options = StudyOptions(
            ("prog",),
            tmp_path / f"study-{next(count)}",
            tmp_path,
            job=JobOptions("run.sh") if nodes else None,
            trials=8,
            **given,
        )
        tools = replace(tools, places=PLACES if nodes else None)
        return run_study(options, None, lambda _options, _ledger: tools)

    return run


def test_a_winner_on_the_burst_buffer_is_kept_for_so_many_nodes_of_it(study, store) -> None:
    result = study(fast)
    assert result.winner.settings == {NODES: 2, **OFF}
    (kept,) = store.lessons()
    assert kept.case.machine == ON_2
    assert ON_2.filesystem == "datawarp, 2 nodes"
    assert kept.candidate == OFF
    assert kept.improved
    assert kept.effect.median == pytest.approx(2.0, rel=0.1), "not 6: that is the nodes' doing"
    (tried,) = [one for one in kept.tried if one.settings == OFF]
    assert tried.io_ratio == pytest.approx(0.5, rel=0.1)
    assert not any(NODES in one.settings for one in kept.tried)


def test_the_next_study_begins_there_with_as_many_nodes(study) -> None:
    study(fast)
    again = study(fast, seed=1)
    assert again.trials[0].settings == {NODES: 2, **OFF}
    (said,) = [one.text for one in again.decisions if one.text.startswith("memory: ")]
    assert said.startswith("memory: on datawarp, 2 nodes: 1 study like this one")
    others = study(fast, nodes=(1, 4), seed=2)
    assert not any("starts with" in one.text for one in others.decisions)


def test_the_parallel_file_system_learns_nothing_from_it(study) -> None:
    study(fast)
    other = study(slow, nodes=(), seed=1)
    (said,) = [one.text for one in other.decisions if one.text.startswith("memory: ")]
    assert said == "memory: 1 study kept, none like this one"


def test_a_winner_on_the_parallel_file_system_is_kept_as_usual(study, store) -> None:
    result = study(slow)
    assert result.winner.settings == OFF
    (kept,) = store.lessons()
    assert kept.case.machine == MACHINE
    assert (kept.candidate, kept.improved) == (OFF, True)
    assert [one.settings for one in kept.tried] == [OFF], "what the burst buffer did is left out"
    other = study(slow, nodes=(), seed=1)
    assert other.trials[0].settings == OFF


# ---- what is remembered of a result ---------------------------------------------------------


def trial(number: int, ratio: float, **settings) -> Trial:
    named = {{"nodes": NODES, "files": FILES, "knob": KNOB}[n]: v for n, v in settings.items()}
    return Trial(number, named, Configuration(), TrialState.COMPLETE, (), ratio, ratio)


PLAIN, TUNED = trial(1, 0.5, nodes=2), trial(2, 0.25, nodes=2, knob="disable")
ON_FILE_SYSTEM = trial(3, 0.9, knob="disable")
RESULT = StudyResult(
    ("prog",),
    "study",
    trials=(PLAIN, TUNED, ON_FILE_SYSTEM, trial(4, 0.7, nodes=1)),
    winner=TUNED,
    improved=True,
    speedup=Speedup(4.0, 3.9, 4.1, 4),
)


def test_without_pairs_against_the_place_there_is_no_speed_up() -> None:
    kept, nodes = PLACES.remembered(RESULT)
    assert nodes == 2
    assert [(one.settings, one.io_ratio) for one in kept.trials] == [(OFF, 0.5)]
    assert (kept.winner, kept.improved, kept.speedup) == (None, False, None)


def test_pairs_against_the_plain_place_are_its_speed_up() -> None:
    for low, improved in ((1.5, True), (0.9, False)):
        shown = Speedup(2.0, low, 2.5, 4)
        pairs = Pairs("a burst buffer", {NODES: 2}, shown, shown)
        kept, _ = PLACES.remembered(replace(RESULT, references=(pairs,)))
        assert (kept.winner.settings, kept.improved) == (OFF, improved)
        assert (kept.speedup, kept.elapsed_speedup) == (shown, shown)
    other = Pairs("another one", {NODES: 1}, shown, shown)
    assert PLACES.remembered(replace(RESULT, references=(other,)))[0].speedup is None


def test_what_cannot_be_said_is_not_remembered() -> None:
    hybrid = trial(5, 0.2, nodes=2, files="big*")
    assert PLACES.remembered(replace(RESULT, winner=hybrid)) is None
    unknown = replace(RESULT, trials=(TUNED, ON_FILE_SYSTEM))
    assert PLACES.remembered(unknown) is None, "nobody knows what 2 nodes give with nothing set"


def test_a_plain_burst_buffer_that_wins_says_what_the_settings_did_there() -> None:
    kept, nodes = PLACES.remembered(replace(RESULT, winner=PLAIN))
    assert (nodes, kept.winner, kept.improved) == (2, None, False)
    assert [one.io_ratio for one in kept.trials] == [0.5]


def test_a_script_with_a_burst_buffer_is_its_own_place() -> None:
    places = replace(PLACES, own_nodes=2)
    own = trial(6, 0.5, knob="disable")
    result = replace(RESULT, trials=(own, trial(7, 2.0, nodes=0)), winner=own)
    kept, nodes = places.remembered(result)
    assert (nodes, kept.trials, kept.winner, kept.speedup) == (2, (own,), own, RESULT.speedup)


def test_places_are_storages_that_are_not_alike() -> None:
    local = replace(MACHINE, filesystem="ext4", device="virtual", storage="")
    for machine in (MACHINE, local):
        known = [
            machine,
            tier_machine(machine, "datawarp", 2, ("wlm_pool",)),
            tier_machine(machine, "datawarp", 4, ("wlm_pool",)),
            tier_machine(machine, "rabbit", 2, ("wlm_pool",)),
        ]
        for place, one in enumerate(known):
            for other in known[place + 1 :]:
                assert not compare(StudiedCase(one), StudiedCase(other)).is_near, (one, other)
    assert tier_machine(MACHINE, "datawarp", 2, ("wlm_pool",)) == ON_2
    pool = compare(
        StudiedCase(ON_2), StudiedCase(tier_machine(MACHINE, "datawarp", 2, ("small",)))
    )
    assert "another machine" in pool.words, "as two file systems of one type are"
