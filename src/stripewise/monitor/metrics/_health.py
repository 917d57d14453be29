# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of the monitoring itself."""

from __future__ import annotations

from stripewise.monitor.metrics._base import counter, level

_COLLECTOR = ("collector",)
_SINK = ("sink",)

INFO = level("stripewise_monitor_info", "flag", "1 for the version of the agent.", ("version",))
COLLECTOR_OK = level(
    "stripewise_collector_ok", "flag",
    "1: the last round of a collector was complete; 0: it failed, or read a part.  Where lines of "
    "Lustre alone were left out it is 1: stripewise_collector_problems counts them.", _COLLECTOR,
)  # fmt: skip
COLLECTOR_SECONDS = level(
    "stripewise_collector_duration_seconds", "seconds", "Length of the last round.", _COLLECTOR
)
COLLECTOR_LAST = level(
    "stripewise_collector_last_success_seconds", "seconds",
    "When the last complete round ended, since 1970.", _COLLECTOR)  # fmt: skip
COLLECTOR_FAILURES = counter(
    "stripewise_collector_failures", "rounds",
    'Rounds that failed, by "reason": missing, denied, slow, malformed, error.',
    (*_COLLECTOR, "reason"))  # fmt: skip
COLLECTOR_SKIPPED = counter(
    "stripewise_collector_skipped_rounds", "rounds",
    "Rounds that did not begin because the one before had not ended.", _COLLECTOR)  # fmt: skip
PROBLEMS = counter(
    "stripewise_collector_problems", "lines",
    "Lines or files that could not be read for what they are, and were left out.", _COLLECTOR,
)  # fmt: skip
CLOCK_STEPS = counter(
    "stripewise_monitor_clock_steps", "steps", "Steps of this host's clock of over a second."
)
JOBS_TRACKED = level(
    "stripewise_monitor_jobs", "jobs", "Jobs on targets whose last counters are kept."
)
JOBS_UNTRACKED = counter(
    "stripewise_monitor_jobs_untracked", "jobs",
    'Jobs on targets beyond the limit: what they do is in "rest".')  # fmt: skip
SINK_OK = level("stripewise_sink_ok", "flag", "1: the last delivery to a sink succeeded.", _SINK)
SINK_LAST = level(
    "stripewise_sink_last_success_seconds", "seconds", "When it did, since 1970.", _SINK
)
SINK_QUEUED = level("stripewise_sink_queued_rounds", "rounds", "Rounds that wait.", _SINK)
SINK_LOST = counter(
    "stripewise_sink_lost_rounds", "rounds",
    "Rounds that were dropped: a sink could not be reached for long, or refused them.",
    _SINK)  # fmt: skip
SINK_FAILURES = counter("stripewise_sink_failures", "deliveries", "Failed deliveries.", _SINK)
SINK_PROBLEMS = counter(
    "stripewise_sink_problems", "readings",
    "Readings that a sink left out: given twice, or no number that it can hold.",
    _SINK)  # fmt: skip

OF_MONITOR = (
    *(INFO, COLLECTOR_OK, COLLECTOR_SECONDS, COLLECTOR_LAST, COLLECTOR_FAILURES),
    *(COLLECTOR_SKIPPED, PROBLEMS, CLOCK_STEPS, JOBS_TRACKED, JOBS_UNTRACKED, SINK_OK),
    *(SINK_LAST, SINK_QUEUED, SINK_LOST, SINK_FAILURES, SINK_PROBLEMS),
)
