# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Monitoring of storage: what servers and clients count, read at intervals and handed on."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.monitor._build import make_collectors as make_collectors
    from stripewise.monitor._build import make_sinks as make_sinks
    from stripewise.monitor._check import CollectorCheck as CollectorCheck
    from stripewise.monitor._check import MonitorCheck as MonitorCheck
    from stripewise.monitor._check import SinkCheck as SinkCheck
    from stripewise.monitor._check import check_collectors as check_collectors
    from stripewise.monitor._check import check_sinks as check_sinks
    from stripewise.monitor._host import TEXT_BYTES as TEXT_BYTES
    from stripewise.monitor._host import Host as Host
    from stripewise.monitor._host import HostError as HostError
    from stripewise.monitor._local_host import LocalHost as LocalHost
    from stripewise.monitor._once import read_once as read_once
    from stripewise.monitor._privileges import give_up_root as give_up_root
    from stripewise.monitor._records import JobEntry as JobEntry
    from stripewise.monitor._records import OperationCount as OperationCount
    from stripewise.monitor._records import Round as Round
    from stripewise.monitor._records import TargetJobs as TargetJobs
    from stripewise.monitor._service import run_agent as run_agent
    from stripewise.monitor._settings import MonitorSettings as MonitorSettings
    from stripewise.monitor._settings import read_settings as read_settings
else:
    __getattr__, __all__ = lazy_exports(__name__)
