# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign on emulated storage with one slow target names it by its number."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from stripewise.bench.campaign import figures_of, parse_suite
from stripewise.bench.report import campaign_lines
from stripewise.bench.running import CampaignOptions, run_campaign
from stripewise.run.runtime import find_runtime
from stripewise.storage.emulation import EmulationOptions

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(300)]

SUITE = """
version = 1
name = "targets"
title = "A file on one target, on another one in each run"
repeats = 20

[directories]
one = { stripe_count = 1 }

[all]
directory = "one"
rank_size = "16 MiB"
nodes = 3

[[case]]
series = "shared"
"""


def figure(name: str, value: float) -> str:
    return f'{name} = {{ value = {value}, kind = "assumed", source = "test" }}'


def slow_archer(path: Path, target: int) -> Path:
    """Write a description of ARCHER with five targets, one of which has 60 % of its speed."""
    text = (files("stripewise.storage.machines") / "presets" / "archer.toml").read_text(
        encoding="utf-8"
    )
    said = [figure("targets", 5), figure("slow_share", 0.6), figure("slow_target", target)]
    text = re.sub(r"(?m)^targets = .*$", "\n".join(said), text)
    text = re.sub(r"(?m)^jitter = .*\n", "", text)
    text = re.sub(r"(?m)^name = .*$", 'name = "slow"', text)
    path.write_text(text)
    return path


@pytest.mark.extended
@pytest.mark.parametrize("target", [0, 3])
def test_a_slow_target_is_named_by_its_number(tmp_path: Path, target: int) -> None:
    if not find_runtime().kernels:
        pytest.fail("no kernel is built: install an MPI, then `stripewise doctor build`")
    machine = slow_archer(tmp_path / "slow.toml", target)
    options = CampaignOptions(
        parse_suite(SUITE, "targets.toml"),
        tmp_path / "targets.campaign",
        tmp_path,
        storage=EmulationOptions(f"{machine}@1/16"),
        rank_bytes=8 << 20,
    )
    campaign = run_campaign(options)
    seen = {run.layout["targets"][0] for run in campaign.runs if run.status == "ok"}
    assert seen == set(range(5))
    lines = "\n".join(campaign_lines(campaign, figures_of(campaign)))
    found = re.findall(r"Target (\d+) is slow: files on it reach ([\d.]+) %", lines)
    assert [int(number) for number, _ in found] == [target], lines
    assert float(found[0][1]) == pytest.approx(60, abs=8)
