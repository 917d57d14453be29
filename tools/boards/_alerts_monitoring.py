# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Alerts about gaps of the monitoring itself."""

from __future__ import annotations

from boards._queries import Scope, name
from boards._rules import Alert, shown
from stripewise.centre.monitor import metrics as m

_S = Scope()
_BOARD = shown("monitoring", server="server")
_COLLECTOR = ("server", "collector")

AGENT = Alert(
    "StripewiseAgentDown", "warning", 3,
    "Prometheus could not reach an agent for three minutes",
    'up{job="stripewise"} == 0', "The agent at {{ $labels.instance }} does not answer",
    "What this host does is not seen, and none of its other alerts can fire.",
    "See on the host: systemctl status stripewise-monitor. If the host itself is down, this is "
    "the least of it. A wrong token or certificate shows under Status, Targets in Prometheus.",
    shown("monitoring"),
)  # fmt: skip
COLLECTOR = Alert(
    "StripewiseCollectorFailing", "warning", 10,
    "rounds of a collector have failed, or were not complete, for 10 minutes, or one hangs: the "
    "last complete one is over 15 minutes old, and others are skipped",
    f"{_S.level(m.COLLECTOR_OK, _COLLECTOR, how='min')} == 0\n"
    f"or (time() - {_S.level(m.COLLECTOR_LAST, _COLLECTOR, how='max')} > 900\n"
    f"  and on (server, collector) increase({name(m.COLLECTOR_SKIPPED)}[15m]) > 0)",
    "{{ $labels.collector }} on {{ $labels.server }} cannot read all that it should",
    "What it cannot read is missing from boards and alerts: it is not zero.",
    "Run stripewise doctor monitor on the host: it says what is missing, and the remedy.",
    _BOARD,
)  # fmt: skip
LOSING = Alert(
    "StripewiseSinkLosing", "warning", 0, "a sink has dropped rounds in the last 15 minutes",
    f"sum by (server, sink) (increase({name(m.SINK_LOST)}[15m])) > 0",
    "{{ $labels.server }} has lost about {{ $value | humanize }} rounds for {{ $labels.sink }}",
    "The queue was full, or they were refused: these measurements are missing there.",
    "See why it cannot deliver: stripewise doctor monitor on the host, then the receiver.",
    _BOARD,
)  # fmt: skip
SINK = Alert(
    "StripewiseSinkFailing", "warning", 10, "deliveries to a sink have failed for 10 minutes",
    f"{_S.level(m.SINK_OK, ('server', 'sink'), how='min')} == 0",
    "{{ $labels.server }} cannot deliver to {{ $labels.sink }}",
    "Measurements wait in the agent; when its queue is full they are lost.",
    "Run stripewise doctor monitor on the host, and look at the receiver.",
    _BOARD,
)  # fmt: skip

MONITORING = (AGENT, COLLECTOR, LOSING, SINK)
