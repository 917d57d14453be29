# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board about the monitoring itself."""

from __future__ import annotations

from boards._board import Board, Choice, Row
from boards._panels import FLAG_GOOD, Column, Line, lines, rows, states
from boards._queries import Scope, name
from stripewise.monitor.metrics import health

_S = Scope(("server",))
_COLLECTOR = ("server", "collector")
_SINK = ("server", "sink")
_UP = 'up{job="stripewise"}'
_WHICH = "{{server}} {{collector}}"
_TO = "{{server}} {{sink}}"


def _age(selector: str) -> str:
    return f"time() - {selector}"


_TOP = (
    states("Agents", "Which agents answered Prometheus, by address.",
           Line(_UP, "{{instance}}"), FLAG_GOOD, width=8),
    states("Collectors", "Whether the last round of each collector was complete.",
           Line(_S.level(health.COLLECTOR_OK, _COLLECTOR, how="min"), _WHICH), FLAG_GOOD,
           width=8),
    states("Sinks", "Whether the last delivery to each sink succeeded.",
           Line(_S.level(health.SINK_OK, _SINK, how="min"), _TO), FLAG_GOOD, width=8),
    rows("What fails", "Rounds that failed in the time that is shown, by reason: a program or "
         "file is missing, rights are denied, it took too long, it could not be understood. "
         "Empty is good.",
         [Column("failures",
                 f"sum by (server, collector, reason) (increase("
                 f"{_S.series(health.COLLECTOR_FAILURES)}[$__range])) > 0", "short")],
         links={}, width=12),
    rows("Agents and versions", "Version of the agent on each server.",
         [Column("agents", f"count by (server, version) ({_S.series(health.INFO)})", "none")],
         links={}, width=12),
)  # fmt: skip
_ROUNDS = (
    lines("Length of a round", "How long each collector took. Near its interval, rounds are "
          "skipped.", [Line(_S.level(health.COLLECTOR_SECONDS, _COLLECTOR, how="max"), _WHICH)],
          "s"),
    lines("Since the last complete round", "What is older than a few intervals is not current.",
          [Line(_age(f"max by (server, collector) ({_S.series(health.COLLECTOR_LAST)})"),
                _WHICH)], "s"),
    lines("Rounds skipped", "Rounds a second that did not begin because the one before had not "
          "ended.", [Line(_S.rate(health.COLLECTOR_SKIPPED, _COLLECTOR), _WHICH)], "cps",
          width=8),
    lines("Left out", "Lines and files a second that could not be read for what they are.",
          [Line(_S.rate(health.PROBLEMS, _COLLECTOR), _WHICH)], "cps", width=8),
    lines("Steps of clocks", "Steps of a host's clock of over a second: they bend rates.",
          [Line(f"increase({_S.series(health.CLOCK_STEPS)}[1h])", "{{server}} in an hour")],
          "none", width=8),
)  # fmt: skip
_DELIVERY = (
    lines("Rounds that wait", "Rounds that a sink has not taken yet.",
          [Line(_S.level(health.SINK_QUEUED, _SINK), _TO)], "none", width=8),
    lines("Rounds lost", "Rounds a second that were dropped, since a sink could not be reached "
          "for long.", [Line(_S.rate(health.SINK_LOST, _SINK), _TO)], "cps", width=8),
    lines("Since the last delivery", "Time since each sink took something; and failed deliveries "
          "a second.",
          [Line(_age(f"max by (server, sink) ({_S.series(health.SINK_LAST)})"), _TO)], "s",
          width=8),
    lines("Failed deliveries", "Deliveries a second that failed; they are tried again.",
          [Line(_S.rate(health.SINK_FAILURES, _SINK), _TO)], "cps", width=8),
    lines("Jobs", "Jobs on targets whose counters an agent keeps, and those beyond its limit, "
          "a second: what they do is counted together.",
          [Line(_S.level(health.JOBS_TRACKED, ("server",)), "{{server}} kept"),
           Line(_S.rate(health.JOBS_UNTRACKED, ("server",)), "{{server}} beyond the limit")],
          "short", width=8),
    lines("Scrapes", "How long Prometheus needs to ask each agent, and how many series it "
          "gets.", [Line('scrape_duration_seconds{job="stripewise"}', "{{instance}} seconds"),
                    Line('scrape_samples_scraped{job="stripewise"}', "{{instance}} series")],
          "short", width=8),
)  # fmt: skip

MONITORING = Board(
    "monitoring", "monitoring",
    "Can what the other boards show be believed: does everything report, and is nothing lost?",
    (Choice("server", "Server", name(health.INFO)),),
    (Row("", _TOP), Row("Rounds", _ROUNDS), Row("Delivery", _DELIVERY)),
)  # fmt: skip
