# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what collectors give to sinks: metrics, readings, counters of jobs, problems.

Counters are given as they stand; growth is the sinks' to tell, each from what it delivered last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

# What can be reported: one metric, its labels and its unit.


class Kind(StrEnum):
    """How the values of a metric are to be read."""

    COUNTER = "counter"
    """Grows; begins again at zero when whoever counts is started again."""
    LEVEL = "level"
    """Goes up and down."""
    HISTOGRAM = "histogram"
    """Counters by upper bound."""


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: As in Prometheus, in base units, without "_total": "lustre_target_read_bytes".
        kind: How its values are to be read.
        unit: "bytes", "seconds", "operations", "share", ... in base units.
        summary: What it is, in one line.
        labels: Names; their values are bounded, and never job ids or paths.
        series: Under which name the statistics database keeps it (fleet.queries), per target and
            server; "": not kept there.
    """

    name: str
    kind: Kind
    unit: str
    summary: str
    labels: tuple[str, ...] = ()
    series: str = ""

    @property
    def prometheus_name(self) -> str:
        """Name in Prometheus: counters end in "_total"."""
        return f"{self.name}_total" if self.kind is Kind.COUNTER else self.name


class Histogram(NamedTuple):
    """A histogram's value.

    Attributes:
        counts: (upper bound, count of this bucket alone), ascending; the bound may be infinite.
        total: Sum of all observations; None: not told.
    """

    counts: tuple[tuple[float, int], ...]
    total: float | None = None


class Reading(NamedTuple):
    """One value of a metric.

    Attributes:
        metric: Which metric it is a value of.
        labels: Values, in the order of the metric's labels.
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


# What collectors give to sinks: readings, counters of jobs, problems.


class OperationCount(NamedTuple):
    """Counter of one kind of operation, as Lustre has it.

    Attributes:
        samples: How many.
        unit: Of the sum: "bytes", "usecs", "reqs"; "" if only samples are told.
        total: Sum; 0 where it is not told.
        sizes: (size, count) of a histogram, ascending; None: not told (before 2.15.53).
    """

    samples: int
    unit: str = ""
    total: int = 0
    sizes: tuple[tuple[int, int], ...] | None = None


class JobEntry(NamedTuple):
    """Counters of one job on one target.

    Attributes:
        tag: The job's id as Lustre has it, escapes resolved; at most 128 characters.
        snapshot_at: The target's clock when the entry was last changed or read; None: not told.
        start_at: When the entry began, by the target's clock; None: not told.
        operations: By Lustre's name: "read_bytes", "write", "open", ...; those without samples
            are left out.
        since / until: Of how many readings ago the counters were that were given before (1: those
            of the last one), and of how many ago these ones are.
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
        gone: Tags that were in the reading before and are no longer there: should they come
            again, their counters begin at zero.
        count: Entries in all.
        is_first: The reader knew of no reading before: all entries are in `changed`.
        is_settled: Whatever changed is in `changed`; else what jobs did that work all the time is
            given later.
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
    """What one collector found.

    Attributes:
        collector: Its name.
        at: When it began, in seconds since 1970.
        monotonic: The same by the clock that never steps.
        seconds: How long it took.
        readings: Of metrics.
        jobs: Of targets that have counters of jobs.
        problems: What was left out, a sentence each.
        reason: Why it failed: "missing", "denied", "slow", "malformed", "error"; "": it did not.
            A round that failed may hold what was read before.
    """

    collector: str
    at: float
    monotonic: float
    seconds: float = 0.0
    readings: tuple[Reading, ...] = ()
    jobs: tuple[TargetJobs, ...] = ()
    problems: tuple[str, ...] = field(default=())
    reason: str = ""
