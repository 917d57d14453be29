# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The list of faults in C fits the sources as they are."""

from __future__ import annotations

import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def test_each_fault_can_be_made_and_shown() -> None:
    faults = tomllib.loads((TOP / "tools/mutation/native.toml").read_text())["fault"]
    assert len(faults) > 10
    for fault in faults:
        assert (TOP / fault["path"]).read_text().count(fault["old"]) == 1, fault
        assert fault["old"] != fault["new"]
        assert all((TOP / place).exists() for place in fault["tests"]), fault
