# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tries the part of the corpus of foreign inputs that every change must handle rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreign.corpus import Case, Verdict, cases_of, kind_names, tried

_SUITE = [case for kind in kind_names() for case in cases_of(kind) if case.suite]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, marks=[pytest.mark.mpi] if case.mpi else [], id=f"{case.kind}-{case.name}"
        )
        for case in _SUITE
    ],
)
def test_a_foreign_input_is_handled_rightly(case: Case, tmp_path: Path) -> None:
    (_, outcome) = next(tried([case], tmp_path))
    if outcome.verdict is Verdict.SKIPPED:
        pytest.skip(outcome.text)
    assert outcome.verdict in (Verdict.RIGHT, Verdict.REFUSED), outcome.text


@pytest.mark.parametrize("kind", kind_names())
def test_every_case_says_where_it_and_its_answer_come_from(kind: str) -> None:
    for case in cases_of(kind):
        said = (case.source, case.remade, case.found_by, case.answer)
        assert all(said), case.name
