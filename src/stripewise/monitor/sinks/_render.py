# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds as one text, for programs that ask for one: textfile collectors, Telegraf."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.monitor._records import Round
from stripewise.monitor.sinks._exposition import Exposition, Form
from stripewise.monitor.sinks._lines import LineWriter


def render_prometheus(rounds: Iterable[Round], server: str) -> str:
    """Return rounds of several collectors in Prometheus' text format 0.0.4."""
    return _exposed(rounds, server, Form.TEXT)


def render_openmetrics(rounds: Iterable[Round], server: str) -> str:
    """Return rounds of several collectors as OpenMetrics 1.0."""
    return _exposed(rounds, server, Form.OPENMETRICS)


def render_influx(rounds: Iterable[Round], server: str) -> str:
    """Return rounds in InfluxDB's line protocol, with times in nanoseconds."""
    writer = LineWriter(server)
    return "".join(line for found in rounds for line in writer.lines(found))


def _exposed(rounds: Iterable[Round], server: str, form: Form) -> str:
    exposition = Exposition(server)
    for found in rounds:
        exposition.take(found)
    return exposition.text(form)
