# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what servers and clients count, one file for each kind of counters."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.monitor.collectors._base import Collector as Collector
    from stripewise.centre.monitor.collectors._base import CollectorSettings as CollectorSettings
    from stripewise.centre.monitor.collectors._base import Problem as Problem
    from stripewise.centre.monitor.collectors._beegfs import BeeGfsTarget as BeeGfsTarget
    from stripewise.centre.monitor.collectors._beegfs import read_beegfs_json as read_beegfs_json
    from stripewise.centre.monitor.collectors._beegfs import read_beegfs_table as read_beegfs_table
    from stripewise.centre.monitor.collectors._disks import read_diskstats as read_diskstats
    from stripewise.centre.monitor.collectors._gpfs import read_fs_io_s as read_fs_io_s
    from stripewise.centre.monitor.collectors._host import read_loadavg as read_loadavg
    from stripewise.centre.monitor.collectors._host import read_meminfo as read_meminfo
    from stripewise.centre.monitor.collectors._host import read_net_dev as read_net_dev
    from stripewise.centre.monitor.collectors._host import read_stat as read_stat
    from stripewise.centre.monitor.collectors._lustre_job_rows import PackedCounts as PackedCounts
    from stripewise.centre.monitor.collectors._lustre_job_stats import JobsRead as JobsRead
    from stripewise.centre.monitor.collectors._lustre_job_stats import (
        JobStatsReader as JobStatsReader,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import parse_count as parse_count
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_export as parse_export,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_health as parse_health,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import parse_mount as parse_mount
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_namespace as parse_namespace,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_quota_master as parse_quota_master,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_recovery_status as parse_recovery_status,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_target as parse_target,
    )
    from stripewise.centre.monitor.collectors._lustre_parameters import (
        parse_version as parse_version,
    )
    from stripewise.centre.monitor.collectors._lustre_quota import Limits as Limits
    from stripewise.centre.monitor.collectors._lustre_quota import Usage as Usage
    from stripewise.centre.monitor.collectors._lustre_quota import (
        parse_quota_limits as parse_quota_limits,
    )
    from stripewise.centre.monitor.collectors._lustre_quota import (
        parse_quota_usage as parse_quota_usage,
    )
    from stripewise.centre.monitor.collectors._lustre_stats import Buckets as Buckets
    from stripewise.centre.monitor.collectors._lustre_stats import StatsRow as StatsRow
    from stripewise.centre.monitor.collectors._lustre_stats import (
        parse_brw_stats as parse_brw_stats,
    )
    from stripewise.centre.monitor.collectors._lustre_stats import parse_stats as parse_stats
    from stripewise.centre.monitor.collectors._nfs import read_devices as read_devices
    from stripewise.centre.monitor.collectors._nfs import read_mountstats as read_mountstats
    from stripewise.centre.monitor.collectors._registry import collector_class as collector_class
    from stripewise.centre.monitor.collectors._registry import collector_names as collector_names
    from stripewise.centre.monitor.collectors._registry import (
        collector_problems as collector_problems,
    )
    from stripewise.centre.monitor.collectors._registry import create_collector as create_collector
    from stripewise.centre.monitor.collectors._registry import why_not as why_not
else:
    __getattr__, __all__ = lazy_exports(__name__)
