# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign that fills its file system: recorded, named, and all that it made removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.bench.campaign import Campaign, parse_suite
from stripewise.bench.running import CampaignOptions, run_campaign
from stripewise.bench.running._places import Places
from stripewise.run.runtime import find_runtime
from support.small_disk import small_file_system

pytestmark = pytest.mark.mpi

SUITE = """
version = 1
name = "fills"
title = "Cases that fit and cases that do not"
repeats = 2

[all]
layout = "per-process"
ranks_per_node = 2

[[case]]
series = "fits"
rank_size = "2 MiB"

[[case]]
series = "does not"
rank_size = "24 MiB"

[[case]]
series = "shared"
layout = "shared"
backend = "mpiio"
mode = "collective"
rank_size = "2 MiB"
"""


def run_in(place: Path, home: Path) -> Campaign:
    if not find_runtime().kernels:
        pytest.fail("no kernel is built: install an MPI, then `stripewise doctor build`")
    suite = parse_suite(SUITE, "fills.toml")
    return run_campaign(CampaignOptions(suite, home / "fills.campaign", place))


def statuses(campaign: Campaign) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for case, runs in campaign.of_cases():
        found[case.series] = {run.status for run in runs}
    return found


@pytest.mark.extended
@pytest.mark.parametrize("told", [True, False], ids=["told-before", "found-out"])
def test_a_full_file_system_is_named_and_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    if not told:  # as where a quota is smaller than the file system
        monkeypatch.setattr(Places, "free_bytes", lambda places: 1 << 40)
    with small_file_system(tmp_path / "small", "20m") as place:
        (place / "precious").write_text("theirs")
        campaign = run_in(place, tmp_path)
        assert statuses(campaign) == {"fits": {"ok"}, "does not": {"no-space"}, "shared": {"ok"}}
        why = {run.message for run in campaign.runs if run.status == "no-space"}
        words = "are free in" if told else "No space left on device"
        assert all(words in one for one in why), why
        assert [path.name for path in place.iterdir()] == ["precious"]
    assert campaign.ended_because == "all runs are made"
