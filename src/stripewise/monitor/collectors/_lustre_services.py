# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Services of a server, which handle requests: readings of mds.MDS.* and ost.OSS.*."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.collectors._lustre_state import count_of
from stripewise.monitor.collectors._lustre_stats import USECS_PER_SECOND, told
from stripewise.monitor.metrics import Reading, lustre
from stripewise.monitor.texts.lustre import Stats, parse_stats

_ROOTS = ("ost.OSS", "mds.MDS")
_THREADS = ("started", "min", "max")
SERVICE_PATTERNS = tuple(
    f"{root}.*.{name}"
    for root in _ROOTS
    for name in ("stats", *(f"threads_{state}" for state in _THREADS))
)
_QUEUE = {
    "req_waittime": (lustre.SERVICE_WAIT_SECONDS, "usecs", USECS_PER_SECOND),
    "req_qdepth": (lustre.SERVICE_QUEUE_SUM, "reqs", 1.0),
    "req_active": (lustre.SERVICE_ACTIVE_SUM, "reqs", 1.0),
    "req_timeout": (lustre.SERVICE_TIMEOUT_SUM, "secs", 1.0),
}
_BUFFERS = "reqbuf_avail"


def service_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return requests, waiting, threads and times of all services."""
    for name in values:
        root, _, rest = name.partition(".")
        kind, _, rest = rest.partition(".")
        service, _, what = rest.partition(".")
        if f"{root}.{kind}" not in _ROOTS:
            continue
        if what == "stats":
            stats = parse_stats(values[name])
            yield from told(name, stats.problems)
            yield from _requests(service, stats)
        elif what.startswith("threads_"):
            count = count_of(name, values)
            state = what.removeprefix("threads_")
            if isinstance(count, Problem):
                yield count
            elif count is not None:
                yield Reading(lustre.SERVICE_THREADS, (service, state), count)


def _requests(service: str, stats: Stats) -> Iterator[Reading]:
    for name, (metric, unit, units) in _QUEUE.items():
        row = stats.rows.get(name)
        if row is None and not stats.is_whole:
            continue
        if row is not None and (row.unit != unit or row.total is None):
            continue
        total = 0 if row is None or row.total is None else row.total
        yield Reading(metric, (service,), total / units)
        if name == "req_waittime":
            samples = row.samples if row is not None else 0
            yield Reading(lustre.SERVICE_REQUESTS, (service,), samples)
    for name, row in stats.rows.items():
        if name in _QUEUE or name == _BUFFERS or row.unit == "bytes":
            continue
        yield Reading(lustre.SERVICE_OPERATION_COUNT, (service, name), row.samples)
        if row.unit == "usecs" and row.total is not None:
            seconds = row.total / USECS_PER_SECOND
            yield Reading(lustre.SERVICE_OPERATION_SECONDS, (service, name), seconds)
