# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds PromQL from the table of metrics, so that a misspelt name or label is an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.centre.monitor import METRICS, Kind, Metric

ADDED = ("server", "job", "instance")
"""Labels that every series has: those of the sink, and those that Prometheus adds."""
RATE = "$__rate_interval"
"""Grafana's window for rates, which covers at least four readings at any zoom level."""
_LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_SUFFIXES = {Kind.COUNTER: "_total", Kind.LEVEL: "", Kind.HISTOGRAM: "_bucket"}


def name(metric: Metric) -> str:
    """Return the name of a metric in Prometheus.

    Raises:
        ValueError: The agent reports no such metric.
    """
    if metric not in METRICS:
        raise ValueError(f"{metric.name}: not a metric of stripewise.centre.monitor.METRICS")
    return metric.name + _SUFFIXES[metric.kind]


@dataclass(frozen=True)
class Scope:
    """Labels that the variables of a board restrict: of "fs", "server", "target"."""

    variables: tuple[str, ...] = ()

    def series(self, metric: Metric, where: str = "") -> str:
        """Return the selector of a metric's series.

        Args:
            metric: Name of the metric.
            where: Further conditions, as in PromQL: 'target=~"OST.*"'.
        """
        _check(metric, _LABEL.findall(where))
        known = (*metric.labels, "server")
        narrowed = [f'{one}=~"${one}"' for one in self.variables if one in known]
        inside = ",".join([*narrowed, *([where] if where else [])])
        return name(metric) + (f"{{{inside}}}" if inside else "")

    def rate(self, metric: Metric, by: Sequence[str], where: str = "", window: str = RATE) -> str:
        """Return the growth of a counter per second, summed by labels."""
        extra = ("le",) if metric.kind is Kind.HISTOGRAM else ()
        _check(metric, by)
        labels = ", ".join((*by, *extra))
        return f"sum by ({labels}) (rate({self.series(metric, where)}[{window}]))"

    def level(self, metric: Metric, by: Sequence[str], where: str = "", how: str = "sum") -> str:
        """Return a level by labels, as "sum", "max", "min", "avg" or "count" of the series."""
        _check(metric, by)
        return f"{how} by ({', '.join(by)}) ({self.series(metric, where)})"

    def mean(
        self, total: Metric, count: Metric, by: Sequence[str], where: str = "",
        window: str = RATE,
    ) -> str:  # fmt: skip
        """Return a mean over recent events: growth of a sum divided by growth of a count.

        There is no value if there were no events.
        """
        above = self.rate(total, by, where, window)
        return f"{above} / ({self.rate(count, by, where, window)} > 0)"

    def quantile(self, share: float, metric: Metric, by: Sequence[str], where: str = "") -> str:
        """Return a quantile of a histogram's recent growth."""
        return f"histogram_quantile({share:g}, {self.rate(metric, by, where)})"


def counted(expression: str, of: str) -> str:
    """Return the number of series of an expression; 0 only if there are series to select from.

    Args:
        expression: Expression whose series are counted.
        of: Expression of all series; without any there is no value instead of 0.
    """
    return f"count({expression}) or count({of}) * 0"


def kinds(expression: str) -> str:
    """Return an expression with a label "kind", "OST" or "MDT", from its label "target"."""
    return f'label_replace({expression}, "kind", "$1", "target", "([A-Z]+).*")'


def _check(metric: Metric, labels: Sequence[str]) -> None:
    unknown = set(labels) - {*metric.labels, *ADDED}
    if unknown:
        raise ValueError(f"{metric.name}: has no label {', '.join(sorted(unknown))}")
