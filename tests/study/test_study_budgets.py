# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study may use: trials, runs, time, the policy's caps, patience."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from stripewise.errors import PolicyError, UsageError
from stripewise.launch import Outcome
from stripewise.model import RunStatus
from stripewise.policy import Policy
from stripewise.study import JobOptions, Journal, Ledger, StudyOptions
from stripewise.study._budget import make_budget, most_trials
from stripewise.study._options import extended_budgets
from stripewise.study._statistics import LOOKS
from support.study_fakes import FakeLauncher, helped, lognormal


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_budget_holds_a_trial_whatever_the_noise(run_fake, seed):
    launcher = FakeLauncher(helped, lognormal(0.4), seed=seed)
    assert run_fake(launcher, runs=18).trials


@pytest.mark.parametrize(("trials", "said"), [(1, "1 of 1 trials used"), (2, "2 of 2")])
def test_trial_budget(run_fake, trials, said):
    result = run_fake(FakeLauncher(helped), trials=trials)
    assert said in result.stopped_because
    assert len(result.trials) == trials


def test_run_budget_keeps_the_pairs(run_fake):
    result = run_fake(FakeLauncher(helped), runs=17)
    assert "of 17 runs used" in result.stopped_because
    assert len(result.runs) <= 17
    assert result.speedup.n_pairs >= LOOKS[0]


def test_time_budget(run_fake):
    result = run_fake(FakeLauncher(helped), time_seconds=1.0)
    assert "time budget" in result.stopped_because
    assert not result.trials


@pytest.mark.parametrize(
    ("limits", "trials"),
    [
        ({"trials": 7}, 7),
        ({"runs": 14}, 1),
        ({"runs": 22}, 5),
        ({"runs": 22, "trials": 3}, 3),
        ({"time_seconds": 140.0}, 1),
        ({"node_hours": 44 * 10 / 3600}, 5),  # 22 runs of 10 s on 2 nodes
        ({"runs": 22, "time_seconds": 160.0}, 2),
        ({"time_seconds": 1.0}, 0),
    ],
)
def test_so_many_trials_are_within_the_limits(tmp_path, limits, trials):
    options = StudyOptions(("a",), tmp_path, **limits)
    with closing(Ledger(Journal(tmp_path / "journal"))) as ledger:
        assert make_budget(options, Policy(), ledger, nodes=2).trials_within(10.0) == trials


@pytest.mark.parametrize(("job", "usual"), [(None, 20), (JobOptions("run.sh"), 40)])
def test_a_study_without_limits_goes_on_with_more_than_it_had(tmp_path, job, usual):
    had = StudyOptions(("a",), tmp_path, job=job)
    asked = [extended_budgets(replace(had, trials=n), had) for n in (usual, usual + 1)]
    assert asked == [{}, {"trials": usual + 1}]
    assert most_trials(had) == usual


def test_policy_caps(run_fake):
    result = run_fake(FakeLauncher(helped), trials=9, policy=Policy(max_trials=2))
    assert "2 of 2 trials used (the policy's limit)" in result.stopped_because


@pytest.mark.parametrize(
    ("policy", "said", "runs"),
    [
        (Policy(max_runs=13), "13 runs.*at least 14", 0),
        (Policy(max_bytes=10 << 26), "takes at least 939524096", 1),
    ],
)
def test_policy_that_holds_no_study(run_fake, policy, said, runs):
    launcher = FakeLauncher(helped)
    with pytest.raises(PolicyError, match=said):
        run_fake(launcher, policy=policy)
    assert len(launcher.settings) == runs


@pytest.mark.parametrize(
    "policy", [Policy(max_runs=20), Policy(max_bytes=20 << 26)], ids=["runs", "bytes"]
)
@pytest.mark.parametrize("seed", range(5))
def test_policy_caps_are_kept_whatever_the_noise(run_fake, policy, seed):
    class SomeFail(FakeLauncher):
        def collect(self, handle):
            if self.settings[-1] and len(self.settings) % 7 == 0:
                return Outcome(RunStatus.FAILED, 1, 1.0, 0.0, write_bytes=1 << 26, message="no")
            return super().collect(handle)

    result = run_fake(SomeFail(helped, lognormal(0.4), seed=seed), policy=policy, trials=9)
    assert len(result.runs) <= 20


def test_patience(run_fake):
    result = run_fake(FakeLauncher(lambda _: 4.0), strategy="random", patience=3)
    assert result.stopped_because == "no improvement in the last 3 trials"


def test_too_few_runs_are_refused(run_fake):
    with pytest.raises(UsageError, match="take 14"):
        run_fake(FakeLauncher(helped), runs=5)
