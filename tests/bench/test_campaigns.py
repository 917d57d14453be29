# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns in the model: made once, gone on with, within their budgets."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stripewise.bench import CaseRun
from stripewise.bench.campaign import Campaign, find_suite, parse_suite
from stripewise.bench.running import (
    CampaignObserver,
    CampaignOptions,
    read_directory,
    run_campaign,
)
from stripewise.core.errors import StripewiseError, StudyError, UsageError
from stripewise.storage.emulation import EmulationOptions

SUITE = """
version = 1
name = "small"
title = "Small"
repeats = 3

[directories]
one = { stripe_count = 1 }
all = { stripe_count = -1 }

[all]
rank_size = "64 MiB"
directory = ["one", "all"]
nodes = [1, 2, 4]
ranks_per_node = 4

[[case]]
series = "file per process"
layout = "per-process"

[[case]]
series = "MPI-IO"
backend = "mpiio"
mode = "collective"
"""
ALL = 2 * 2 * 3 * 3


class Stops(CampaignObserver):
    """Interrupts after so many runs; keeps what it is told."""

    def __init__(self, after: int = 10**9) -> None:
        self.after, self.runs, self.notes = after, list[CaseRun](), list[str]()

    def recorded(self, run: CaseRun) -> None:
        self.runs.append(run)
        if len(self.runs) == self.after:
            raise KeyboardInterrupt

    def noted(self, text: str) -> None:
        self.notes.append(text)


def options(place: Path, text: str = SUITE, **given: Any) -> CampaignOptions:
    made = CampaignOptions(
        parse_suite(text, "small.toml"),
        place / "small.campaign",
        place,
        launcher="simulated",
        storage=EmulationOptions("archer2-hdd", noise=True),
    )
    return replace(made, **given)


def identities(campaign: Campaign) -> Counter[tuple[str, int]]:
    return Counter((run.key, run.repeat) for run in campaign.runs)


def test_every_run_is_made_once_in_rounds(tmp_path: Path) -> None:
    campaign = run_campaign(options(tmp_path))
    assert campaign.ended_because == "all runs are made"
    assert len(campaign.runs) == ALL
    assert set(identities(campaign).values()) == {1}
    assert [run.repeat for run in campaign.runs] == sorted(run.repeat for run in campaign.runs)
    first = [run.key for run in campaign.runs if run.repeat == 1]
    second = [run.key for run in campaign.runs if run.repeat == 2]
    assert first != second
    assert sorted(first) == sorted(second)
    assert campaign == read_directory(tmp_path / "small.campaign")


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    one = run_campaign(options(tmp_path, directory=tmp_path / "a.campaign"))
    two = run_campaign(options(tmp_path, directory=tmp_path / "b.campaign"))
    other = run_campaign(options(tmp_path, directory=tmp_path / "c.campaign", seed=5))
    assert [run.samples for run in one.runs] == [run.samples for run in two.runs]
    assert sorted(run.samples[0].rate for run in one.runs) != sorted(
        run.samples[0].rate for run in other.runs
    )


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("after", [1, 7, ALL - 1])
def test_an_interrupted_campaign_goes_on(tmp_path: Path, after: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_campaign(options(tmp_path), Stops(after))
    assert len(read_directory(tmp_path / "small.campaign").runs) == after
    rest = Stops()
    campaign = run_campaign(options(tmp_path, resume=True), rest)
    assert len(rest.runs) == ALL - after
    assert set(identities(campaign).values()) == {1}
    whole = run_campaign(options(tmp_path, directory=tmp_path / "whole.campaign"))
    assert [run.samples for run in campaign.runs] == [run.samples for run in whole.runs]


def test_a_budget_of_bytes_ends_a_campaign_before_it_is_exceeded(tmp_path: Path) -> None:
    budget = 6 << 30
    campaign = run_campaign(options(tmp_path, budget_bytes=budget))
    assert campaign.ended_because == "the budget of 6 GiB to write is used up"
    written = sum(run.written_bytes for run in campaign.runs)
    assert budget - (1 << 30) < written <= budget
    done = run_campaign(options(tmp_path, resume=True))
    assert done.ended_because == "all runs are made"
    assert set(identities(done).values()) == {1}


def test_budgets_of_time_and_node_hours(tmp_path: Path) -> None:
    none = run_campaign(options(tmp_path, budget_seconds=0.0))
    assert none.ended_because == "the budget of 0 s is used up"
    assert not none.runs
    some = run_campaign(options(tmp_path, budget_node_seconds=3.6, resume=True))
    assert some.ended_because == "the budget of 0.001 node-hours is used up"
    assert 0 < len(some.runs) < ALL
    expected = max(run.node_seconds for run in some.runs)
    assert sum(run.node_seconds for run in some.runs) < 3.6 + expected


@pytest.mark.extended
def test_a_campaign_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    run_campaign(options(tmp_path))
    with pytest.raises(StudyError, match="continue with --resume, start over with --force"):
        run_campaign(options(tmp_path))
    assert len(read_directory(tmp_path / "small.campaign").runs) == ALL
    run_campaign(options(tmp_path, force=True, budget_bytes=1 << 30))
    assert len(read_directory(tmp_path / "small.1.campaign").runs) == ALL
    assert len(read_directory(tmp_path / "small.campaign").runs) < ALL


def test_resume_needs_a_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no campaign to continue"):
        run_campaign(options(tmp_path, resume=True))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.extended
def test_a_campaign_goes_on_with_its_own_suite_alone(tmp_path: Path) -> None:
    run_campaign(options(tmp_path, budget_node_seconds=3.6))
    other = replace(options(tmp_path, resume=True), suite=find_suite("limits"))
    with pytest.raises(UsageError, match="not of limits: leave the suite out"):
        run_campaign(other)
    assert run_campaign(options(tmp_path, resume=True)).ended_because == "all runs are made"


@pytest.mark.extended
def test_a_torn_last_record_is_dropped_and_its_run_made_again(tmp_path: Path) -> None:
    run_campaign(options(tmp_path, budget_bytes=6 << 30))
    journal = tmp_path / "small.campaign" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = next(i for i in range(len(lines) - 3, 0, -1) if b'"run-finished"' in lines[i])
    journal.write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
    campaign = run_campaign(options(tmp_path, resume=True))
    assert len(campaign.runs) == ALL
    assert set(identities(campaign).values()) == {1}


@pytest.mark.extended
def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path) -> None:
    run_campaign(options(tmp_path))
    journal = tmp_path / "small.campaign" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], *lines[5:]]))
    for attempt in (lambda: read_directory(journal.parent),
                    lambda: run_campaign(options(tmp_path, resume=True))):  # fmt: skip
        with pytest.raises(StudyError, match="damaged in line 5"):
            attempt()


