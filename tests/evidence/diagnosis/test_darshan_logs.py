# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is said of logs that come with PyDarshan."""

from pathlib import Path

import pytest

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.readers import read_evidence

LOGS = Path(pytest.importorskip("darshan").__file__).parent / "examples/example_logs"


def told(name):
    path = LOGS / name
    if not path.exists():
        pytest.skip(f"this PyDarshan has no {name}")
    return diagnose(read_evidence(path))


def test_the_storage_target_that_slows_a_file_per_process_run_is_named():
    diagnosis = told("sample-badost.darshan")
    (found,) = diagnosis.findings
    assert found.code == "imbalance"
    assert found.evidence["storage_target"] == 14
    assert found.evidence["slow_files"] == 80
    assert found.cost_seconds is None
    assert found.stake_seconds - found.evidence["mean_seconds"] == pytest.approx(744, abs=2)


def test_a_large_balanced_run_has_at_most_remarks_and_darshans_own_hints_are_none():
    diagnosis = told("example.darshan")
    assert all(found.cost_seconds is None for found in diagnosis.findings)
    assert all(found.code != "idle-hints" for found in diagnosis.findings)
    assert all(not row.hints.requested for row in diagnosis.files)
