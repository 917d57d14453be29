# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation says of suites is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stripewise.bench.campaign import parse_suite
from stripewise.bench.campaign._suite_form import CaseForm
from stripewise.bench.runners import runner_names

PAGE = (Path(__file__).parents[2] / "docs/how-to/write-a-suite.md").read_text("utf-8")


def test_the_file_that_is_shown_is_a_suite() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)
    suite = parse_suite(text, "shown.toml")
    assert len(suite.cases) == 16
    assert "The file above has 16" in PAGE
    assert suite.shortened().n_runs < suite.n_runs


@pytest.mark.parametrize("key", sorted(set(CaseForm.model_fields) - {"series", "unless", "quick"}))
def test_every_key_has_a_row(key: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert any(f"`{key}`" in row.split("|")[1] for row in rows)


@pytest.mark.parametrize("name", runner_names())
def test_every_runner_has_a_row(name: str) -> None:
    assert f"| `{name}` |" in PAGE
