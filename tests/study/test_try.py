# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a finding applied to its program, in a sandbox."""

from dataclasses import replace

import pytest

from stripewise.core.errors import ProgramError, UsageError
from stripewise.study.procedure import TriedLines, try_lines
from stripewise.study.runs._looking import look

SLOW = ("sh", "-c", "echo ${FAST:-2} > out; test ! -e mine || rm mine")
"""It writes how many seconds it takes."""


def timed(run_id, place, outcome):
    seconds = float((place.directory / "out").read_text())
    return replace(look(run_id, place, outcome), elapsed_seconds=seconds)


def test_lines_are_applied_and_the_users_files_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stripewise.study.procedure._single_runs.look", timed)
    (tmp_path / "mine").write_text("kept")
    tried = try_lines(SLOW, ("export FAST=0.1   # quick",), pairs=2)
    assert tried.before_seconds == (2.0, 2.0)
    assert tried.after_seconds == (0.1, 0.1)
    assert tried.holds(2.0)
    assert not tried.holds(50.0)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [((), "change of the program's source"), (("sbcast a b",), "job script")],
)
def test_what_cannot_be_applied_is_said_before_anything_runs(lines, why):
    with pytest.raises(UsageError, match=why):
        try_lines(("false",), lines)


def test_a_program_that_fails_ends_the_trial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProgramError, match="code 3"):
        try_lines(("sh", "-c", "exit 3"), ("export A=1",))
    assert list(tmp_path.iterdir()) == []


def test_a_gain_holds_from_half_to_twice_the_claim():
    tried = TriedLines((2.0, 2.2, 2.1), (1.0, 1.1, 1.1))
    assert tried.gain_seconds == pytest.approx(1.0)
    assert tried.holds(0.6)
    assert tried.holds(1.9)
    assert not tried.holds(0.4)
