# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what collectors give to sinks: metrics, readings, counters of jobs, problems.

Counters are passed on unchanged; each sink computes the growth since its last delivery.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

# Metrics that can be reported, with their labels and units.


class Kind(StrEnum):
    """How the values of a metric are to be interpreted."""

    COUNTER = "counter"
    """Value that grows, and begins again at zero when the counting side is restarted."""
    LEVEL = "level"
    """Value that rises and falls."""
    HISTOGRAM = "histogram"
    """Counters by upper bound."""


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: Name as in Prometheus, in base units, without "_total": "lustre_target_read_bytes".
        kind: How its values are to be interpreted.
        unit: Base unit, such as "bytes", "seconds", "operations" or "share".
        summary: Description in one line.
        labels: Names of labels, whose values are bounded and never job ids or paths.
        series: Name under which the statistics database stores it per target and server
            (fleet.queries); "" if it does not.
    """

    name: str
    kind: Kind
    unit: str
    summary: str
    labels: tuple[str, ...] = ()
    series: str = ""

    @property
    def prometheus_name(self) -> str:
        """Name in Prometheus; names of counters end in "_total"."""
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name


class Histogram(NamedTuple):
    """Value of a histogram.

    Attributes:
        counts: (upper bound, count of only this bucket), ascending; the bound may be infinite.
        total: Sum of all observations; None if not reported.
    """

    counts: tuple[tuple[float, int], ...]
    total: float | None = None


class Reading(NamedTuple):
    """One value of a metric.

    Attributes:
        metric: Which metric it is a value of.
        labels: Values in the order of the metric's labels.
        value: A number, or a histogram.
    """

    metric: Metric
    labels: tuple[str, ...]
    value: float | Histogram


def counter(
    name: str, unit: str, summary: str, labels: Sequence[str] = (), series: str = ""
) -> Metric:
    """Return a counter."""
    return Metric(name, Kind.COUNTER, unit, summary, tuple(labels), series)


def level(
    name: str, unit: str, summary: str, labels: Sequence[str] = (), series: str = ""
) -> Metric:
    """Return a level."""
    return Metric(name, Kind.LEVEL, unit, summary, tuple(labels), series)


def histogram(name: str, unit: str, summary: str, labels: Sequence[str] = ()) -> Metric:
    """Return a histogram."""
    return Metric(name, Kind.HISTOGRAM, unit, summary, tuple(labels))


# Data that collectors give to sinks: readings, counters of jobs, problems.


class OperationCount(NamedTuple):
    """Counter of one kind of operation, as Lustre reports it.

    Attributes:
        samples: Number of samples.
        unit: Unit of the sum: "bytes", "usecs", "reqs"; "" if only samples are reported.
        total: Sum; 0 if not reported.
        sizes: (size, count) of a histogram, ascending; None if not reported (before 2.15.53).
    """

    samples: int
    unit: str = ""
    total: int = 0
    sizes: tuple[tuple[int, int], ...] | None = None


class JobEntry(NamedTuple):
    """Counters of one job on one target.

    Attributes:
        tag: Id of the job as Lustre reports it, without escapes; at most 128 characters.
        snapshot_at: Time of the last change or reading, by the target's clock; None if not
            reported.
        start_at: Start of the entry, by the target's clock; None if not reported.
        operations: Counters by Lustre's name: "read_bytes", "write", "open", ...; those without
            samples are left out.
        since / until: Age, in readings, of the counters that were given before (1 for those of the
            last reading), and of these counters.
    """

    tag: str
    snapshot_at: int | None
    start_at: int | None
    operations: Mapping[str, OperationCount]
    since: int = 1
    until: int = 0


@dataclass(frozen=True)
class TargetJobs:
    """Jobs of one target in one reading.

    Attributes:
        fs / target: Where the jobs were counted.
        changed: Entries with counters that were not given before.
        gone: Tags that were in the reading before and are not any more; if they come back, their
            counters begin at zero.
        count: Total number of entries.
        is_first: Whether there is no reading before; then all entries are in `changed`.
        is_settled: Whether `changed` has everything that changed; otherwise, the changes of jobs
            that work continuously follow later.
    """

    fs: str
    target: str
    changed: tuple[JobEntry, ...] = ()
    gone: tuple[str, ...] = ()
    count: int = 0
    is_first: bool = False
    is_settled: bool = True


@dataclass(frozen=True)
class Round:
    """Result of one collector's round.

    Attributes:
        collector: Name of the collector.
        at: Start of the round, in seconds since 1970.
        monotonic: Start of the round by the monotonic clock.
        seconds: Duration of the round.
        readings: Readings of metrics.
        jobs: Jobs of the targets that have counters of jobs.
        problems: What was left out, one sentence each.
        reason: Why the round failed: "missing", "denied", "slow", "malformed" or "error"; "" if it
            did not. A failed round may contain what was read before.
    """

    collector: str
    at: float
    monotonic: float
    seconds: float = 0.0
    readings: tuple[Reading, ...] = ()
    jobs: tuple[TargetJobs, ...] = ()
    problems: tuple[str, ...] = field(default=())
    reason: str = ""
