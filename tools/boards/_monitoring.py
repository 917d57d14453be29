# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board about the monitoring itself."""

from __future__ import annotations

from boards._board import Board, Choice, Row
from boards._panels import FLAG_GOOD, Column, Line, lines, rows, states
from boards._queries import Scope, name
from stripewise.centre.monitor import Metric, metrics

_S = Scope(("server",))
_COLLECTOR = ("server", "collector")
_SINK = ("server", "sink")
_JOB = '{job="stripewise"}'
_UP = f"up{_JOB}"
_WHICH = "{{server}} {{collector}}"
_TO = "{{server}} {{sink}}"


def _age(metric: Metric, by: tuple[str, ...]) -> str:
    return f"time() - {_S.level(metric, by, how='max')}"


def _most(expression: str) -> str:
    """Return the largest values: a centre has thousands of agents, a panel space for a few."""
    return f"topk(20, {expression})"


def _troubled(flag: str, by: tuple[str, ...]) -> str:
    """Return only those flags that were 0 at some time in the displayed range."""
    labels = ", ".join(by)
    always = f"min by ({labels}) (min_over_time({flag}[$__range])) == 1"
    return f"min by ({labels}) ({flag}) unless on ({labels}) {always}"


_TOP = (
    states("Agents with trouble", "Which agents did not answer Prometheus in the time that is "
           "shown, and when. Empty is good.", Line(_troubled(_UP, ("instance",)), "{{instance}}"),
           FLAG_GOOD, width=8),
    states("Collectors with trouble", "Which collectors had rounds that failed or were not "
           "complete in the time that is shown, and when. Empty is good.",
           Line(_troubled(_S.series(metrics.COLLECTOR_OK), _COLLECTOR), _WHICH), FLAG_GOOD,
           width=8),
    states("Sinks with trouble", "Which sinks had deliveries that failed in the time that is "
           "shown, and when. Empty is good.",
           Line(_troubled(_S.series(metrics.SINK_OK), _SINK), _TO), FLAG_GOOD, width=8),
    rows("What fails", "Rounds that failed in the time that is shown, by reason: a program or "
         "file is missing, rights are denied, it took too long, it could not be understood. "
         "Empty is good.",
         [Column("failures",
                 f"sum by (server, collector, reason) (increase("
                 f"{_S.series(metrics.COLLECTOR_FAILURES)}[$__range])) > 0", "short")],
         links={}, width=12),
    rows("Agents and versions", "Version of the agent on each server.",
         [Column("agents", f"count by (server, version) ({_S.series(metrics.INFO)})", "none")],
         links={}, width=12),
)  # fmt: skip
_ROUNDS = (
    lines("Length of a round", "How long each collector took. Near its interval, rounds are "
          "skipped.",
          [Line(_most(_S.level(metrics.COLLECTOR_SECONDS, _COLLECTOR, how="max")), _WHICH)], "s"),
    lines("Since the last complete round", "What is older than a few intervals is not current.",
          [Line(_most(_age(metrics.COLLECTOR_LAST, _COLLECTOR)), _WHICH)], "s"),
    lines("Rounds skipped", "Rounds a second that did not begin because the one before had not "
          "ended.", [Line(_most(_S.rate(metrics.COLLECTOR_SKIPPED, _COLLECTOR)), _WHICH)], "cps",
          width=8),
    lines("Left out", "Lines and files a second that could not be read for what they are, and "
          "readings that a sink could not take.",
          [Line(_most(_S.rate(metrics.PROBLEMS, _COLLECTOR)), _WHICH),
           Line(_most(_S.rate(metrics.SINK_PROBLEMS, _SINK)), _TO)], "cps", width=8),
    lines("Steps of clocks", "Steps of a host's clock of over a second: they bend rates.",
          [Line(_most(f"increase({_S.series(metrics.CLOCK_STEPS)}[1h])"),
                "{{server}} in an hour")],
          "none", width=8),
)  # fmt: skip
_DELIVERY = (
    lines("Rounds that wait", "Rounds that a sink has not taken yet.",
          [Line(_most(_S.level(metrics.SINK_QUEUED, _SINK)), _TO)], "none", width=8),
    lines("Rounds lost", "Rounds a second that were dropped: a sink could not be reached for "
          "long, or refused them.",
          [Line(_most(_S.rate(metrics.SINK_LOST, _SINK)), _TO)], "cps", width=8),
    lines("Since the last delivery", "Time since each sink took something.",
          [Line(_most(_age(metrics.SINK_LAST, _SINK)), _TO)], "s", width=8),
    lines("Failed deliveries", "Deliveries a second that failed; they are tried again.",
          [Line(_most(_S.rate(metrics.SINK_FAILURES, _SINK)), _TO)], "cps", width=8),
    lines("Jobs", "Jobs on targets whose counters an agent keeps, and those beyond its limit, "
          "a second: what they do is counted together.",
          [Line(_most(_S.level(metrics.JOBS_TRACKED, ("server",))), "{{server}} kept"),
           Line(_most(_S.rate(metrics.JOBS_UNTRACKED, ("server",))),
                "{{server}} beyond the limit")],
          "short", width=8),
    lines("Scrapes", "How long Prometheus needs to ask each agent, and how many series it "
          "gets.", [Line(_most(f"scrape_duration_seconds{_JOB}"), "{{instance}} seconds"),
                    Line(_most(f"scrape_samples_scraped{_JOB}"), "{{instance}} series")],
          "short", width=8),
)  # fmt: skip

MONITORING = Board(
    "monitoring", "monitoring",
    "Can what the other boards show be believed: does everything report, and is nothing lost?",
    (Choice("server", "Server", name(metrics.INFO)),),
    (
        Row("", _TOP),
        Row("Rounds: the twenty highest", _ROUNDS),
        Row("Delivery: the twenty highest", _DELIVERY),
    ),
)  # fmt: skip
