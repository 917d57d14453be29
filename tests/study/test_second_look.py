# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trials that one run each does not tell apart are run once more before the pairs."""

from __future__ import annotations

import io
from random import Random

from stripewise.core import RunRole
from stripewise.present.numbers import plural, ratio_text, seconds_text
from stripewise.study.report import ProgressObserver
from stripewise.study.report._digest import digest
from support.study_fakes import KNOB, FakeLauncher, lognormal

BUFFER = "mpiio.ind_wr_buffer_size"


def close(settings):
    """Half the time with the knob set; buffers make it slower by a tenth."""
    slower = 1.1 if settings.get(BUFFER) else 1.0
    return slower * (2.0 if settings.get(KNOB) == "disable" else 4.0)


def second_runs(result):
    return {trial.number: len(trial.measurements) for trial in result.trials}


def test_what_is_close_to_the_best_is_run_again(run_fake):
    launcher = FakeLauncher(close, lambda random: 1 + 0.12 * Random(random.random()).random())
    result = run_fake(launcher, trials=8, seed=3)
    assert result.improved
    assert any(n > 1 for n in second_runs(result).values())
    roles = [entry.role for entry in result.runs]
    last_trial = len(roles) - 1 - roles[::-1].index(RunRole.TRIAL)
    assert last_trial < roles.index(RunRole.PAIR_WINNER)


def test_what_is_shown_last_of_a_trial_is_what_the_result_says(run_fake):
    """Also of those that are run again before the pairs, after the line of their first run."""
    launcher = FakeLauncher(close, lambda random: 1 + 0.12 * Random(random.random()).random())
    stream = io.StringIO()
    result = run_fake(launcher, trials=8, seed=3, observer=ProgressObserver(stream))
    lines = [line.split() for line in stream.getvalue().splitlines()]
    last = {words[1].partition("/")[0]: words for words in lines if words[:1] == ["trial"]}
    assert any(words[1].isdigit() for words in last.values())
    for trial in result.trials:
        figures = digest(trial.measurements)
        shown = f"I/O {seconds_text(figures.io_seconds)} {ratio_text(1 / trial.io_ratio)}x"
        words = " ".join(last[str(trial.number)])
        assert f"{shown} {plural(figures.n_runs, 'run')}" in words


def test_one_clear_winner_is_not_run_again(run_fake):
    def clear(settings):
        return 1.0 if settings.get(KNOB) == "disable" and len(settings) == 1 else 4.0

    result = run_fake(FakeLauncher(clear), trials=4)
    assert result.winner.settings == {KNOB: "disable"}
    assert len(result.winner.measurements) == 1


def test_a_study_that_ends_at_its_runs_keeps_within_them(run_fake):
    result = run_fake(FakeLauncher(close, lognormal(0.1)), runs=24)
    assert len([entry for entry in result.runs if "unsynced" not in entry.role.value]) <= 24
