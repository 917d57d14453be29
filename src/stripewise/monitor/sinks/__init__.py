# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where rounds go: one member for each kind of database."""

from stripewise.monitor.sinks._base import Sink, SinkError, SinkSettings
from stripewise.monitor.sinks._registry import (
    create_sink,
    render_influx,
    render_openmetrics,
    render_prometheus,
    sink_class,
    sink_names,
)

__all__ = [
    "Sink",
    "SinkError",
    "SinkSettings",
    "create_sink",
    "render_influx",
    "render_openmetrics",
    "render_prometheus",
    "sink_class",
    "sink_names",
]
