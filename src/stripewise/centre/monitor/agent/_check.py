# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads one round without an agent, to print it or to check what a configuration can read."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stripewise import __version__
from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host
from stripewise.centre.monitor._records import Reading, Round
from stripewise.centre.monitor.agent._agent import HEALTH, Chosen
from stripewise.centre.monitor.agent._collecting import Clock, read_round
from stripewise.centre.monitor.collectors._base import Collector
from stripewise.centre.monitor.sinks._base import Sink, SinkError
from stripewise.centre.monitor.sinks._exposition import Exposition, Form
from stripewise.centre.monitor.sinks._lines import LineWriter
from stripewise.core.errors import UsageError


@dataclass(frozen=True)
class CollectorCheck:
    """What one collector finds on this host.

    Attributes:
        name: Name of the collector.
        state: "works", "part" (something was left out), "failed", or "nothing" (there is nothing
            to read here, and the collector is automatic).
        why: What is missing, and the remedy.
        readings: Number of readings.
        seconds: Time that they took.
        found: Names of what was found, by label: file systems ("fs"), targets, devices.
        jobs: Number of jobs on targets; a job counts on each of its targets.
        problems: What was left out, one sentence each.
    """

    name: str
    state: str
    why: str = ""
    readings: int = 0
    seconds: float = 0.0
    found: dict[str, list[str]] = field(default_factory=dict)
    jobs: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class SinkCheck:
    """Whether a sink can be reached.

    Attributes:
        name: Name of the sink.
        state: "works", "failed", or "in use" (its address is taken, perhaps by the running agent).
        why: What is wrong, and the remedy.
    """

    name: str
    state: str
    why: str = ""


