# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs scatter: nothing is claimed that is not there, and what is there is found."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest

from stripewise.core import (
    Measurement,
    ObservedFile,
    Proposal,
    RunStatus,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.study.procedure._trial_runs import CaseRuns
from support.strategy_suite import romio_facts
from support.study_fakes import KNOB, FakeLauncher, heavy_tailed, helped, lognormal
from support.study_fakes import look as fake_look

MANY_KNOBS = replace(romio_facts(), independent_bytes=0, collective_bytes=1 << 26)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "noise", [lognormal(0.05), lognormal(0.3), heavy_tailed(0.1)], ids=["5%", "30%", "heavy"]
)
@pytest.mark.parametrize(("strategy", "studies"), [("auto", 200), ("random", 50)])
def test_honest_about_nothing(run_fake, no_fsync, tmp_path, noise, strategy, studies):
    """A/A: a program that no tunable affects must get "no improvement" at least 9 of 10 times."""
    improved = sum(
        run_fake(
            FakeLauncher(lambda _: 4.0, noise, seed=seed, other_seconds=0.5),
            directory=tmp_path / f"{seed}",
            facts=MANY_KNOBS,
            trials=8,
            seed=seed,
            strategy=strategy,
        ).improved
        for seed in range(studies)
    )
    assert improved <= 0.06 * studies


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("noise", [lognormal(0.1), heavy_tailed(0.1)], ids=["10%", "heavy"])
def test_finds_what_is_there(run_fake, no_fsync, tmp_path, noise):
    """A factor of two is found in at least 8 of 10 studies, noise and all."""
    improved = sum(
        run_fake(
            FakeLauncher(helped, noise, seed=seed, other_seconds=0.5),
            directory=tmp_path / f"{seed}",
            trials=8,
            seed=seed,
        ).improved
        for seed in range(40)
    )
    assert improved >= 32


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("knob", "value"), [("romio_cb_write", "disable"), ("cb_nodes", 4)])
def test_noise_does_not_hide_a_factor_of_two(run_fake, no_fsync, tmp_path, knob, value):
    """One tunable of seven helps; runs vary by a quarter, so that lucky trials come and go."""

    def one_helps(settings) -> float:
        return 2.0 if settings.get(f"mpiio.{knob}") == value else 4.0

    improved = sum(
        run_fake(
            FakeLauncher(one_helps, lognormal(0.25), seed=seed, other_seconds=0.5),
            directory=tmp_path / f"{seed}",
            facts=MANY_KNOBS,
            trials=8,
            seed=seed,
        ).improved
        for seed in range(40)
    )
    assert improved >= 32


def test_honest_with_bursts(run_fake, no_fsync, tmp_path):
    """The same with noise that lasts for several runs."""

    class Bursts(FakeLauncher):
        def submit(self, request):
            random = Random(f"{self.seed}:{len(self.settings) // 5}")
            slow = 2.0 if random.random() < 0.3 else 1.0
            self.io_seconds = lambda _: 4.0 * slow
            return super().submit(request)

    improved = sum(
        run_fake(
            Bursts(lambda _: 4.0, lognormal(0.05), seed=seed),
            directory=tmp_path / f"{seed}",
            trials=8,
            seed=seed,
        ).improved
        for seed in range(30)
    )
    assert improved <= 3


def test_the_runner_up_has_its_turn_where_the_leader_was_lucky(run_fake):
    """The trial of a useless setting shines, and its pairs do not: the next best is proven."""

    class Lucky(FakeLauncher):
        def submit(self, request):
            times = self.settings.count(dict(request.settings))
            first = next((s for s in self.settings if s), request.settings)
            lucky = request.settings and request.settings == first and times < 2
            self.io_seconds = lambda s: 1.0 if lucky else helped(s)
            return super().submit(request)

    result = run_fake(Lucky(helped, lognormal(0.03)), trials=8, strategy="random", seed=6)
    proofs = [d.text for d in result.decisions if "is the candidate" in d.text]
    assert len(proofs) == 2
    assert KNOB not in proofs[0]
    assert result.improved
    assert result.winner.settings[KNOB] == "disable"


def test_every_candidate_is_verified_before_its_turn(run_fake):
    compared = []

    def compare(baselines, candidate, layout, traced):
        compared.append(candidate)
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    launcher = FakeLauncher(helped, lognormal(0.2), seed=5)
    result = run_fake(launcher, trials=8, facts=MANY_KNOBS, compare=compare)
    for trial in result.trials:
        if trial.state is TrialState.COMPLETE and trial.io_ratio < 1:
            assert trial.measurements[0].run_id in compared


def test_a_machine_on_which_nothing_can_be_shown(run_fake):
    """Said after the baselines, before a single trial is spent."""
    result = run_fake(FakeLauncher(helped, lognormal(3.0), seed=3), trials=8)
    assert not result.improved
    assert not result.trials
    assert len(result.runs) <= 6
    assert "tune a run with more I/O" in result.stopped_because


def look_of_the_same(run_id, place, outcome):
    """What reaches the storage is the same in every run."""
    seen = ObservedFile("out.dat", writers=2, system_writes=8, system_write_bytes=1 << 26)
    return replace(fake_look(run_id, place, outcome), files=(seen,))


def test_a_small_lead_without_a_change_at_the_storage_is_chance(run_fake):
    """A lead within the noise buys no second run."""
    launcher = FakeLauncher(lambda s: 3.9 if s else 4.0, lognormal(0.05), seed=1)
    result = run_fake(launcher, trials=6, facts=MANY_KNOBS, look=look_of_the_same)
    assert not result.improved
    assert {trial.io_ratio for trial in result.trials if trial.io_ratio <= 1} == {1.0}
    assert any("were the same" in trial.message for trial in result.trials)
    assert not [run for run in result.runs if run.role.value.startswith("pair")]


def test_a_lead_without_a_change_at_the_storage_is_seen_twice_before_it_is_dropped(
    run_fake, tmp_path
):
    """A gain before the storage, not so much larger than the noise that one run shows it."""
    found = [
        run_fake(
            FakeLauncher(helped, lognormal(0.15), seed=seed),
            directory=tmp_path / f"seed-{seed}",
            trials=8,
            look=look_of_the_same,
            seed=seed,
        )
        for seed in range(6)
    ]
    assert sum(result.improved for result in found) >= 5
    assert any(len(trial.measurements) == 2 for result in found for trial in result.trials)


def test_a_large_gain_without_a_change_at_the_storage_is_real(run_fake):
    """Copying, communication and locks come before the storage."""
    result = run_fake(FakeLauncher(helped, lognormal(0.05)), trials=8, look=look_of_the_same)
    assert result.improved


def test_the_price_counts_every_run(run_fake):
    result = run_fake(FakeLauncher(helped), trials=3)
    price = result.price
    assert price.n_runs == len(result.runs)
    assert price.node_seconds == sum(run.measurement.elapsed_seconds for run in result.runs)
    assert price.default_run_node_seconds == 5.0
    assert price.ratio == price.node_seconds / 5.0


def test_the_same_requests_to_another_storage_are_not_the_same():
    context = SimpleNamespace(context=None)
    seen = ObservedFile("out.dat", writers=2, system_writes=8)
    run = Measurement("r", RunStatus.OK, files=(seen,), exit_code=0)
    for settings, same in (({"mpiio.cb_nodes": 2}, True), ({"job.burst_buffer_nodes": 2}, False)):
        runs = CaseRuns(context, 1, Proposal(settings, ""))
        runs.candidates, runs.beside = [run], [run]
        assert runs.asks_the_same is same
