# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of jobs on the targets of a server: job_stats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import JobEntry, TargetJobs
from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lctl import Parameters, problem_of
from stripewise.monitor.collectors._lustre_stats import told
from stripewise.monitor.metrics import Reading, lustre
from stripewise.monitor.texts.lustre import TargetName, parse_count, parse_target

JOB_PATTERNS = (
    *("obdfilter.*.job_stats", "mdt.*.job_stats"),
    *("obdfilter.*.job_cleanup_interval", "mdt.*.job_cleanup_interval"),
)
_LEAST_ENTRIES = 1000


def lost_jobs(values: Mapping[str, str], interval_seconds: float) -> Iterator[Problem]:
    """Say that jobs may disappear between two readings, with what they did since the first."""
    for name, text in values.items():
        if not name.endswith(".job_cleanup_interval"):
            continue
        seconds = parse_count(text)
        if seconds and seconds < 2 * interval_seconds:  # 0: they stay
            yield Problem(
                f"{name} is {seconds} s, and jobs are read every {interval_seconds:g} s: what "
                f"jobs do last may be missed; set job_interval_seconds to {seconds / 2:g} or less"
            )
            return


class JobsFound(Protocol):
    """What a reader found in one text."""

    @property
    def changed(self) -> tuple[JobEntry, ...]: ...
    @property
    def gone(self) -> tuple[str, ...]: ...
    @property
    def count(self) -> int: ...
    @property
    def is_first(self) -> bool: ...
    @property
    def is_settled(self) -> bool: ...
    @property
    def problems(self) -> tuple[str, ...]: ...


class JobsReader(Protocol):
    """Reads the texts of one target, and remembers what was there."""

    def read(self, pieces: Iterable[bytes], *, is_settled: bool) -> JobsFound:
        """Read a text; an error of the pieces loses nothing of what is remembered."""


class Jobs:
    """One reader for each target, for as long as the agent runs.

    Each text is asked by itself: job ids are chosen by users, and what is alone cannot pretend to
    be another parameter; besides, a text may be far larger than memory allows.

    Attributes:
        settled_each: Of so many readings one gives all that jobs did, others only what those did
            that began or paused.
    """

    def __init__(self, most_jobs: int, timeout_seconds: float) -> None:
        """Remember about so many jobs, shared by the targets."""
        self.settled_each = 1
        self._unsettled = 0
        self._most_jobs = most_jobs
        self._timeout_seconds = timeout_seconds
        self._readers: dict[TargetName, JobsReader] = {}

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | TargetJobs | Problem]:
        """Read the jobs of all targets, one after the other.

        Raises:
            HostError: `lctl` takes too long: it would for the others, too.
        """
        self._unsettled += 1
        is_settled = self._unsettled >= self.settled_each
        if is_settled:
            self._unsettled = 0
        for name in names:
            target = parse_target(name.split(".")[1])
            if target is None:
                continue
            if target not in self._readers:
                self._readers[target] = self._reader(len(names))
            try:
                pieces = parameters.pieces(host, name, self._timeout_seconds)
                found = self._readers[target].read(pieces, is_settled=is_settled)
            except HostError as error:
                if error.reason == "slow":
                    raise HostError("slow", f"{name}: {error}") from error
                yield problem_of(name, error)
                continue
            yield from told(name, found.problems)
            yield TargetJobs(
                *target, found.changed, found.gone, found.count, found.is_first, found.is_settled
            )
            yield Reading(lustre.JOBS, tuple(target), found.count)

    def _reader(self, targets: int) -> JobsReader:
        module = import_module("stripewise.monitor.texts.lustre")
        most = max(_LEAST_ENTRIES, self._most_jobs // max(1, targets))
        return cast("JobsReader", module.JobStatsReader(most_entries=most))
