# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The slow target is named by its number, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.bench import CaseRun
from stripewise.bench.campaign import Campaign
from stripewise.bench.comparison import changed_targets, compare, slow_targets
from support.campaigns import made_campaign, target_campaign, usual_cases, usual_rate

SEEDS = range(40)


@pytest.mark.parametrize("per_file", [False, True])
def test_a_slow_target_is_found_within_a_campaign(per_file: bool) -> None:
    named = [
        {one.target for one in slow_targets(target_campaign(seed, {5: 0.1}, per_file=per_file))}
        for seed in SEEDS
    ]
    assert named.count({5}) >= 36


@pytest.mark.parametrize("per_file", [False, True])
def test_no_target_is_named_where_all_are_alike(per_file: bool) -> None:
    alarms = [bool(slow_targets(target_campaign(seed, per_file=per_file))) for seed in SEEDS]
    assert sum(alarms) <= 5


def test_a_regression_of_one_target_is_found_by_comparison() -> None:
    named = []
    for seed in SEEDS[:20]:
        before, after = target_campaign(2 * seed), target_campaign(2 * seed + 1, {5: 0.1})
        found = compare([before, after]).changed[1]
        named.append({one.target for one in found})
    assert named.count({5}) >= 18
    (last,) = found
    assert last.low < 0.9 < last.high < 1
    assert last.sentence.startswith("write on target 5 is 12 % [")


def test_nothing_changed_is_said_to_have_changed() -> None:
    lasting = {2: 0.15}  # a target that was slow before is no news
    alarms = [
        bool(
            changed_targets(
                target_campaign(2 * one, lasting), target_campaign(2 * one + 1, lasting)
            )
        )
        for one in SEEDS
    ]
    assert sum(alarms) <= 5


def test_two_slow_targets_are_both_found() -> None:
    found = slow_targets(target_campaign(3, {1: 0.3, 6: 0.2}, repeats=10))
    assert {one.target for one in found} == {1, 6}


def test_campaigns_that_know_no_targets_say_nothing() -> None:
    one = made_campaign(usual_cases(), usual_rate)
    assert slow_targets(one) == changed_targets(one, one) == ()


@pytest.mark.parametrize("given", ["3", 3, None, [True], ["a"], [[1], "x"], {"a": 1}])
def test_layouts_of_any_form_are_survived(given: object) -> None:
    one = target_campaign(1)
    runs = tuple(replace(run, layout={"targets": given, "by_file": given}) for run in one.runs)
    slow_targets(Campaign("c", one.suite, runs))


def test_files_of_any_form_are_survived() -> None:
    one = target_campaign(1)
    files = [{}, {"targets": [1]}, {"targets": [1], "bytes_per_second": -1}, 3]
    run = CaseRun(one.suite.cases[0].key, 99, "ok", layout={"by_file": files})
    assert slow_targets(Campaign("c", one.suite, (*one.runs, run))) == slow_targets(one)
