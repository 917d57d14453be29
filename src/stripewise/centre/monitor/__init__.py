# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Monitors storage: reads counters of servers and clients at intervals, and delivers them."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.monitor._host import TEXT_BYTES as TEXT_BYTES
    from stripewise.centre.monitor._host import Host as Host
    from stripewise.centre.monitor._host import HostError as HostError
    from stripewise.centre.monitor._host import LocalHost as LocalHost
    from stripewise.centre.monitor._privileges import give_up_root as give_up_root
    from stripewise.centre.monitor._records import Histogram as Histogram
    from stripewise.centre.monitor._records import JobEntry as JobEntry
    from stripewise.centre.monitor._records import Kind as Kind
    from stripewise.centre.monitor._records import Metric as Metric
    from stripewise.centre.monitor._records import OperationCount as OperationCount
    from stripewise.centre.monitor._records import Reading as Reading
    from stripewise.centre.monitor._records import Round as Round
    from stripewise.centre.monitor._records import TargetJobs as TargetJobs
    from stripewise.centre.monitor._records import counter as counter
    from stripewise.centre.monitor._records import histogram as histogram
    from stripewise.centre.monitor._records import level as level
    from stripewise.centre.monitor.metrics import METRICS as METRICS
else:
    __getattr__, __all__ = lazy_exports(__name__)
