# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what Lustre's collectors share, and reads the state of a server.

The state consists of health, space, connections, recovery, locks and services.
"""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Metric, Reading
from stripewise.centre.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.centre.monitor.collectors.lustre._parameters import (
    STATES,
    LctlCommand,
    Parameters,
    excerpt,
    parse_count,
    parse_health,
    parse_namespace,
    parse_recovery_status,
    parse_version,
)
from stripewise.centre.monitor.collectors.lustre._stats import (
    USECS_PER_SECOND,
    Stats,
    Target,
    named_problems,
    parse_stats,
)


class LustreSettings(CollectorSettings):
    """Settings that all collectors of Lustre have.

    Attributes:
        lctl: Path or name of the command.
        timeout_seconds: Time limit of one call of it.
    """

    lctl: LctlCommand = "lctl"
    timeout_seconds: float = Field(default=10.0, gt=0.0, le=600.0)


class LustreCollector(Collector):
    """A collector that queries `lctl` for parameters that match its patterns.

    Attributes:
        signs: Patterns of parameters that are listed wherever there is something to read.
        nothing: What `lctl` does not list if there is nothing to read, with the remedy.
    """

    signs: ClassVar[tuple[str, ...]]
    nothing: ClassVar[str]
    settings: LustreSettings

    def __init__(self, settings: LustreSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        self.monotonic = time.monotonic
        self._parameters = Parameters(
            settings.lctl, self.patterns(), settings.timeout_seconds, lambda: self.monotonic()
        )
        self._version = ""

    @abstractmethod
    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of all parameters that it reads."""

    def has_something(self, names: Sequence[str]) -> bool:
        """Return whether parameters that match `signs` are relevant to this collector."""
        return bool(names)

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read on a host, with the remedy; "" if there is."""
        own = self.settings
        parameters = Parameters(own.lctl, self.signs, own.timeout_seconds)
        try:
            parameters.begin(host)
        except HostError as error:
            return str(error)
        return "" if self.has_something(parameters.names) else f"{own.lctl} lists {self.nothing}"

    def read(
        self, host: Host, names: Sequence[str], values: dict[str, str]
    ) -> Iterator[Reading | Problem]:
        """Read parameters into `values`; yield the version, and what could not be read."""
        found, problems = self._parameters.read(host, names)
        yield from problems
        values.update(found)
        values.setdefault("version", self._version)
        yield from version_readings(values)
        yield from version_problem(values, self._version)
        self._version = values["version"]


_KIB = 1024
_SPACE = (
    ("kbytestotal", "kbytesfree", _KIB,
     (metrics.TARGET_TOTAL_BYTES, metrics.TARGET_FREE_BYTES, metrics.TARGET_USED_BYTES)),
    ("filestotal", "filesfree", 1,
     (metrics.TARGET_TOTAL_FILES, metrics.TARGET_FREE_FILES, metrics.TARGET_USED_FILES)),
)  # fmt: skip
_LOCKS: dict[str, Metric] = {
    "lock_count": metrics.LOCKS,
    "lock_timeouts": metrics.LOCK_TIMEOUTS,
    "pool.grant_rate": metrics.LOCK_GRANT_RATE,
    "pool.cancel_rate": metrics.LOCK_CANCEL_RATE,
    "pool.limit": metrics.LOCK_LIMIT,
}
LOCK_PATTERNS = tuple(
    f"ldlm.namespaces.{kind}-*.{name}" for kind in ("filter", "mdt") for name in _LOCKS
)


def count_of(name: str, values: Mapping[str, str]) -> int | Problem | None:
    """Return a count parameter; None if it does not exist, a problem if it is not a count."""
    if name not in values:
        return None
    value = parse_count(values[name])
    return Problem(f"{name}: not a count: {excerpt(values[name])}") if value is None else value


def count_readings(
    name: str, values: Mapping[str, str], metric: Metric, labels: tuple[str, ...], unit: int = 1
) -> Iterator[Reading | Problem]:
    """Yield the reading of a parameter that is a count of units, if it exists."""
    value = count_of(name, values)
    if isinstance(value, Problem):
        yield value
    elif value is not None:
        yield Reading(metric, labels, value * unit)


def space_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield capacity and usage of a target, in bytes and in inodes."""
    if not target.osd:
        return
    for total_name, free_name, unit, reported in _SPACE:
        total = count_of(f"{target.osd}.{total_name}", values)
        free = count_of(f"{target.osd}.{free_name}", values)
        yield from (found for found in (total, free) if isinstance(found, Problem))
        if not isinstance(total, int) or not isinstance(free, int):
            continue
        if free > total:
            yield Problem(f"{target.osd}: {free_name} {free} is more than {total_name} {total}")
            continue
        for metric, value in zip(reported, (total, free, total - free), strict=True):
            yield Reading(metric, target.labels, value * unit)
    available = f"{target.osd}.kbytesavail"
    yield from count_readings(
        available, values, metrics.TARGET_AVAILABLE_BYTES, target.labels, _KIB
    )


