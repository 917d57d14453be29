# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every metric that the agent reports: names, units, labels, and where it is kept."""

from stripewise.monitor.metrics import _health as health
from stripewise.monitor.metrics import _lustre as lustre
from stripewise.monitor.metrics import _others as others
from stripewise.monitor.metrics._base import (
    Histogram,
    Kind,
    Metric,
    Reading,
    counter,
    histogram,
    level,
)
from stripewise.monitor.metrics._rules import why_not

METRICS: tuple[Metric, ...] = tuple(
    dict.fromkeys(
        (
            *(*lustre.OF_SERVER, *lustre.OF_CLIENT, *others.OF_HOST, *others.OF_DISKS),
            *(*others.OF_NFS, *others.OF_GPFS, *others.OF_BEEGFS, *health.OF_MONITOR),
        )
    )
)
"""All of them, each once; those of plug-ins come in addition."""

__all__ = [
    "METRICS",
    "Histogram",
    "Kind",
    "Metric",
    "Reading",
    "counter",
    "health",
    "histogram",
    "level",
    "lustre",
    "others",
    "why_not",
]
