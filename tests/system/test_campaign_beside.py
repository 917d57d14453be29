# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two workloads at once, each alone and beside the other, on emulated storage in slow motion."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.bench.campaign import figures_of, find_suite
from stripewise.bench.running import CampaignOptions, run_campaign
from stripewise.run.runtime import find_runtime
from stripewise.storage.emulation import EmulationOptions

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(300)]


@pytest.mark.extended
def test_each_workload_alone_and_beside_the_other(tmp_path: Path) -> None:
    if not find_runtime().kernels:
        pytest.fail("no kernel is built: install an MPI, then `stripewise doctor build`")
    options = CampaignOptions(
        find_suite("mixed").shortened().narrowed(repeats=1),
        tmp_path / "mixed.campaign",
        tmp_path,
        storage=EmulationOptions("archer2-hdd@1/64"),
    )
    campaign = run_campaign(options)
    assert campaign.ended_because == "all runs are made"
    assert {run.status for run in campaign.runs} == {"ok"}
    rates = {one.case.series: one.median for one in figures_of(campaign)}
    assert set(rates) == set(campaign.suite.series)
    for case, (run,) in campaign.of_cases():
        assert ("beside" in run.circumstances) == bool(case.beside)
        if case.beside:  # of the other one, told at full speed as all rates are
            seen, other = run.circumstances["beside"], campaign.suite.beside(case)
            assert other is not None
            assert ("create" in seen) == (other.runner == "metadata")
            if other.runner == "kernel":
                assert seen["write"] == pytest.approx(rates[case.beside], rel=0.5)
            shares = run.circumstances["beside_share"]
            assert all(0 <= share <= 1 for share in shares.values())
            assert max(shares.values()) > 0
    assert not list(tmp_path.glob("*.campaign.files/*/*"))
