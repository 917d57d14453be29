# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several cases, one configuration: when it is an improvement."""

from __future__ import annotations

import pytest
from ensemble_harness import gains, launchers

from stripewise.core import CaseOutcome
from stripewise.study.plan import StudyCase
from stripewise.study.plan._statistics import LOOKS
from support.study_fakes import KNOB, FakeLauncher, lognormal


def test_no_case_may_get_slower(run_cases):
    """Four times faster in one and 1.09 times slower in the other is no improvement."""
    by_word = launchers(small=gains(4.0), large=gains(0.92))
    result = run_cases(by_word, strategy="rules")
    assert result.speedup.low > 1
    assert not result.improved
    assert [case.outcome for case in result.cases] == [CaseOutcome.FASTER, CaseOutcome.SLOWER]
    assert any("case large gets slower: I/O 0.92x" in d.text for d in result.decisions)


def test_within_the_tolerance_a_case_may_lose(run_cases):
    result = run_cases(launchers(small=gains(4.0), large=gains(0.97)))
    assert result.improved
    assert result.cases[1].outcome is CaseOutcome.UNCHANGED


def test_a_case_whose_whole_time_gets_worse(run_cases):
    class Computes(FakeLauncher):
        def submit(self, request):
            self.other_seconds = 3.0 if request.settings else 1.0
            return super().submit(request)

    by_word = {"small": FakeLauncher(gains(4.0)), "large": Computes(gains(1.0))}
    result = run_cases(by_word)
    assert not result.improved
    assert any("large gets slower: whole time" in d.text for d in result.decisions)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("n_cases", [2, 4])
def test_honest_about_nothing(run_cases, tmp_path, n_cases):
    """A/A: cases that no tunable affects get "no improvement"."""
    words = [f"c{i}" for i in range(n_cases)]
    cases = tuple(StudyCase(word, ("prog", word)) for word in words)
    improved = 0
    for seed in range(40):
        formulas = {word: (lambda _: 4.0) for word in words}
        result = run_cases(
            launchers(lognormal(0.15), seed, **formulas),
            cases=cases,
            directory=tmp_path / f"{seed}",
            seed=seed,
            trials=6,
        )
        improved += result.improved
    assert improved <= 2


def test_an_unaffected_case_does_not_hide_a_gain(run_cases, tmp_path):
    """One case gains twofold, the other nothing: told so in at least 8 of 10 noisy studies."""
    improved = 0
    for seed in range(30):
        by_word = launchers(lognormal(0.1), seed, small=gains(2.0), large=gains(1.0))
        result = run_cases(by_word, directory=tmp_path / f"{seed}", seed=seed)
        improved += result.improved
        assert result.cases[1].outcome is not CaseOutcome.FASTER or seed
    assert improved >= 24


def test_the_overall_interval_covers_the_truth(run_cases, tmp_path):
    """At 95 %, whichever look ended the pairs."""
    covered = total = 0
    for seed in range(60):
        by_word = launchers(lognormal(0.2), seed, small=gains(1.5), large=gains(1.5))
        result = run_cases(by_word, directory=tmp_path / f"{seed}", seed=seed, trials=1,
                           strategy="rules")  # fmt: skip
        if result.speedup is not None and result.winner.settings.get(KNOB) == "disable":
            total += 1
            covered += result.speedup.low <= 1.5 <= result.speedup.high
    assert total > 30
    assert covered >= 0.87 * total


def test_a_case_that_is_left_open_is_no_improvement(run_cases):
    """One case is behind in half of its pairs; the budget ends, then there is more."""

    class Wavers(FakeLauncher):
        pairs = 0

        def submit(self, request):
            self.pairs += bool(request.settings)
            behind = request.settings and self.pairs > 2 and self.pairs % 3
            self.io_seconds = lambda _: 4.0 / 0.9 if behind else 4.0
            return super().submit(request)

    by_word = {"small": FakeLauncher(gains(4.0)), "large": Wavers(gains(1.0))}
    result = run_cases(by_word, runs=30, trials=None, strategy="rules")
    assert LOOKS[0] <= result.speedup.n_pairs < LOOKS[-1]
    assert result.speedup.low > 1
    assert result.cases[1].speedup.median < 0.95 <= 1 <= result.cases[1].speedup.high
    assert not result.improved
    assert result.cases[1].outcome is CaseOutcome.OPEN
    said = next(d.text for d in result.decisions if "left open" in d.text)
    assert "case large is left open (I/O 0.95x [0.80-1.12])" in said
    given = int(said.partition("--resume --runs ")[2])
    more = run_cases(by_word, runs=given, resume=True)
    assert more.cases[1].speedup.n_pairs > result.speedup.n_pairs
