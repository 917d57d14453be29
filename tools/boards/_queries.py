# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""PromQL from the table of metrics: a name or a label that is misspelt fails here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.centre.monitor import METRICS, Kind, Metric

ADDED = ("server", "job", "instance")
"""Labels that every series has: the sink's own, and those that Prometheus adds."""
RATE = "$__rate_interval"
"""Grafana's window for rates: it has at least four readings, however far one zooms."""
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
    """What the variables of a board narrow: "fs", "server", "target", those that it has."""

    variables: tuple[str, ...] = ()

    def series(self, metric: Metric, where: str = "") -> str:
        """Return the selector of a metric's series.

        Args:
            metric: Which.
            where: Further conditions, as in PromQL: 'target=~"OST.*"'.
        """
        _check(metric, _LABEL.findall(where))
        known = (*metric.labels, "server")
        narrowed = [f'{one}=~"${one}"' for one in self.variables if one in known]
        inside = ",".join([*narrowed, *([where] if where else [])])
        return name(metric) + (f"{{{inside}}}" if inside else "")

    def rate(self, metric: Metric, by: Sequence[str], where: str = "", window: str = RATE) -> str:
        """Return the growth of a counter a second, summed up by labels."""
        extra = ("le",) if metric.kind is Kind.HISTOGRAM else ()
        _check(metric, by)
        labels = ", ".join((*by, *extra))
        return f"sum by ({labels}) (rate({self.series(metric, where)}[{window}]))"

    def level(self, metric: Metric, by: Sequence[str], where: str = "", how: str = "sum") -> str:
        """Return a level by labels: "sum", "max", "min", "avg" or "count" of the series."""
        _check(metric, by)
        return f"{how} by ({', '.join(by)}) ({self.series(metric, where)})"

    def mean(
        self, total: Metric, count: Metric, by: Sequence[str], where: str = "",
        window: str = RATE,
    ) -> str:  # fmt: skip
        """Return a mean over what happened lately: growth of a sum by growth of a count.

        There is none where nothing happened.
        """
        above = self.rate(total, by, where, window)
        return f"{above} / ({self.rate(count, by, where, window)} > 0)"

    def quantile(self, share: float, metric: Metric, by: Sequence[str], where: str = "") -> str:
        """Return a quantile of what a histogram gained lately."""
        return f"histogram_quantile({share:g}, {self.rate(metric, by, where)})"


def counted(expression: str, of: str) -> str:
    """Return how many series an expression has; 0 only where there are series to look at.

    Args:
        expression: Whose series are counted.
        of: What it chose them from: without any there is no figure, rather than a zero.
    """
    return f"count({expression}) or count({of}) * 0"


def kinds(expression: str) -> str:
    """Return an expression with a label "kind", "OST" or "MDT", from its label "target"."""
    return f'label_replace({expression}, "kind", "$1", "target", "([A-Z]+).*")'


def _check(metric: Metric, labels: Sequence[str]) -> None:
    unknown = set(labels) - {*metric.labels, *ADDED}
    if unknown:
        raise ValueError(f"{metric.name}: has no label {', '.join(sorted(unknown))}")
