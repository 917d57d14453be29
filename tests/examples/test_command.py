# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The script that makes a synthetic centre."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import make_centre
from stripewise.centre.database import create_engine
from stripewise.centre.database.accounts import Accounts
from synthetic_centre import _centre


@pytest.fixture(autouse=True)
def _without_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs have thousands of files."""
    monkeypatch.setattr(_centre, "CASES", ())


@pytest.mark.extended
def test_accounts_that_it_prints_let_in(tmp_path: Path) -> None:
    file = str(tmp_path / "demo.sqlite")
    words = ["--jobs", "20", "--until", "1790000000"]
    result = CliRunner().invoke(make_centre.main, [*words, "--json", file], catch_exceptions=False)
    assert result.exit_code == 0
    document = json.loads(result.output)
    assert document["jobs"] == 20
    engine = create_engine(file)
    for one in document["accounts"]:
        account = Accounts(engine).check_password(one["login"], one["password"])
        assert account is not None
        assert account.role == one["role"]
    engine.dispose()


def test_a_database_with_jobs_is_refused_in_a_line(tmp_path: Path) -> None:
    words = ["--jobs", "1", "--until", "1790000000", str(tmp_path / "demo.sqlite")]
    assert CliRunner().invoke(make_centre.main, words).exit_code == 0
    result = CliRunner().invoke(make_centre.main, words)
    assert result.exit_code == 1
    assert result.output.startswith("Error: the database has 1 jobs")


def test_help_says_that_nothing_is_real() -> None:
    text = CliRunner().invoke(make_centre.main, ["--help"]).output
    assert "made-up" in text
    assert "nothing in it was measured" in " ".join(text.split())
