# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What can be reported: one metric, its labels and its unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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
        kind: Of it.
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
        metric: Of which.
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
