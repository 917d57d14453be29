# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The campaign of every night ends within its budget, and keeps what it measured."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stripewise.bench.campaign import find_suite
from stripewise.bench.running import CampaignOptions, run_campaign
from stripewise.run.runtime import find_runtime
from stripewise.storage.emulation import EmulationOptions

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(300)]

BUDGET_SECONDS = 20.0
TO_END_SECONDS = 60.0
"""To end the run in flight and to remove its files."""


@pytest.mark.extended
def test_a_night_ends_within_its_budget(tmp_path: Path) -> None:
    runtime = find_runtime()
    if not runtime.kernels or not runtime.metadata_programs:
        pytest.fail("no kernel is built: install an MPI, then `stripewise doctor build`")
    suite = find_suite("nightly").shortened()
    assert len(find_suite("nightly").cases) == 10
    options = CampaignOptions(
        suite,
        tmp_path / "nightly.campaign",
        tmp_path,
        storage=EmulationOptions("archer2-hdd@1/64"),
        budget_seconds=BUDGET_SECONDS,
    )
    begun = time.monotonic()
    campaign = run_campaign(options)
    assert time.monotonic() - begun < BUDGET_SECONDS + TO_END_SECONDS
    assert campaign.ended_because in ("the budget of 20 s is used up", "all runs are made")
    assert campaign.runs
    keys = [(run.key, run.repeat) for run in campaign.runs]
    assert len(set(keys)) == len(keys)
    assert [path.name for path in tmp_path.iterdir()] == ["nightly.campaign"]
