# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs scatter: nothing is claimed that is not there, and what is there is found."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from stripewise.model import TrialState, Verification, VerificationStatus
from stripewise.testing.strategy_suite import romio_facts
from stripewise.testing.study_fakes import FakeLauncher, heavy_tailed, helped, lognormal

MANY_KNOBS = replace(romio_facts(), independent_bytes=0, collective_bytes=1 << 26)


@pytest.mark.parametrize(
    "noise", [lognormal(0.05), lognormal(0.3), heavy_tailed(0.1)], ids=["5%", "30%", "heavy"]
)
@pytest.mark.parametrize(("strategy", "studies"), [("auto", 200), ("random", 50)])
def test_honest_about_nothing(run_fake, no_fsync, tmp_path, noise, strategy, studies):
    """A/A: a program that no knob affects must get "no improvement" at least 9 of 10 times."""
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


@pytest.mark.parametrize(("knob", "value"), [("romio_cb_write", "disable"), ("cb_nodes", 4)])
def test_noise_does_not_hide_a_factor_of_two(run_fake, no_fsync, tmp_path, knob, value):
    """One knob of seven helps; runs vary by a quarter, so that lucky trials come and go."""

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


def test_leaders_run_again_where_noise_would_choose(run_fake):
    result = run_fake(
        FakeLauncher(helped, lognormal(0.3), seed=1), trials=8, facts=MANY_KNOBS, seed=1
    )
    assert any("run again to rank them" in decision.text for decision in result.decisions)
    assert max(len(trial.measurements) for trial in result.trials) >= 4


def test_every_candidate_is_verified_before_its_turn(run_fake):
    compared = []

    def compare(baselines, candidate, layout):
        compared.append(candidate)
        return Verification(VerificationStatus.IDENTICAL, ("o",))

    launcher = FakeLauncher(helped, lognormal(0.2), seed=5)
    result = run_fake(launcher, trials=8, facts=MANY_KNOBS, compare=compare)
    for trial in result.trials:
        if trial.state is TrialState.COMPLETE and trial.io_ratio < 1:
            assert trial.measurements[0].run_id in compared