@dataclass(frozen=True)
class MonitorCheck:
    """Result of a complete check.

    Attributes:
        server: Name of this host in all reports.
        who: User as whom the agent reads.
        collectors: Results for the configured collectors.
        sinks: Results for the configured sinks.
        plug_ins: Reasons why plug-ins cannot be used.
    """

    server: str
    who: str
    collectors: tuple[CollectorCheck, ...]
    sinks: tuple[SinkCheck, ...]
    plug_ins: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return whether something is read, no collector fails, and all sinks are reached."""
        states = [one.state for one in self.collectors if one.state != "nothing"]
        return (
            bool(states)
            and not self.plug_ins
            and all(state == "works" for state in states)
            and all(one.state != "failed" for one in self.sinks)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {**asdict(self), "good": self.is_good}


SLOW_SECONDS = 20.0
"""Time after which a collector that is being checked is reported as slow (assumed)."""
_NAMED = ("fs", "target", "device", "interface")


def check_collectors(
    chosen: Sequence[Chosen], host: Host, tell: Callable[[str], None] = lambda text: None
) -> tuple[CollectorCheck, ...]:
    """Read one round of each collector, and return what it found.

    Args:
        chosen: The collectors.
        host: Host that they read.
        tell: Function that takes a sentence, in another thread, if a collector takes long and may
            hang.
    """
    return tuple(_watched(one, host, tell) for one in chosen)


def _watched(one: Chosen, host: Host, tell: Callable[[str], None]) -> CollectorCheck:
    text = f"{one.collector.name} has been reading for {SLOW_SECONDS:g} s and has not finished"
    timer = threading.Timer(SLOW_SECONDS, tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        return _check_collector(one, host)
    finally:
        timer.cancel()


def _check_collector(one: Chosen, host: Host) -> CollectorCheck:
    name = one.collector.name
    try:
        why = one.collector.missing(host)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return CollectorCheck(name, "failed", why)
    if why:
        return CollectorCheck(name, "nothing" if one.is_automatic else "failed", why)
    found = read_round(one.collector, host, Clock()).round
    state = "works" if not found.reason else "part" if found.readings else "failed"
    return CollectorCheck(
        name, state, found.problems[0] if found.reason and found.problems else "",
        len(found.readings), found.seconds, _names(found),
        sum(jobs.count for jobs in found.jobs), found.problems,
    )  # fmt: skip


def _names(found: Round) -> dict[str, list[str]]:
    values: dict[str, set[str]] = {}
    for label, value in _labels(found.readings):
        if label in _NAMED:
            values.setdefault(label, set()).add(value)
    return {label: sorted(values[label]) for label in _NAMED if label in values}


def _labels(readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
    """Yield labels with their values; targets by full name, which is unique on the host."""
    for reading in readings:
        named = dict(zip(reading.metric.labels, reading.labels, strict=False))
        if "target" in named and "fs" in named:
            named["target"] = f"{named['fs']}-{named['target']}"
        yield from named.items()


def check_sinks(sinks: Sequence[Sink]) -> tuple[SinkCheck, ...]:
    """Start each sink, deliver the version of the agent, and stop it again."""
    return tuple(_check_sink(one) for one in sinks)


def _check_sink(sink: Sink) -> SinkCheck:
    clock = Clock()
    if why := sink.missing():
        return SinkCheck(sink.name, "failed", why)
    version = Reading(metrics.INFO, (__version__,), 1.0)
    try:
        sink.start()
        try:
            sink.take(Round(HEALTH, clock.wall(), clock.monotonic(), readings=(version,)))
            sink.deliver()
        finally:
            sink.stop()
    except SinkError as error:
        state = "in use" if _is_in_use(error) else "failed"
        return SinkCheck(sink.name, state, str(error))
    except Exception as error:
        return SinkCheck(sink.name, "failed", f"{type(error).__name__}: {error}")
    return SinkCheck(sink.name, "works")


def _is_in_use(error: BaseException) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE


# One round of all collectors, without an agent.


def read_once(
    chosen: Sequence[Chosen], host: Host, names: Sequence[str] = (), clock: Clock | None = None
) -> list[Round]:
    """Read one round of each collector that finds something, or of the named ones.

    Args:
        chosen: Configured collectors.
        host: Host that they read.
        names: Names of collectors; empty for all that have something to read.
        clock: Clock of the host.

    Returns:
        Their rounds, and finally one that reports whether they are complete.

    Raises:
        UsageError: A name does not belong to an enabled collector.
    """
    known = {one.collector.name: one for one in chosen}
    for name in names:
        if name not in known:
            there = ", ".join(known) or "none"
            raise UsageError(f"there is no collector {name!r} in this configuration: {there}")
    if names:
        used = [known[name] for name in dict.fromkeys(names)]
    else:
        used = [one for one in chosen if not (one.is_automatic and _missing(one.collector, host))]
    clock = clock or Clock()
    rounds = [_read(one.collector, host, clock) for one in used]
    return [*rounds, _report(rounds, clock)]


def _read(collector: Collector, host: Host, clock: Clock) -> Round:
    """Read one round; a collector without anything to read fails, as in an agent."""
    if why := _missing(collector, host):
        at, monotonic = clock.wall(), clock.monotonic()
        return Round(collector.name, at, monotonic, problems=(why,), reason="missing")
    return read_round(collector, host, clock).round


def _missing(collector: Collector, host: Host) -> str:
    try:
        return collector.missing(host)
    except Exception:  # of a plug-in; its round then reports what is wrong
        return ""


def _report(rounds: Sequence[Round], clock: Clock) -> Round:
    readings = [Reading(metrics.INFO, (__version__,), 1.0)]
    for found in rounds:
        name = (found.collector,)
        readings.append(Reading(metrics.COLLECTOR_OK, name, float(not found.reason)))
        readings.append(Reading(metrics.COLLECTOR_SECONDS, name, found.seconds))
    return Round(HEALTH, clock.wall(), clock.monotonic(), 0.0, tuple(readings))


# Rounds as one text, for programs that read one: textfile collectors, Telegraf.


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
