# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Servers of Lustre with known counters, in the texts of five versions; a reader of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stripewise.centre.monitor import Metric, Reading
from stripewise.centre.monitor._host import HostError
from stripewise.centre.monitor._records import JobEntry, TargetJobs
from stripewise.centre.monitor.collectors import Problem
from stripewise.centre.monitor.collectors._base import Collector
from support.monitor_host import FakeHost, Parameters, tree

DIRECTORY = Path(__file__).parent.parent / "centre/monitor" / "data" / "lustre"
VERSIONS = {
    "2.12.9": "scratch", "2.14.0": "lustre", "2.15.5": "home-a", "2.16.1": "work",
    "2.17.0": "data",
}  # fmt: skip
"""Name of the file system by version."""


def parameters(version: str = "2.15.5") -> Parameters:
    return tree(DIRECTORY / version)


def server(version: str = "2.15.5") -> FakeHost:
    return FakeHost(parameters(version))


@dataclass
class Found:
    """What one round gave."""

    readings: list[Reading]
    jobs: list[TargetJobs]
    problems: list[Problem]
    error: HostError | None = None

    def value(self, metric: Metric, *labels: str) -> object:
        """The one value of a metric with these labels; None: there is none."""
        found = [each.value for each in self.readings if each[:2] == (metric, labels)]
        assert len(found) < 2, f"{metric.name} {labels} is there {len(found)} times"
        return found[0] if found else None

    def of(self, metric: Metric) -> dict[tuple[str, ...], object]:
        return {each.labels: each.value for each in self.readings if each.metric is metric}

    def told(self) -> list[str]:
        return [problem.text for problem in self.problems]


def one_round(collector: Collector, host: FakeHost) -> Found:
    found = Found([], [], [])
    try:
        for each in collector.collect(host):
            if isinstance(each, Reading):
                found.readings.append(each)
            elif isinstance(each, TargetJobs):
                found.jobs.append(each)
            else:
                found.problems.append(each)
    except HostError as error:
        found.error = error
    keys = [each[:2] for each in found.readings]
    assert len(set(keys)) == len(keys), "a reading is there twice"
    for each in found.readings:
        assert each.metric in collector.metrics
        assert len(each.labels) == len(each.metric.labels)
    return found


@dataclass(frozen=True)
class JobsOfOneRound:
    changed: tuple[JobEntry, ...] = ()
    gone: tuple[str, ...] = ()
    count: int = 0
    is_first: bool = False
    is_settled: bool = True
    problems: tuple[str, ...] = ()


class SmallJobsReader:
    """Stands for the reader of job_stats: finds ids, and no counters."""

    def __init__(self, most_entries: int = 0) -> None:
        self.most_entries = most_entries
        self.before: tuple[str, ...] | None = None

    def read(self, pieces: Iterable[bytes], *, is_settled: bool = True) -> JobsOfOneRound:
        text = b"".join(pieces).decode()
        tags = tuple(re.findall(r"^- job_id: +(.+)$", text, re.MULTILINE))
        gone = tuple(tag for tag in self.before or () if tag not in tags)
        is_first, self.before = self.before is None, tags
        entries = tuple(JobEntry(tag, None, None, {}) for tag in tags)
        return JobsOfOneRound(entries, gone, len(tags), is_first, is_settled)
