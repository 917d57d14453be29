# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several cases, one configuration: how they are run and searched."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, log

import pytest
from ensemble_harness import CASES, gains, launchers

from stripewise.core import (
    CaseOutcome,
    RunRole,
    RunStatus,
    TrialState,
    Verification,
    VerificationStatus,
)
from stripewise.core.errors import PolicyError, ProgramError, UsageError
from stripewise.run.launch import Outcome
from stripewise.settings import Policy
from stripewise.settings.tunables import Space, find_space
from stripewise.study.plan import Observer
from support.strategy_suite import romio_facts
from support.study_fakes import KNOB, FakeLauncher, lognormal


def test_one_configuration_with_a_figure_for_each_case(run_cases):
    result = run_cases(launchers())
    assert result.improved
    assert result.winner.settings[KNOB] == "disable"
    assert [case.name for case in result.cases] == ["small", "large"]
    assert result.cases[0].speedup.median == pytest.approx(2.0)
    assert result.cases[1].speedup.median == pytest.approx(4.0)
    assert result.speedup.median == pytest.approx(8.0**0.5)
    assert all(case.outcome is CaseOutcome.FASTER for case in result.cases)
    assert all(len(case.pairs) == 4 for case in result.cases)
    assert all(case.unsynced is not None for case in result.cases)
    assert result.verification.compared == ("small: out.dat", "large: out.dat")
    assert all(case.verification.compared == ("out.dat",) for case in result.cases)


def test_weights_count_in_the_score(run_cases):
    cases = (replace(CASES[0], weight=3.0), CASES[1])
    result = run_cases(launchers(), cases=cases)
    assert result.speedup.median == pytest.approx(exp((3 * log(2) + log(4)) / 4))
    assert result.winner.case_ratios == pytest.approx({"small": 0.5, "large": 0.25})


def test_every_case_has_its_own_runs(run_cases):
    result = run_cases(launchers(), trials=1)
    for case in result.cases:
        own = [entry.role for entry in result.runs if entry.case == case.name]
        assert own[0] is RunRole.WARM_UP
        assert own.count(RunRole.PAIR_WINNER) == own.count(RunRole.PAIR_BASELINE) == 4
        assert own.count(RunRole.TRIAL) >= 1
        assert len(case.baseline) == 3


def test_candidate_and_baseline_of_a_case_are_neighbours(run_cases):
    result = run_cases(launchers(lognormal(0.05)), trials=6, strategy="random")
    runs = [e for e in result.runs if e.role in (RunRole.TRIAL, RunRole.BASELINE)]
    for index, entry in enumerate(runs):
        if entry.role is RunRole.TRIAL:
            beside = (runs[index - 1], *runs[index + 1 : index + 2])
            assert (RunRole.BASELINE, entry.case) in [(e.role, e.case) for e in beside]


def test_cases_take_turns_in_random_order(run_cases):
    result = run_cases(launchers(), seed=3)
    first = {}
    for entry in result.runs:
        if entry.role in (RunRole.PAIR_BASELINE, RunRole.PAIR_WINNER):
            first.setdefault(entry.pair_number, entry.case)
    assert set(first.values()) == {"small", "large"}


def test_clearly_slower_in_one_case_ends_the_trial_there(run_cases):
    by_word = launchers(small=gains(2.0), large=lambda s: 8.0 if s else 4.0)
    result = run_cases(by_word, trials=3, strategy="random")
    assert {trial.state for trial in result.trials} == {TrialState.HOPELESS}
    for trial in result.trials:
        assert "case large: clearly slower" in trial.message
        assert trial.io_ratio == pytest.approx(2.0)
        of_large = [e for e in result.runs if e.trial_number == trial.number]
        candidates = [e.case for e in of_large if e.role is RunRole.TRIAL]
        assert candidates.count("large") == 2
        assert candidates.count("small") <= 1


def test_a_failure_in_one_case_is_one_for_all_and_named(run_cases):
    by_word = launchers(small=gains(2.0), large=hangs)
    result = run_cases(by_word, trials=8, strategy="rules")
    stuck = [trial for trial in result.trials if trial.settings.get(KNOB) == "disable"]
    assert stuck
    for trial in stuck:
        assert trial.state is TrialState.FAILED
        assert trial.message == "case large: stopped at its time limit"
        assert trial.io_ratio == inf


def hangs(settings) -> float:
    return inf if settings.get(KNOB) == "disable" else 4.0


