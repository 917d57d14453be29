# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules that the metrics of plug-ins meet, as ours do: base units, and labels that are bounded."""

from __future__ import annotations

import re
from collections.abc import Collection

from stripewise.monitor.metrics._base import Metric

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENDINGS = ("_total", "_bucket", "_sum", "_count", "_created", "_gsum", "_gcount")
"""Prometheus and OpenMetrics add these.  Source: OpenMetrics 1.0, reserved suffixes."""
_SCALED = frozenset(
    "ns us usecs ms msecs milliseconds microseconds nanoseconds minutes hours days jiffies ticks "
    "kb mb gb tb kib mib gib tib kbytes mbytes gbytes kilobytes megabytes gigabytes bits sectors "
    "percent pct percentage".split()
)
"""Units that are not base units, as words of a name."""
_UNBOUNDED = frozenset(
    "job jobid job_id tag path file filename directory dir mount mountpoint pid command".split()
)
"""Labels whose values have no bound, or tell of people's files."""
_RESERVED = frozenset({"le", "quantile", "server", "cluster", "instance"})
"""Labels that sinks add."""
_MOST_LABELS = 5
_BASE = ("bytes", "seconds")


def why_not(metric: Metric, taken: Collection[str] = ()) -> str:
    """Say what is wrong with a metric, with the remedy; "": nothing is.

    Args:
        metric: Of a plug-in.
        taken: Names that others have.
    """
    name = metric.name
    if not _NAME.fullmatch(name):
        return f"the metric {name!r} is no name: use lower-case letters, digits and _"
    if name in taken:
        return f"the metric {name} is there already: choose another name"
    if name.endswith(_ENDINGS):
        return f"the metric {name} ends as Prometheus's own names do: leave the ending out"
    if not metric.summary or "\n" in metric.summary:
        return f"the metric {name} has no summary of one line: write one"
    return _unit_problem(metric) or _label_problem(metric)


def _unit_problem(metric: Metric) -> str:
    words = metric.name.split("_")
    scaled = sorted(_SCALED & {*words, metric.unit.lower()})
    if scaled or not metric.unit or metric.unit == "%":
        shown = scaled[0] if scaled else repr(metric.unit)
        return (
            f"the metric {metric.name} has the unit {shown}: give bytes, seconds, shares, counts"
        )
    if metric.unit in _BASE and metric.unit not in words:
        return f"the metric {metric.name} does not say its unit: name it ..._{metric.unit}"
    return ""


def _label_problem(metric: Metric) -> str:
    if len(metric.labels) > _MOST_LABELS or len(set(metric.labels)) < len(metric.labels):
        return f"the metric {metric.name}: give at most {_MOST_LABELS} labels, each once"
    for label in metric.labels:
        if not _NAME.fullmatch(label) or label in _RESERVED:
            return f"the metric {metric.name} cannot have the label {label!r}: choose another name"
        if label in _UNBOUNDED:
            return (
                f"the metric {metric.name} has the label {label!r}, which is not bounded: drop it"
            )
    return ""
