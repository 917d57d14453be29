# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the agent: each collector reads in its own thread, each sink delivers in its own."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.monitor.agent._agent import make_collectors as make_collectors
    from stripewise.centre.monitor.agent._agent import make_sinks as make_sinks
    from stripewise.centre.monitor.agent._agent import run_agent as run_agent
    from stripewise.centre.monitor.agent._check import CollectorCheck as CollectorCheck
    from stripewise.centre.monitor.agent._check import MonitorCheck as MonitorCheck
    from stripewise.centre.monitor.agent._check import SinkCheck as SinkCheck
    from stripewise.centre.monitor.agent._check import check_collectors as check_collectors
    from stripewise.centre.monitor.agent._check import check_sinks as check_sinks
    from stripewise.centre.monitor.agent._check import read_once as read_once
    from stripewise.centre.monitor.agent._check import render_influx as render_influx
    from stripewise.centre.monitor.agent._check import render_openmetrics as render_openmetrics
    from stripewise.centre.monitor.agent._check import render_prometheus as render_prometheus
    from stripewise.centre.monitor.agent._settings import MonitorSettings as MonitorSettings
    from stripewise.centre.monitor.agent._settings import read_settings as read_settings
else:
    __getattr__, __all__ = lazy_exports(__name__)
