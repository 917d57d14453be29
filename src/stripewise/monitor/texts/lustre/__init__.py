# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of `lctl get_param`, Lustre 2.12 to 2.17, parsed.  Pure."""

from stripewise.monitor.texts.lustre._brw_stats import BrwStats, Buckets, parse_brw_stats
from stripewise.monitor.texts.lustre._damage import excerpt
from stripewise.monitor.texts.lustre._job_counts import PackedCounts, added_sizes
from stripewise.monitor.texts.lustre._job_stats import JobsRead, JobStatsReader
from stripewise.monitor.texts.lustre._names import (
    TargetName,
    parse_export,
    parse_mount,
    parse_namespace,
    parse_quota_master,
    parse_target,
)
from stripewise.monitor.texts.lustre._quota import (
    Limits,
    QuotaLimits,
    QuotaUsage,
    Usage,
    parse_quota_limits,
    parse_quota_usage,
)
from stripewise.monitor.texts.lustre._recovery import STATES, Recovery, parse_recovery_status
from stripewise.monitor.texts.lustre._stats import Stats, StatsRow, parse_stats
from stripewise.monitor.texts.lustre._values import (
    parse_count,
    parse_health,
    parse_version,
)

__all__ = [
    "STATES",
    "BrwStats",
    "Buckets",
    "JobStatsReader",
    "JobsRead",
    "Limits",
    "PackedCounts",
    "QuotaLimits",
    "QuotaUsage",
    "Recovery",
    "Stats",
    "StatsRow",
    "TargetName",
    "Usage",
    "added_sizes",
    "excerpt",
    "parse_brw_stats",
    "parse_count",
    "parse_export",
    "parse_health",
    "parse_mount",
    "parse_namespace",
    "parse_quota_limits",
    "parse_quota_master",
    "parse_quota_usage",
    "parse_recovery_status",
    "parse_stats",
    "parse_target",
    "parse_version",
]
