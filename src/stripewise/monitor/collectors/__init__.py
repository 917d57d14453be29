# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is read: one member for each kind of counters."""

from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._registry import (
    PlugInError,
    collector_class,
    collector_names,
    collector_problems,
    create_collector,
)

__all__ = [
    "Collector",
    "CollectorSettings",
    "PlugInError",
    "Problem",
    "collector_class",
    "collector_names",
    "collector_problems",
    "create_collector",
]
