# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study may use: trials, runs, time, the policy's caps, patience."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from stripewise.core import RunStatus
from stripewise.core.errors import PolicyError, UsageError
from stripewise.run.launch import Outcome
from stripewise.settings import Policy
from stripewise.study.plan import JobOptions, Journal, StudyLedger, StudyOptions
from stripewise.study.plan._budget import check_node_hours, make_budget, most_trials
from stripewise.study.plan._options import extended_budgets
from stripewise.study.plan._statistics import LOOKS
from support.study_fakes import KNOB, FakeLauncher, helped, lognormal


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
    launcher = FakeLauncher(helped)
    result = run_fake(launcher, time_seconds=1.0)
    assert "time budget: 0 of 1 s used; the rest of a study" in result.stopped_because
    assert not result.trials
    assert (result.outcome, result.left_open) == ("nothing tried", result.stopped_because)
    assert len(launcher.settings) == 1  # its first run showed that the budget holds no study


@dataclass
class Charged(FakeLauncher):
    """Its allocations cost more than the runs in them do."""

    factor: float = 1.5

    @property
    def node_seconds(self):
        return self.factor * sum(one.elapsed_seconds for one in self._outcomes.values())


@pytest.mark.parametrize("make", [FakeLauncher, Charged])
def test_runs_that_cannot_be_paid_for_are_not_started(run_fake, tmp_path, make):
    """Pairs, verification and retries count."""
    for seed, seconds in enumerate((1, 12, 30, 69, 76, 90, 110, 130, 200)):
        launcher = make(helped, lognormal(0.2), seed=seed)
        folder = tmp_path / str(seed)
        result = run_fake(launcher, node_hours=seconds / 3600, directory=folder, trials=3)
        runs = [entry.measurement.elapsed_seconds for entry in result.runs]
        spent = launcher.node_seconds or sum(runs)
        beyond = max(runs, default=seconds) / 2 if launcher.node_seconds else 0.0
        assert spent <= seconds + beyond, (seconds, spent)  # its last run costs more than it takes
        if not result.trials:
            assert result.outcome == "nothing tried"
            assert "node-hour budget: " in result.left_open
        else:
            assert result.outcome in ("improved", "undecided"), result.left_open
    assert result.improved


def test_a_candidate_whose_pairs_cannot_be_paid_for_is_undecided(run_fake):
    """Runs that take longer than the baseline's did take what was kept for the pairs."""

    class Slowing(FakeLauncher):
        def submit(self, request):
            self.other_seconds = 21.0 if len(self.settings) == 4 else 1.0
            return super().submit(request)

    launcher = Slowing(helped)
    result = run_fake(launcher, node_hours=80 / 3600, trials=1, only=(KNOB,))
    assert result.outcome == "undecided"
    assert "x faster in its trial, but no fresh pairs" in result.left_open
    assert "node-hour budget: " in result.left_open
    more = run_fake(launcher, node_hours=900 / 3600, command=(), resume=True)
    assert more.outcome == "improved"


def test_pairs_that_the_budget_ends_are_undecided(run_fake):
    result = run_fake(FakeLauncher(helped, drift=0.15), node_hours=150 / 3600, trials=2)
    assert result.outcome == "undecided"
    assert "3 fresh pairs]: too few pairs to tell; the budget allows no more" in result.left_open
    assert "continue with --resume --budget 0.11nh" in result.left_open


@dataclass
class Endless(FakeLauncher):
    """A run of it never ends by itself; its allocation costs 10 node-seconds at each look."""

    looks: int = 0
    poll_seconds = 0.0

    @property
    def node_seconds(self):
        return 10.0 * self.looks

    def poll(self, handle):
        self.looks += 1
        return False


def test_a_run_is_ended_when_the_budget_is_spent(run_fake):
    launcher = Endless(helped)
    result = run_fake(launcher, node_hours=0.5)
    assert len(launcher.cancelled) == 1
    assert launcher.node_seconds <= 1800
    assert result.outcome == "nothing tried"
    assert "the run that was under way was ended" in result.left_open
    assert result.runs == ()


def test_a_run_that_nobody_watched_does_not_outlast_the_budget(run_fake):
    """Its launcher ends it; that is no hang of the program."""
    limits = []

    class Slow(FakeLauncher):
        def submit(self, request):
            limits.append(request.timeout_seconds)
            return super().submit(request)

    launcher = Slow(lambda _: 500.0)
    result = run_fake(launcher, node_hours=0.1)
    assert limits == [360.0]
    assert result.outcome == "nothing tried"
    assert "node-hour budget: " in result.left_open
    limits.clear()
    assert run_fake(launcher, node_hours=2.5, command=(), resume=True).outcome != "nothing tried"
    assert limits[0] == 9000.0


def test_a_budget_without_room_for_jobs_is_refused():
    check_node_hours(None, 99)
    check_node_hours(0.1, 4)
    with pytest.raises(UsageError, match=r"0.0001 node-hours are 0.36 s .* at least 14 runs on 2"):
        check_node_hours(0.0001, 2)


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
    with closing(StudyLedger(Journal(tmp_path / "journal"))) as ledger:
        assert make_budget(options, Policy(), ledger, nodes=2).trials_within(10.0) == trials


@pytest.mark.parametrize(("job", "usual"), [(None, 20), (JobOptions("run.sh"), 40)])
def test_a_study_without_limits_goes_on_with_more_than_it_had(tmp_path, job, usual):
    had = StudyOptions(("a",), tmp_path, job=job)
    asked = [extended_budgets(replace(had, trials=n), had) for n in (usual, usual + 1)]
    assert asked == [{}, {"trials": usual + 1}]
    assert extended_budgets(replace(had, runs=60), had) == {"runs": 60}
    both = replace(had, time_seconds=9.0, trials=50)
    assert extended_budgets(both, had) == {"time_seconds": 9.0, "trials": 50}
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
