# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

from stripewise.run.launch import cray_variables

PAGE = Path(__file__).parents[3] / "docs/reference/environment.md"


def test_every_variable_is_switched_on_and_documented() -> None:
    variables = cray_variables()
    assert set(variables.values()) == {"1"}
    page = PAGE.read_text("utf-8")
    assert all(f"`{name}`" in page for name in variables)


def test_what_trials_set_cannot_be_changed_by_a_caller() -> None:
    changed = dict(cray_variables(), MPICH_MPIIO_STATS="2")
    assert cray_variables()["MPICH_MPIIO_STATS"] == "1" != changed["MPICH_MPIIO_STATS"]
