# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One round without an agent, where there is nothing to read."""

from __future__ import annotations

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor.agent import read_once
from stripewise.centre.monitor.agent._agent import Chosen
from stripewise.centre.monitor.collectors import create_collector
from support.monitor_host import FakeHost


def test_a_collector_that_finds_nothing_says_so_and_is_not_well() -> None:
    mounts = {"/proc/self/mountstats": "", "/proc/self/mountinfo": ""}
    chosen = [Chosen(create_collector("nfs"), True)]
    found, report = read_once(chosen, FakeHost(files=mounts), ["nfs"])
    assert found.reason == "missing"
    assert "no NFS file system is mounted" in found.problems[0]
    ok = [one.value for one in report.readings if one.metric is metrics.COLLECTOR_OK]
    assert ok == [0.0]


def test_an_automatic_collector_that_finds_nothing_is_left_out() -> None:
    mounts = {"/proc/self/mountstats": "", "/proc/self/mountinfo": ""}
    (report,) = read_once([Chosen(create_collector("nfs"), True)], FakeHost(files=mounts))
    assert report.collector == "monitor"
