# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads counters of servers and clients, with one file for each kind of counters."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.monitor.collectors._base import Collector as Collector
    from stripewise.centre.monitor.collectors._base import CollectorSettings as CollectorSettings
    from stripewise.centre.monitor.collectors._base import Problem as Problem
    from stripewise.centre.monitor.collectors._registry import collector_names as collector_names
    from stripewise.centre.monitor.collectors._registry import (
        collector_problems as collector_problems,
    )
    from stripewise.centre.monitor.collectors._registry import create_collector as create_collector
    from stripewise.centre.monitor.collectors.lustre._job_stats import JobsRead as JobsRead
    from stripewise.centre.monitor.collectors.lustre._job_stats import (
        JobStatsReader as JobStatsReader,
    )
else:
    __getattr__, __all__ = lazy_exports(__name__)