def test_a_campaign_of_another_version_is_refused(tmp_path: Path) -> None:
    run_campaign(options(tmp_path))
    journal = tmp_path / "small.campaign" / "journal.jsonl"
    lines = journal.read_text().splitlines()
    record = json.loads(lines[0])["record"]
    from stripewise.core import encoded

    line, _ = encoded({**record, "version": 9}, 0)
    journal.write_bytes(line)
    with pytest.raises(StudyError, match="is a campaign of version 9"):
        read_directory(journal.parent)


# ---- what can be run here ----------------------------------------------------------------------


def test_more_nodes_than_there_are(tmp_path: Path) -> None:
    here = options(tmp_path, launcher="local", storage=None)
    suite = here.suite.narrowed(nodes=[1, 64])
    with pytest.raises(UsageError, match=r"--nodes 64: this host is one node.*at most 1"):
        run_campaign(replace(here, suite=suite, nodes_named=True))
    large = options(tmp_path, suite=here.suite.narrowed(nodes=[6000]), nodes_named=True)
    with pytest.raises(UsageError, match="archer2-hdd has 5860 nodes; give at most 5860"):
        run_campaign(large)
    told = Stops()
    mixed = options(tmp_path, suite=here.suite.narrowed(nodes=[4, 6000]))
    campaign = run_campaign(mixed, told)
    assert {case.nodes for case in campaign.suite.cases} == {4}
    assert any("4 cases of 6000 nodes left out" in note for note in told.notes)


def test_more_stripes_than_targets(tmp_path: Path) -> None:
    text = SUITE.replace("stripe_count = 1 }", "stripe_count = 13 }")
    with pytest.raises(UsageError, match="asks for 13 stripes, and the storage has 12 targets"):
        run_campaign(options(tmp_path, text))


def test_a_launcher_that_does_not_fit(tmp_path: Path) -> None:
    for given, words in (
        ({"launcher": "pbs"}, "there is no launcher 'pbs': give one of local, slurm, simulated"),
        ({"launcher": "simulated", "storage": None}, "give --on MACHINE"),
        ({"launcher": "slurm"}, "jobs cannot run on emulated storage"),
        ({"inside": tmp_path / "gone"}, "there is no such directory"),
    ):
        with pytest.raises(UsageError, match=words):
            run_campaign(options(tmp_path, **given))
        assert not (tmp_path / "small.campaign").exists()


def test_errors_before_the_first_run_leave_nothing(tmp_path: Path) -> None:
    text = SUITE.replace("ranks_per_node = 4", "ranks_per_node = 1000")
    with pytest.raises(StripewiseError, match="ranks-per-node"):
        run_campaign(options(tmp_path, text))
    assert list(tmp_path.iterdir()) == []