def test_other_output_in_one_case_rejects_for_all(run_cases):
    def differs(baselines, candidate, layout, traced):
        return Verification(VerificationStatus.DIFFERENT, differences={"o": "offset 7"})

    result = run_cases(launchers(), {"compare": {"large": differs}})
    assert not result.improved
    rejected = [trial for trial in result.trials if trial.state is TrialState.REJECTED]
    assert rejected
    assert "case large: its output differs" in rejected[0].message
    assert any("case large: REJECTED" in text for text in result.warnings)
    assert result.rejected[rejected[0].number].differences == {"large: o": "offset 7"}
    assert result.cases[1].rejected
    assert not result.cases[0].rejected


def test_each_case_has_its_own_time_limit(run_cases):
    limits = {}

    class Notes(FakeLauncher):
        def submit(self, request):
            if request.settings:
                limits.setdefault(id(self), set()).add(request.timeout_seconds)
            return super().submit(request)

    by_word = launchers(kind=Notes)
    run_cases(by_word)
    assert [limits[id(by_word[word])] for word in ("small", "large")] == [{25.0}, {205.0}]


@pytest.mark.parametrize(("runs", "fits"), [(27, False), (28, True)])
def test_the_run_budget_counts_all_cases(run_cases, runs, fits):
    if not fits:
        with pytest.raises(UsageError, match="4 pairs of 2 cases take 28"):
            run_cases(launchers(), runs=runs)
        return
    result = run_cases(launchers(lognormal(0.3)), runs=runs, trials=None)
    assert result.trials
    assert len(result.runs) <= runs


def test_policy_caps_hold_over_all_cases(run_cases):
    with pytest.raises(PolicyError, match=r"27 runs.*at least 28"):
        run_cases(launchers(), policy_tools(Policy(max_runs=27)))
    result = run_cases(launchers(), policy_tools(Policy(max_runs=40)))
    assert len(result.runs) <= 40


def policy_tools(policy: Policy):
    return {"policy": {"small": policy, "large": policy}}


def test_knobs_that_act_on_some_cases_are_searched_and_said(run_cases):
    def only(name):
        def space(facts):
            whole = find_space(facts)
            kept = tuple(d for d in whole.dimensions if d.tunable.name == name)
            others = {d.tunable.name: "cannot act" for d in whole.dimensions if d not in kept}
            return Space(kept, others)

        return space

    spaces = {"small": only(KNOB), "large": only("mpiio.ind_wr_buffer_size")}
    result = run_cases(launchers(), {"space": spaces})
    assert set(result.searched) == {KNOB, "mpiio.ind_wr_buffer_size"}
    assert result.cases[0].tunables == (KNOB,)
    assert result.cases[1].tunables == ("mpiio.ind_wr_buffer_size",)
    assert any(d.text == f"acts on small only: {KNOB}" for d in result.decisions)


def test_no_knob_acts_on_any_case(run_cases):
    nothing = {word: (lambda facts: Space((), {KNOB: "no"})) for word in ("small", "large")}
    result = run_cases(launchers(), {"space": nothing})
    assert not result.improved
    assert len(result.runs) == 2
    assert [case.outcome for case in result.cases] == [CaseOutcome.UNKNOWN] * 2


def test_a_case_that_fails_unchanged_is_named(run_cases):
    class Fails(FakeLauncher):
        def collect(self, handle):
            return Outcome(RunStatus.FAILED, 3, 1.0, 0.0, message="exit code 3")

    by_word = {**launchers(), "large": Fails(gains(1.0))}
    with pytest.raises(ProgramError, match="case large: the program fails unchanged"):
        run_cases(by_word)
    assert run_cases(launchers()).improved, "the failed attempt is in the way"


def test_progress_names_the_cases(run_cases):
    seen = []

    class Watches(Observer):
        def facts_known(self, facts, case=""):
            seen.append(case)

        def baseline_known(self, measurements, resolution, case=""):
            seen.append(case)

        def pair_finished(self, done, most, speedup, cases=None):
            seen.append(tuple(cases))

    run_cases(launchers(), observer=Watches())
    assert seen[:4] == ["small", "large"] * 2
    assert seen[-1] == ("small", "large")


def test_facts_of_cases_are_merged(run_cases):
    two = replace(romio_facts(), n_ranks=2, write_bytes=10, matched_calls=True)
    four = replace(romio_facts(), n_ranks=4, write_bytes=5, matched_calls=False)
    result = run_cases(launchers(), {"facts": {"small": two, "large": four}}, trials=1)
    assert result.facts.n_ranks == 4
    assert result.facts.write_bytes == 15
    assert not result.facts.matched_calls
    assert result.cases[0].facts == two