def connection_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield connections of a target and the state of its recovery."""
    exports = f"{target.root}.num_exports"
    yield from count_readings(exports, values, metrics.TARGET_EXPORTS, target.labels)
    name = f"{target.root}.recovery_status"
    if name not in values:
        return
    found = parse_recovery_status(values[name])
    yield from named_problems(name, found.problems)
    if found.state:
        for state in dict.fromkeys((*STATES, found.state)):
            is_it = float(state == found.state)
            yield Reading(metrics.RECOVERY_STATE, (*target.labels, state), is_it)
    for state, count in (found.clients or {}).items():
        yield Reading(metrics.RECOVERY_CLIENTS, (*target.labels, state), count)
    if found.remaining_seconds is not None:
        yield Reading(metrics.RECOVERY_REMAINING, target.labels, found.remaining_seconds)
    if found.duration_seconds is not None:
        yield Reading(metrics.RECOVERY_DURATION, target.labels, found.duration_seconds)


def lock_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield the locks of all targets, from their namespaces."""
    for name in values:
        if not name.startswith("ldlm.namespaces."):
            continue
        space, _, kind = name.removeprefix("ldlm.namespaces.").partition(".")
        target = parse_namespace(space)
        metric = _LOCKS.get(kind)
        if target is not None and metric is not None:
            yield from count_readings(name, values, metric, tuple(target))


# Health and version of Lustre on one host.

_KNOWN = ((2, 12), (2, 17))
_NUMBERS = re.compile(r"(\d{1,4})\.(\d{1,4})")


def version_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield the version, unless it was never reported."""
    text = values.get("version", "")
    version = parse_version(text)
    if version:
        yield Reading(metrics.VERSION, (version,), 1.0)
    elif text:
        yield Problem(f"version: not a version: {excerpt(text)}")


def health_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield the health of a server."""
    if "health_check" not in values:
        return
    is_healthy = parse_health(values["health_check"])
    if is_healthy is None:
        yield Problem(f"health_check: not known: {excerpt(values['health_check'])}")
    else:
        yield Reading(metrics.HEALTHY, (), float(is_healthy))


def version_problem(values: Mapping[str, str], before: str) -> Iterator[Problem]:
    """Report an unknown version, once for each that appears."""
    text = values.get("version", before)
    found = _NUMBERS.match(parse_version(text))
    if text == before or not found:
        return
    if not _KNOWN[0] <= (int(found[1]), int(found[2])) <= _KNOWN[1]:
        yield Problem(
            f"Lustre {parse_version(text)}: versions 2.12 to 2.17 are known; what is found is read"
        )


# Services of a server, which handle requests: readings of mds.MDS.* and ost.OSS.*.

_ROOTS = ("ost.OSS", "mds.MDS")
_THREADS = ("started", "min", "max")
SERVICE_PATTERNS = tuple(
    f"{root}.*.{name}"
    for root in _ROOTS
    for name in ("stats", *(f"threads_{state}" for state in _THREADS))
)
_QUEUE = {
    "req_waittime": (metrics.SERVICE_WAIT_SECONDS, "usecs", USECS_PER_SECOND),
    "req_qdepth": (metrics.SERVICE_QUEUE_SUM, "reqs", 1.0),
    "req_active": (metrics.SERVICE_ACTIVE_SUM, "reqs", 1.0),
    "req_timeout": (metrics.SERVICE_TIMEOUT_SUM, "secs", 1.0),
}
_BUFFERS = "reqbuf_avail"


def service_readings(values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield requests, waiting, threads and times of all services."""
    for name in values:
        root, _, rest = name.partition(".")
        kind, _, rest = rest.partition(".")
        service, _, what = rest.partition(".")
        if f"{root}.{kind}" not in _ROOTS:
            continue
        if what == "stats":
            stats = parse_stats(values[name])
            yield from named_problems(name, stats.problems)
            yield from _requests(service, stats)
        elif what.startswith("threads_"):
            state = what.removeprefix("threads_")
            yield from count_readings(name, values, metrics.SERVICE_THREADS, (service, state))


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
            yield Reading(metrics.SERVICE_REQUESTS, (service,), samples)
    for name, row in stats.rows.items():
        if name in _QUEUE or name == _BUFFERS or row.unit == "bytes":
            continue
        yield Reading(metrics.SERVICE_OPERATION_COUNT, (service, name), row.samples)
        if row.unit == "usecs" and row.total is not None:
            seconds = row.total / USECS_PER_SECOND
            yield Reading(metrics.SERVICE_OPERATION_SECONDS, (service, name), seconds)
