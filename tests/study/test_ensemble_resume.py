# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several cases, one configuration: killed and resumed."""

from __future__ import annotations

import pytest
from ensemble_harness import CASES, launchers

from stripewise.core.errors import StudyError
from stripewise.study.plan import Journal, StudyCase, parse_journal
from support.journal_checks import check_runs
from support.study_fakes import lognormal


class Kill(BaseException):
    """As kill -9."""


@pytest.mark.parametrize("step", [13, 23, 64])
def test_killed_again_and_again(run_cases, tmp_path, monkeypatch, step):
    """No finished run is lost, and only halves of torn pairs are repeated; see `check_runs`."""
    by_word = launchers(lognormal(0.05))
    append, left = Journal.append, [step]

    def counted(self, kind, **data):
        left[0] -= 1
        if left[0] < 0:
            raise Kill
        return append(self, kind, **data)

    monkeypatch.setattr(Journal, "append", counted)
    path, begun, done = tmp_path / "study" / "journal.jsonl", False, []
    for _ in range(200):
        left[0] = step
        try:
            result = run_cases(by_word, resume=begun)
            break
        except Kill:
            records = parse_journal(path.read_bytes(), path)[0]
            begun = bool(records)
            now = [r["run_id"] for r in records if r["kind"] == "run-finished"]
            assert now[: len(done)] == done
            done = now
    records = parse_journal(path.read_bytes(), path)[0]
    slots = {r["run_id"]: r["slot"] for r in records if r["kind"] == "run-planned"}
    ended = [slots[r["run_id"]] for r in records if r["kind"] == "run-finished"]
    assert check_runs(records) <= sum(r["kind"] == "resumed" for r in records)
    assert "small:warm-up" in ended
    assert result.improved
    left[0] = 10**6
    assert run_cases(by_word, resume=True) == result


def test_resume_needs_no_cases_and_refuses_others(run_cases):
    run_cases(launchers(), trials=1)
    again = run_cases(launchers(), cases=(), resume=True)
    assert [case.name for case in again.cases] == ["small", "large"]
    other = (CASES[0], StudyCase("other", ("prog", "large")))
    with pytest.raises(StudyError, match="is a study of `prog small and prog large`"):
        run_cases(launchers(), cases=other, resume=True)
